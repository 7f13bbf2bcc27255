"""The files in `service/deploy`, read as their programs read them; the commands run in an empty environment.

No image is built, since a Docker daemon may be missing: the steps of the Dockerfile run one by one instead.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
import yaml

from rollbook.server.configuration.flags import FLAGS
from rollbook.storage.redis.durability import NEEDED_FOR_FSYNC
from tests.ports import free_port
from tests.server.serving import started, until

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "service" / "deploy"
EXACT = re.compile(r"[\w./-]+:v?\d+\.\d+\.\d+(-[\w.-]+)?(@sha256:[0-9a-f]{64})?")
CERTIFICATES = "/etc/ssl/rollbook"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")


def steps() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile in order, each with its arguments on one line."""
    joined = DOCKERFILE.replace("\\\n", " ")
    return [
        (word, " ".join(rest.split()))
        for word, _, rest in (line.partition(" ") for line in joined.splitlines())
        if word and not word.startswith("#")
    ]


def loaded(name: str) -> Any:
    """Parse a YAML file of the deployment."""
    return yaml.safe_load((DEPLOY / name).read_text(encoding="utf-8"))


def test_the_dockerfile_keeps_to_what_its_linter_knows() -> None:
    """Hadolint reports no mistakes."""
    linter = Path(sys.executable).with_name("hadolint")
    if not linter.exists():
        pytest.skip("there is no hadolint for this machine")
    done = subprocess.run([linter, DEPLOY / "Dockerfile"], capture_output=True, text=True, check=False)
    assert (0, "") == (done.returncode, done.stdout)


def test_the_image_runs_as_nobody_in_particular_and_holds_no_secret() -> None:
    """An attacker who breaks out of the service is not root; keys are created in the volume at the first start."""
    words = [word for word, _ in steps()]
    assert words.index("USER") < words.index("CMD")
    (user,) = [about for word, about in steps() if word == "USER"]
    assert int(user) >= 10_000
    copied = [about for word, about in steps() if word == "COPY"]
    there = [source for about in copied if "--from" not in about for source in about.split()[:-1]]
    files = ["pyproject.toml", "README.md", "LICENSE", ".ci/constraints.txt"]
    assert [*files, "./proto", "./service", "./replays", "./clients"] == [
        source if source in files else f"./{source}" for source in there
    ]
    assert all((ROOT / source).exists() for source in there)


def test_every_image_has_an_exact_version_and_the_python_of_the_gate() -> None:
    """A tag such as 3.11 or latest would change under an operator; the image has the Python that tests run with."""
    bases = [about.partition(" ")[0] for word, about in steps() if word == "FROM"]
    assert 1 == len(set(bases))
    named = [service["image"] for service in loaded("compose.yaml")["services"].values() if "build" not in service]
    for image in (*bases, *named):
        assert EXACT.fullmatch(image), f"{image} is no exact version"
    minor = bases[0].partition(":")[2].rpartition(".")[0]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f">={minor}" == project["requires-python"]
    if os.environ.get("CI") == "true":
        assert minor == f"{sys.version_info.major}.{sys.version_info.minor}"


def test_every_package_of_the_image_has_the_version_of_the_tests() -> None:
    """The constraints hold for the packages that build ours as well, which --constraint does not reach."""
    (install,) = [about for word, about in steps() if word == "RUN" and "pip" in about]
    assert re.search(r'PIP_CONSTRAINT="\$PWD/constraints.txt" \S+/pip install ', install)
    pinned = (ROOT / ".ci" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in pinned)
    assert any(line.startswith("hatchling==") for line in pinned)


def test_compose_names_files_that_there_are_and_settings_that_there_are() -> None:
    """Each volume is declared or is a file of the folder, and `serve` knows each variable."""
    compose = loaded("compose.yaml")
    assert {"name", "services", "networks", "volumes", "x-contained"} == compose.keys()
    known = {"image", "build", "command", "environment", "ports", "volumes", "depends_on", "networks", "network_mode"}
    known |= {"cap_add", "mem_limit", "tmpfs", "healthcheck", *compose["x-contained"]}
    for service in compose["services"].values():
        assert service.keys() <= known
        for volume in service["volumes"]:
            source = volume.split(":")[0]
            if source.startswith("./"):
                assert (DEPLOY / source).exists()
            else:
                assert source in compose["volumes"] or source == CERTIFICATES
        # Ports are published only on loopback: other machines reach gRPC and the page through nginx with TLS.
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))
        assert set(service.get("depends_on", {})) <= compose["services"].keys()
        assert set(service.get("networks", ())) <= compose["networks"].keys()
    rollbook = compose["services"]["rollbook"]
    assert rollbook["environment"].keys() <= {setting.variable for setting in FLAGS}
    assert (DEPLOY / rollbook["build"]["context"] / rollbook["build"]["dockerfile"]).resolve() == DEPLOY / "Dockerfile"
    (port,) = re.findall(r'"--metrics", "0\.0\.0\.0:(\d+)"', DOCKERFILE)
    (target,) = loaded("prometheus.yaml")["scrape_configs"][0]["static_configs"][0]["targets"]
    assert f"rollbook:{port}" == target


def test_containers_have_few_rights_and_bounded_memory_and_logs() -> None:
    """No container can change its programs, gain rights, or use up the machine's memory or disk."""
    for name, service in loaded("compose.yaml")["services"].items():
        assert service["read_only"], name
        assert ["ALL"] == service["cap_drop"], name
        assert set(service.get("cap_add", ())) <= {"CHOWN", "DAC_OVERRIDE", "NET_BIND_SERVICE", "SETGID", "SETUID"}
        assert ["no-new-privileges:true"] == service["security_opt"], name
        assert {"max-size", "max-file"} == service["logging"]["options"].keys(), name
        assert size(service["mem_limit"]) > 0, name
        assert "privileged" not in service
    (most,) = re.findall(r"^maxmemory (\w+)$", (DEPLOY / "valkey.conf").read_text(encoding="utf-8"), re.MULTILINE)
    assert size(most) <= 0.75 * size(loaded("compose.yaml")["services"]["valkey"]["mem_limit"])


def size(text: str) -> int:
    """Bytes of a size such as 512m or 3gb."""
    number, unit = re.fullmatch(r"(\d+)([mg])b?", text).groups()  # type: ignore[union-attr]
    return int(number) << {"m": 20, "g": 30}[unit]


def test_nginx_reaches_the_containers_and_they_believe_only_nginx_who_calls() -> None:
    """The addresses in nginx's configuration are published, and the trusted address is the gateway of the network."""
    compose = loaded("compose.yaml")
    services = compose["services"]
    nginx = (DEPLOY / "nginx" / "rollbook.conf").read_text(encoding="utf-8")
    published = {port.rpartition(":")[0] for port in services["rollbook"]["ports"]}
    assert set(re.findall(r"server (127\.0\.0\.1:\d+);", nginx)) == published
    assert set(re.findall(r"/etc/ssl/\w+(?=/)", nginx)) == {CERTIFICATES}
    environment = services["rollbook"]["environment"]
    assert f"server_name {environment['ROLLBOOK_WEB_HOST']};" in nginx
    (network,) = compose["networks"]["front"]["ipam"]["config"]
    assert ip_address(network["gateway"]) in ip_network(network["subnet"])
    assert network["gateway"] == environment["ROLLBOOK_TRUST_PROXY"]
    # The store has no password here.
    assert {"valkey", "rollbook"} == {name for name, each in services.items() if "store" in each.get("networks", ())}
    assert compose["networks"]["store"]["internal"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address")
def test_the_page_believes_the_proxies_of_the_service(tmp_path: Path) -> None:
    """Cookies are for https only if the named proxy reports https; another caller's report is ignored."""
    port = free_port()
    flags = ["--data", str(tmp_path), "--listen", "127.0.0.1:0", "--web", f"127.0.0.1:{port}"]
    serve = [sys.executable, "-m", "rollbook", "serve", *flags, "--trust-proxy", "127.0.0.2"]
    with started(serve) as service:
        assert service.address

        def cookie(caller: str) -> str:
            line = http.client.HTTPConnection("127.0.0.1", port, timeout=20, source_address=(caller, 0))
            with contextlib.closing(line):
                line.request("GET", "/", headers={"x-forwarded-proto": "https", "x-forwarded-for": "192.0.2.1"})
                answer = line.getresponse()
                return str(answer.getheader("set-cookie")) if answer.status == http.HTTPStatus.OK else ""

        until(lambda: cookie("127.0.0.2"), service)
        assert "Secure" in cookie("127.0.0.2")
        assert "Secure" not in cookie("127.0.0.3")


def test_the_valkey_of_the_deployment_keeps_what_it_acknowledges() -> None:
    """The service refuses a store without these settings."""
    lines = (DEPLOY / "valkey.conf").read_text(encoding="utf-8").splitlines()
    said = dict(line.split(maxsplit=1) for line in lines if line and not line.startswith("#"))
    assert {name: said[name] for name in NEEDED_FOR_FSYNC} == NEEDED_FOR_FSYNC


@pytest.mark.timeout(600)  # downloads and installs everything
def test_what_the_image_runs_runs_in_a_bare_environment(tmp_path: Path) -> None:
    """RUN installs the copied files into an empty environment; CMD then serves, and HEALTHCHECK succeeds."""
    source, there = tmp_path / "source", tmp_path / "opt"
    source.mkdir()
    for word, about in steps():
        if word == "COPY" and "--from" not in about:
            *names, _ = about.split()
            for name in names:
                here = ROOT / name
                if here.is_dir():
                    shutil.copytree(here, source / name, ignore=shutil.ignore_patterns("__pycache__"))
                else:
                    shutil.copy2(here, source)
    install = next(about for word, about in steps() if word == "RUN")
    command = install.replace("/opt/rollbook", str(there)).replace("python -m venv", f"{sys.executable} -m venv")
    # The constraints of the test run would hide missing ones of the image.
    own = {name: value for name, value in os.environ.items() if name != "PIP_CONSTRAINT"}
    subprocess.run(["bash", "-euc", command], cwd=source, env=own, check=True)
    installed = {
        line
        for line in subprocess.check_output([there / "bin" / "pip", "freeze"], text=True).splitlines()
        if not line.startswith("rollbook @")
    }
    assert installed <= set((ROOT / ".ci" / "constraints.txt").read_text(encoding="utf-8").splitlines())
    subprocess.run([there / "bin" / "python", "-c", "import obstore, starlette, structlog"], check=True)
    bare = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
    environment = bare | {"PATH": f"{there}/bin:/usr/bin:/bin", "ROLLBOOK_DATA": str(tmp_path / "data")}
    port, metrics = free_port(), free_port()

    def put(text: str) -> list[str]:
        text = text.replace("0.0.0.0:50051", f"127.0.0.1:{port}").replace("0.0.0.0:9464", f"127.0.0.1:{metrics}")
        words: list[str] = json.loads(text.replace("127.0.0.1:9464", f"127.0.0.1:{metrics}"))
        return [f"{there}/bin/{words[0]}", *words[1:]]

    (serve,) = [about for word, about in steps() if word == "CMD"]
    (check,) = [about.partition("CMD ")[2] for word, about in steps() if word == "HEALTHCHECK"]
    with started(put(serve), environment) as service:
        assert service.address
        until(lambda: 0 == subprocess.run(put(check), env=environment, check=False).returncode, service)
        service.process.terminate()
        assert 0 == service.ended()
    assert 0 != subprocess.run(put(check), env=environment, check=False, stderr=subprocess.DEVNULL).returncode
