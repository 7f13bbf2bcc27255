"""The SDK needs only the dependencies of the distribution, and no extra: other imports are blocked."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

MODULES = {
    "grpcio-health-checking": "grpc_health",
    "grpcio-reflection": "grpc_reflection",
    "prometheus-client": "prometheus_client",
    "python-multipart": "python_multipart",
    "redis[hiredis]": "redis",
}
"""Import names of packages that differ from the package's name."""

SCRIPT = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked}:
            raise ImportError(f"{{name}} comes with an extra")

sys.meta_path.insert(0, Blocked())
import rollbook_clients.sdk
import rollbook_clients.sdk.choices
import rollbook_clients.sdk.sync
rollbook_clients.sdk.connect("localhost:50051")
"""


def names(requirements: list[str]) -> set[str]:
    """Return the names of the required packages."""
    return {re.split(r"[<>=]", each)[0] for each in requirements}


def test_the_sdk_is_imported_without_any_extra() -> None:
    """Authors of bots need not install a service, a terminal and a page."""
    extras = PROJECT["optional-dependencies"]
    wanted = set().union(*(names(extras[extra]) for extra in ("cli", "service", "terminal", "web")))
    blocked = {MODULES.get(name, name) for name in wanted if not name.startswith("rollbook")}
    assert {"redis", "textual", "starlette", "cyclopts", "grpc_health"} <= blocked
    subprocess.run([sys.executable, "-c", SCRIPT.format(blocked=blocked)], check=True)


def test_the_sdk_needs_little() -> None:
    """The distribution needs four packages, and the extra `all` contains all others."""
    assert {"cryptography", "googleapis-common-protos", "grpcio", "protobuf"} == names(PROJECT["dependencies"])
    assert ["rollbook[cli,service,terminal,web]"] == PROJECT["optional-dependencies"]["all"]


def test_the_command_line_says_which_extra_it_needs() -> None:
    """The command prints a sentence instead of a traceback."""
    script = "import sys; sys.modules['cyclopts'] = None; from rollbook.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert 1 == done.returncode
    assert "rollbook[all]" in done.stderr
    assert "Traceback" not in done.stderr
