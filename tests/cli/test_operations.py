"""Runs every command of the page for operators as written, unless the page gives a reason not to."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import redis
import yaml

from rollbook.server.health.metrics import STORE_ERRORS
from rollbook.storage.embedded.server import find_server
from rollbook.storage.redis.log import RedisLog
from rollbook_clients.sdk import connect
from tests.ports import free_port
from tests.server.serving import READY_SECONDS, Service, started, until
from tests.storage import failovers
from tests.storage.failovers import Clustered, Watched, clustered, watched
from tests.storage.servers import ALL_SLOTS, Server, running, sentinel_running
from tests.storage.terminating import certificate

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "service" / "OPERATIONS.md"
TEXT = PAGE.read_text(encoding="utf-8")
WRITTEN = "CHANGE-ME"
"""The placeholder for a password in the page."""

WATCHER = "watcher"
CLIENT = Path(sys.executable).with_name("redis-cli")
FORGOTTEN = "Xanthippe-7f3"


@dataclass(frozen=True)
class Block:
    """A fenced block of the page, with the instruction for tests in the comment above it."""

    kind: str
    about: str
    text: str

    @property
    def commands(self) -> list[str]:
        """The lines of the block that are not empty."""
        return [line for line in self.text.splitlines() if line]


BLOCKS = [
    Block(kind, about.strip(), text)
    for kind, about, text in re.findall(
        r"^<!-- ([a-z ]+)(?:: (.*?))? -->\n```\w+\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL
    )
]
SERVED = [block for block in BLOCKS if block.kind == "serve"]


def test_every_block_says_what_a_test_does_with_it() -> None:
    """Every block has an instruction, so that a new command is either run or has a reason in the page."""
    assert TEXT.count("\n```") == 2 * len(BLOCKS)
    for block in BLOCKS:
        assert block.kind in {"run", "serve", "file", "administrator", "not run"}
        assert block.about or block.kind == "run"


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.kind == "file"], ids=lambda block: block.about)
def test_what_the_page_shows_of_a_file_is_the_file(block: Block) -> None:
    """The text in the page equals the file, for readers who copy it and for those who mount the file."""
    assert (ROOT / "service" / block.about).read_text(encoding="utf-8") == block.text


@dataclass
class Here:
    """A folder that stands in for a machine, and a map from the page's paths and addresses to local ones."""

    folder: Path
    names: dict[str, str]

    def of(self, command: str) -> str:
        """A command of the page with local paths and addresses."""
        for name, here in self.names.items():
            command = command.replace(name, here)
        return command


@pytest.fixture
def here(tmp_path: Path) -> Here:
    """An empty machine: only the folders that every system has."""
    for folder in ("var/lib", "srv", "run"):
        (tmp_path / folder).mkdir(parents=True)
    return Here(
        tmp_path,
        {
            "/var/lib/": f"{tmp_path}/var/lib/",
            "/srv/": f"{tmp_path}/srv/",
            "/run/": f"{tmp_path}/run/",
            "127.0.0.1:50051": f"127.0.0.1:{free_port()}",
            "127.0.0.1:9464": f"127.0.0.1:{free_port()}",
        },
    )


@contextmanager
def serving(here: Here, command: str) -> Iterator[Service]:
    """Start the service with this command and wait until it serves."""
    words = here.of(command).split()
    assert "rollbook" == words[0]
    with started([sys.executable, "-m", *words]) as service:
        until(lambda: any(line["event"].startswith("listening") for line in service.lines), service)
        yield service


@contextmanager
def users(folder: Path) -> Iterator[Server]:
    """A Valkey with the configuration and the users of the deployment."""
    settings = dict(line.split(maxsplit=1) for line in _settings("valkey.conf")) | {"save": ""}
    with running(find_server(), folder / "valkey", settings) as server:
        let_in_users([server])
        yield server


@contextmanager
def users_of_cluster(folder: Path) -> Iterator[Clustered]:
    """A cluster of such servers with the same users."""
    with clustered(folder / "cluster") as store:
        let_in_users(store.servers)
        yield store


def let_in_users(servers: Sequence[Server]) -> None:
    """Create the deployment's users on the servers, and one user for inspection; the default user is off."""
    lines = (ROOT / "service" / "deploy" / "users.acl").read_text(encoding="utf-8").splitlines()
    for server in servers:
        with server.client() as client:
            # Open connections keep their rights: the replicas have no user here.
            client.execute_command("ACL", "SETUSER", WATCHER, "on", f">{WATCHER}", "~*", "&*", "+@all")
            for line in lines:
                client.execute_command("ACL", "SETUSER", *line.split()[1:])


def _settings(name: str) -> list[str]:
    lines = (ROOT / "service" / "deploy" / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@contextmanager
def stores(kind: str, here: Here) -> Iterator[Server | None]:
    """Start the kind of store that a command needs, and map the page's address to it."""
    with ExitStack() as stack:
        server: Server | None = None
        if kind == "users":
            server = stack.enter_context(users(here.folder))
            here.names["valkey.internal:6379"] = f"127.0.0.1:{server.port}"
        elif kind == "sentinel":
            server = stack.enter_context(running(find_server(), here.folder / "valkey"))
            sentinel = stack.enter_context(sentinel_running(find_server(), here.folder, server))
            here.names["sentinel.internal:26379"] = f"127.0.0.1:{sentinel.port}"
        elif kind == "cluster":
            server = stack.enter_context(running(find_server(), here.folder / "valkey", slots=ALL_SLOTS))
            here.names["cluster.internal:7000"] = f"127.0.0.1:{server.port}"
        else:
            assert "own" == kind
        yield server


@pytest.mark.parametrize("block", SERVED, ids=[block.text.split("--", 2)[-1].strip() for block in SERVED])
def test_a_service_starts_and_ends_as_the_page_says(block: Block, here: Here) -> None:
    """Each way to start it, over its kind of store: the service is healthy and ends with code 0."""
    for command in block.commands:
        with stores(block.about, here) as store, serving(here, command) as service:
            assert 1 == service.status()
            done = rollbook(here, "bot", "--help")
            assert "rollbook bot" in done
            service.process.terminate()
            assert 0 == service.ended()
            if block.about == "users":
                assert store is not None
                assert [] == denied(store)


def rollbook(here: Here, *words: str) -> str:
    """Run a command, which must succeed, and return its output."""
    done = subprocess.run(
        [sys.executable, "-m", "rollbook", *words], cwd=here.folder, capture_output=True, text=True, check=False
    )
    assert 0 == done.returncode, done.stderr
    return done.stdout


def denied(store: Server) -> list[Any]:
    """The commands that the store denied, from its ACL log."""
    client: Any = redis.Redis(port=store.port, username=WATCHER, password=WATCHER, protocol=2)
    with client:
        return [(entry["reason"], entry["object"]) for entry in client.acl_log()]


@pytest.fixture(params=["server", "cluster"])
def users_of(request: pytest.FixtureRequest, here: Here) -> Iterator[tuple[str, list[Server]]]:
    """A store with the users of the deployment: its URL and its servers."""
    with ExitStack() as stack:
        if request.param == "server":
            servers = [stack.enter_context(users(here.folder))]
            scheme = "redis"
        else:
            servers = stack.enter_context(users_of_cluster(here.folder)).servers
            scheme = "redis+cluster"
        yield f"{scheme}://rollbook:{WRITTEN}@127.0.0.1:{servers[0].port}", servers


@pytest.mark.timeout(300)  # a cluster, a service and six commands, each a separate process
async def meet(address: str) -> None:
    """Two guests play now; before that one leaves a table."""
    async with connect(address, name="Anna") as anna, connect(address, name="Ben") as ben:
        await (await anna.sit_now("cant_stop", people_only=True)).leave()
        one, other = await asyncio.gather(anna.play_now("cant_stop"), ben.play_now("cant_stop"))
        assert one.id == other.id


def test_the_users_rights_suffice_for_whole_matches_and_operators(
    here: Here, users_of: tuple[str, list[Server]]
) -> None:
    """Matches are played, archived and listed, people meet by PlayNow, and an address is banned.

    No command is denied, and the log has no error.
    """
    url, servers = users_of
    words = ["serve", "--data", str(here.folder / "data"), "--listen", "127.0.0.1:0", "--redis", url]
    with started(
        [sys.executable, "-m", "rollbook", *words, "--archive-after", "0", "--demo", "--demo-seconds", "0.01"]
    ) as service:
        until(lambda: any(line["event"] == "archived" for line in service.lines), service)
        operator = rollbook(
            here, "token", "--key", f"{here.folder}/data/token.key", "--subject", "olga", "--role", "operator"
        )
        asked = ["--service", service.address, "--token", operator.strip()]
        for command in (
            ["state"],
            ["matches"],
            ["lost"],
            ["ban", "--address", "192.0.2.7", "--for", "1h"],
            ["bans"],
        ):
            rollbook(here, "admin", *command, *asked)
        asyncio.run(meet(service.address))
        service.process.terminate()
        assert 0 == service.ended(4 * READY_SECONDS)
        assert [] == [one for server in servers for one in denied(server)]
        assert [] == [line for line in service.lines if line["level"] == "error"]


@pytest.mark.timeout(300)  # a failover, and matches before and after it
def test_the_users_rights_suffice_for_a_failover(here: Here) -> None:
    """A Sentinel promotes a replica, each with its own user; matches continue and no command is denied."""
    with watched(here.folder / "store") as store:
        let_in_users(store.servers)
        introduce_replicas_and_sentinels(store)
        url = store.url.replace("//", f"//rollbook:{WRITTEN}@")
        words = ["serve", "--data", str(here.folder / "data"), "--listen", "127.0.0.1:0", "--redis", url]
        with started(
            [sys.executable, "-m", "rollbook", *words, "--archive-after", "0", "--demo", "--demo-seconds", "0.01"]
        ) as service:
            until(lambda: any(line["event"] == "archived" for line in service.lines), service)
            old = store.master
            old.kill()
            new = failovers.until(lambda: (found := store.master) is not old and found)
            before = len(service.lines)
            until(lambda: any(line["event"] == "archived" for line in service.lines[before:]), service)
            assert [] == denied(new)
            service.process.terminate()
            assert 0 == service.ended(4 * READY_SECONDS)


@pytest.fixture
def administered(here: Here) -> tuple[Path, dict[str, str]]:
    """The ACL file with an administrator created as in the page, and the settings for the servers."""
    folder = here.folder / "etc" / "valkey"
    folder.mkdir(parents=True)
    here.names |= {"/etc/valkey/": f"{folder}/", "valkey-cli ": f"{CLIENT} "}
    file = folder / "users.acl"
    shutil.copy2(ROOT / "service" / "deploy" / "users.acl", file)
    run_as_administrator(here, "password")
    assert 0o600 == (folder / "admin.password").stat().st_mode & 0o777
    assert f"user admin on >{WRITTEN}" not in file.read_text(encoding="utf-8")
    return file, {"aclfile": str(file)}


def run_as_administrator(here: Here, about: str) -> str:
    """Run the administrator's block with this title and return its output."""
    (block,) = [block for block in BLOCKS if (block.kind, block.about) == ("administrator", about)]
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    words = ["bash", "-euo", "pipefail", "-c", here.of(block.text)]
    done = subprocess.run(words, env=environment, cwd=here.folder, capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.timeout(300)  # a service, a bot and a command, each a separate process
def test_the_administrator_changes_settings_and_forgets(here: Here, administered: tuple[Path, dict[str, str]]) -> None:
    """The service's user may not rewrite the store's files; an administrator runs the rewrite for `forget`."""
    file, settings = administered
    with running(find_server(), here.folder / "valkey", settings | {"appendfsync": "everysec"}) as server:
        here.names |= {
            "valkey.internal:6379": f"127.0.0.1:{server.port}",
            "-h valkey.internal -p 6379": f"-h 127.0.0.1 -p {server.port}",
            "--player Anna": f"--player {FORGOTTEN}",
        }
        assert "OK\nBackground append only file rewriting started\n" == run_as_administrator(here, "server")
        (command,) = next(block for block in SERVED if block.about == "users").commands
        with serving(here, f"{command} --listen 127.0.0.1:0") as service:
            bot = [sys.executable, "-m", "rollbook", "bot", "--game", "cant_stop", "--name", FORGOTTEN]
            with subprocess.Popen([*bot, "--service", service.address], stdout=subprocess.DEVNULL) as playing:
                until(lambda: FORGOTTEN in files(server), service)
                playing.kill()
            assert "refused" not in run_as_administrator(here, "forget")
            assert FORGOTTEN not in files(server)
    assert file.read_text(encoding="utf-8").startswith("user default off\n")


def files(server: Server) -> str:
    """The contents of all append-only files of a store."""
    return "".join(path.read_text("latin-1") for path in server.directory.rglob("*.aof") if path.is_file())


@pytest.mark.timeout(300)
def test_the_administrator_creates_a_cluster(here: Here, administered: tuple[Path, dict[str, str]]) -> None:
    """The servers have only the users of the page, and the service's user can write on each of them."""
    settings = administered[1] | {"cluster-enabled": "yes"}
    with ExitStack() as stack:
        servers = [
            stack.enter_context(running(find_server(), here.folder / f"valkey-{number}", settings))
            for number in range(3)
        ]
        here.names |= {f"192.0.2.{n}:7000": f"127.0.0.1:{server.port}" for n, server in enumerate(servers, 1)}
        assert "All 16384 slots covered" in run_as_administrator(here, "cluster")
        password = administered[0].with_name("admin.password")
        failovers.until(lambda: all(is_whole(server, password) for server in servers))
        asyncio.run(connected(f"redis+cluster://rollbook:{WRITTEN}@127.0.0.1:{servers[0].port}"))


def is_whole(server: Server, password: Path) -> bool:
    """Whether a server of a cluster sees all slots covered; only the administrator may ask for the state."""
    words = [str(CLIENT), "-p", str(server.port), "--user", "admin", "cluster", "info"]
    environment = {**os.environ, "REDISCLI_AUTH": password.read_text(encoding="utf-8").strip()}
    return "cluster_state:ok" in subprocess.check_output(words, env=environment, text=True)


async def connected(url: str) -> None:
    """Connect as a service does, which writes to every master."""
    log = await RedisLog.connect(url)
    await log.prove()
    await log.close()


def introduce_replicas_and_sentinels(store: Watched) -> None:
    """Give the replicas and Sentinels their own users, and close the connections of the default user."""
    for sentinel in store.sentinels:
        with sentinel.client() as client:
            client.execute_command("SENTINEL", "SET", "main", "auth-user", "sentinel", "auth-pass", WRITTEN)
    with ExitStack() as stack:
        clients: list[Any] = [
            stack.enter_context(
                redis.Redis(port=server.port, username=WATCHER, password=WATCHER, protocol=2, decode_responses=True)
            )
            for server in store.servers
        ]
        for client in clients:
            client.execute_command("CONFIG", "SET", "masteruser", "replica", "masterauth", WRITTEN)
        for client in clients:
            client.execute_command("CLIENT", "KILL", "USER", "default")
            client.execute_command("ACL", "LOG", "RESET")
        failovers.until(lambda: all("user=sentinel" in client.execute_command("CLIENT", "LIST") for client in clients))
        failovers.until(lambda: "user=replica" in clients[0].execute_command("CLIENT", "LIST"))
        failovers.until(lambda: clients[0].info("replication")["slave0"]["state"] == "online")


@pytest.mark.timeout(400)  # about twenty commands, each a separate process
def test_the_commands_of_the_page_run_in_their_order(here: Here) -> None:
    """All commands of the page, in order, beside a service on one machine."""
    first = SERVED[0].commands[0]
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    with ExitStack() as stack:
        service = stack.enter_context(serving(here, first))
        for block in BLOCKS:
            if block.kind != "run":
                continue
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", here.of(block.text)],
                env=environment,
                cwd=here.folder,
                capture_output=True,
                text=True,
                check=False,
            )
            assert 0 == done.returncode, f"{block.text}\n{done.stderr}"
            if "kill -TERM" in block.text:
                assert 0 == service.ended()
                service = stack.enter_context(serving(here, first))
        service.process.send_signal(signal.SIGTERM)
        assert 0 == service.ended()
        assert (here.folder / "var/lib/restored/head.key").exists()


def test_every_alarm_is_in_the_page_and_is_about_numbers_that_there_are(here: Here) -> None:
    """An alarm on a misspelt metric would never fire."""
    rules = yaml.safe_load((ROOT / "service" / "deploy" / "alarms.yaml").read_text(encoding="utf-8"))
    alarms = [rule for group in rules["groups"] for rule in group["rules"]]
    rows = re.findall(r"^\| (Rollbook\w+(?:, Rollbook\w+)*) \|", TEXT, re.MULTILINE)
    assert [rule["alert"] for rule in alarms] == [name for row in rows for name in row.split(", ")]
    secured = certificate(here.folder, "own")
    tls = f"--tls-cert {secured.certificate} --tls-key {secured.key}"
    with serving(here, f"{SERVED[0].commands[0]} --workers 2 {tls}") as service:
        address = service.line("metrics")["address"]
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
            text = answer.read().decode()
        with urllib.request.urlopen(f"http://{address}/healthz", timeout=10) as answer:
            assert b"serving\n" == answer.read()
    there = set(re.findall(r"^([a-z_]+)[{ ]", text, re.MULTILINE)) | {"up"}
    for rule in alarms:
        assert {"alert", "expr", "labels", "annotations"} <= rule.keys()
        asked = set(re.findall(r"\b(?:rollbook|process)_[a-z_]+\b|\bup\b", rule["expr"]))
        assert asked
        assert asked <= there, rule["alert"]
    told = re.findall(r"by `kind`: ([a-z_, ]+) \|", TEXT)
    assert set(told[0].split(", ")) <= set(STORE_ERRORS.values())
