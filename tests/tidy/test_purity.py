"""Limits on imports, on which readers, auditors and packagers rely."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SERVICE = Path(__file__).parents[2] / "service"
RULES = sorted((SERVICE / "rollbook" / "rules").rglob("*.py"))
BANNED = {"random", "secrets", "time", "datetime", "os", "grpc", "redis", "asyncio", "socket", "threading"}


def loaded_by(statement: str) -> set[str]:
    """Return the top-level modules that a fresh interpreter loads for the statement."""
    script = f"import sys\nbefore = set(sys.modules)\n{statement}\nprint(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.split()}


def test_importing_the_rules_loads_nothing_but_the_standard_library() -> None:
    """Rules that cannot reach a network, a clock or a database cannot depend on them."""
    loaded = loaded_by("import rollbook.rules.catalogue")
    assert "rollbook" in loaded
    assert set() == (loaded - set(sys.stdlib_module_names) - {"rollbook"})
    assert set() == loaded & {"random", "secrets", "datetime", "asyncio", "socket"}


def test_checking_a_match_loads_neither_grpc_nor_redis() -> None:
    """A judge needs no service."""
    assert set() == loaded_by("import rollbook.match.check, rollbook.match.simulation") & {"grpc", "redis", "google"}


SDK_MAY_LOAD = {
    "rollbook.ed25519",  # strict keys and signatures
    "rollbook.files",  # files written completely or not at all
    "rollbook.match",
    "rollbook.match.chain",  # links, heads and their signatures, byte for byte
    "rollbook.match.codec",
    "rollbook.match.codec.words",  # words of options as numbers of enums
    "rollbook.match.codec.wrappers",  # messages that hold data of any game
    "rollbook.replay_file",
    "rollbook.replay_file.kept_heads",  # the file format of heads
    "rollbook.replay_file.key_lines",  # the file format of keys
    "rollbook.replay_file.lines",
}
"""Modules that the SDK shares with the service; none of them knows a rule, a store or a server."""


def test_the_sdk_loads_the_contract_and_the_chain_and_nothing_else_of_ours() -> None:
    """A client that only plays or watches loads no rules, no Redis and no service."""
    script = (
        "import sys, rollbook_clients.sdk.sync\n"
        "print(*sorted(name for name in sys.modules if name.startswith(('rollbook.', 'redis', 'rollbook_replays'))))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "rollbook.v1" in loaded
    assert set() == {name for name in loaded if not name.startswith("rollbook.v1")} - SDK_MAY_LOAD


def test_auditing_what_strangers_send_loads_neither_grpc_nor_redis() -> None:
    """Code of a hostile file would find nothing of the service to use."""
    assert set() == loaded_by("import rollbook_replays.commands.audit_worker") & {"grpc", "redis"}


def test_the_supervisor_of_workers_loads_no_grpc() -> None:
    """The supervisor must not start gRPC, not even for a check, because its workers could not start it again."""
    assert set() == loaded_by("import rollbook.server.process.supervisor, rollbook.cli.commands.serve") & {"grpc"}


def test_the_command_line_loads_no_command_before_it_is_called() -> None:
    """`rollbook games` does not load the dependencies of other commands."""
    statement = "from rollbook.cli.app import run; run(['games'])"
    script = f"import sys\n{statement}\nprint('rollbook_replays.commands.simulate' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "False" == done.stdout.splitlines()[-1]


@pytest.mark.parametrize("module", RULES, ids=lambda path: path.stem)
def test_a_rules_module_imports_only_rules_and_harmless_standard_modules(module: Path) -> None:
    """The linter checks this too; the test also looks inside functions and conditions."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        for name in names:
            assert name.partition(".")[0] not in BANNED
            assert not name.startswith("rollbook.") or name.startswith("rollbook.rules")


@pytest.mark.parametrize("module", RULES, ids=lambda path: path.stem)
def test_no_rules_module_iterates_over_a_set_display(module: Path) -> None:
    """The order of a set differs from run to run, so results that depend on it are not deterministic."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        iterated = node.iter if isinstance(node, ast.For | ast.comprehension) else None
        assert not isinstance(iterated, ast.Set | ast.SetComp)
