"""The page's verifier, written from FORMAT.md alone: it says of the corpus what a reader without rules has to say."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from tests.replays.conformance import FOLDER, LIST

ROOT: Final = Path(__file__).parents[3]
MODULES: Final = ROOT / "clients" / "rollbook_clients" / "web" / "static" / "verify"
SCRIPT: Final = Path(__file__).parent / "conformance.mjs"
NODE: Final = shutil.which("node")
CASES: Final = [json.loads(line) for line in (FOLDER / LIST).read_text(encoding="ascii").splitlines()]

needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")


def said_in_node() -> list[dict[str, Any]]:
    """What the verifier says of every case but bundles, by node."""
    assert NODE is not None
    words = [NODE, str(SCRIPT), str(FOLDER), str(MODULES)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=100)
    return [json.loads(line) for line in done.stdout.splitlines()]


def differences(case: dict[str, Any], said: dict[str, Any]) -> dict[str, Any]:
    """What of the column for readers without rules is not what was said."""
    if case["kind"] in {"keys", "heads"}:
        return {key: said.get(key) for key in ("line", "exit") if said.get(key) != case[key]}
    column = case["without_rules"]
    wrong = {key: said.get(key) for key in ("verdict", "check", "event", "exit") if said.get(key) != column[key]}
    if said.get("flawed_heads") != case.get("flawed_heads", []):
        wrong["flawed_heads"] = said.get("flawed_heads")
    if column["verdict"] == "unverified":
        # Where rules would tell more they are named; where they are not all, something else is named as well.
        rules_alone_lack = column.get("missing") == "rules"
        if "rules" not in said["missing"] if rules_alone_lack else said["missing"] == ["rules"]:
            wrong["missing"] = said["missing"]
    return wrong


@needs_node
def test_it_says_of_every_file_what_stands_in_the_column_without_rules() -> None:
    """Verdict, check, event, exit code, heads that prove nothing, and the line at which keys and heads are refused."""
    cases = [case for case in CASES if case["kind"] != "bundle"]
    said = said_in_node()
    assert [case["file"] for case in cases] == [one["file"] for one in said]
    wrong = {f"{n} {case['file']}": differences(case, said[n]["said"]) for n, case in enumerate(cases)}
    assert {} == {case: difference for case, difference in wrong.items() if difference}


def test_it_needs_nothing_but_what_a_browser_has() -> None:
    """No module of it imports anything but the others, by a relative name: no package, no other host."""
    for module in sorted(MODULES.glob("*.js")):
        imported = re.findall(r'from "([^"]+)"', module.read_text(encoding="utf-8"))
        assert all((MODULES / name).is_file() and name.startswith("./") for name in imported), (module.name, imported)
