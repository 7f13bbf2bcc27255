"""A fifth listed game changes only `games.proto`, `pyproject.toml`, its own files and generated files."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from tests.adding_a_game import listed
from tests.adding_a_game.environment import ROOT, fresh, generators, run

NODE: Final = shutil.which("node")
EDITED: Final = {"proto/rollbook/v1/games.proto", "pyproject.toml"}
LISTS: Final = {
    "clients/rollbook_clients/web/static/verify/schema.js",
    "replays/conformance/cases.jsonl",
    "service/rollbook/v1/PROTO_DIGESTS",
    "service/rollbook/v1/games_pb2.py",
    "service/rollbook/v1/games_pb2.pyi",
    "tests/v1/contract.txt",
}
"""Generated files that contain parts of all games."""

CHECKS: Final = (
    ("tests/tidy/test_games.py", "tests/rules/test_packages.py", "tests/rules/test_catalogue.py", "tests/v1"),
    ("tests/replays/test_conformance.py", "tests/clients/bots/test_strategies.py", "-k", "every_check_and or playbook"),
    ("tests/rules/test_perft.py", "tests/replays", "tests/test_golden.py", "-k", f"{listed.GAME} or every_game"),
    ("tests/match", "tests/server/out/test_projection.py", "tests/cli/test_commands.py", "-k", listed.GAME),
    ("tests/clients/sdk/test_choices.py", "tests/clients/commands/test_rules.py", "-k", listed.GAME),
    ("tests/clients/web/test_verifier.py", "-k", "messages"),
)
"""Tests that list games or run over all of them; slow ones run for the new game alone."""


@pytest.mark.timeout(1800)
def test_a_fifth_listed_game_needs_no_other_change(tmp_path: Path) -> None:
    """It is added to a copy of the repository, which then passes the checks, the verifier of the page included.

    One test, because making the environment takes most of the time.
    """
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    listed.copy_tree(tmp_path)
    before = listed.digests(tmp_path)
    made = generators()
    (tmp_path / ".ci" / ".venv").mkdir()
    (tmp_path / ".ci" / ".venv" / made.name).symlink_to(made)
    listed.add(tmp_path)
    env = fresh(tmp_path / ".venv", tmp_path, "--editable")
    run([".ci/stubs"], tmp_path, env)
    for script in listed.SCRIPTS:
        run(["python", "-m", script], tmp_path, env)
    after = listed.digests(tmp_path)
    assert EDITED | LISTS == {name for name, digest in before.items() if after.get(name) != digest}
    run([".ci/stubs", "--check"], tmp_path, env)
    for words in CHECKS:
        said = run(["python", "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", *words], tmp_path, env)
        assert " passed" in said
    if NODE is not None:
        check_the_verifier(NODE, tmp_path, env)


def check_the_verifier(node: str, tree: Path, env: Mapping[str, str]) -> None:
    """The verifier checks all but the rules, which it lacks: withheld hidden cards, and changed events."""
    kept = tree / "replays" / "conformance"
    lines = (kept / "cases.jsonl").read_text(encoding="ascii").splitlines()
    cases = [json.loads(line) for line in lines if listed.GAME in line]
    corpus = tree / "corpus"
    shutil.copytree(kept, corpus)
    (corpus / "cases.jsonl").write_text("".join(f"{json.dumps(case)}\n" for case in cases), encoding="ascii")
    script, modules = "tests/clients/web/conformance.mjs", "clients/rollbook_clients/web/static/verify"
    said = [json.loads(line)["said"] for line in run([node, script, str(corpus), modules], tree, env).splitlines()]
    expected = [case["without_rules"]["verdict"] for case in cases]
    assert {"unverified", "diverged"} <= set(expected)
    assert expected == [found["verdict"] for found in said]
    assert any("hidden" in found["missing"] for found in said)
    assert not any("game" in found["missing"] for found in said)
