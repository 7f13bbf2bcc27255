"""The repository's top level has only the intended files."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from rollbook.rules.refusals import Reason

ROOT = Path(__file__).parents[2]
ALLOWED = {"pyproject.toml", "proto", "service", "clients", "replays", "tests", "README.md", "LICENSE"}


def tracked() -> list[str]:
    """Return the files that git tracks; skips the test outside a checkout."""
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip("not a checkout")
    return done.stdout.splitlines()


def test_the_top_level_holds_only_what_it_should() -> None:
    """A newcomer finds everything from eight names."""
    assert {name for file in tracked() if not (name := file.partition("/")[0]).startswith(".")} <= ALLOWED


def test_no_lock_file_that_names_hosts_is_committed() -> None:
    """CI's versions are pinned in .ci/constraints.txt instead."""
    locks = {"uv.lock", "poetry.lock", "pdm.lock", "package-lock.json"}
    assert [] == [file for file in tracked() if Path(file).name in locks]


def test_every_pinned_package_stands_once() -> None:
    """A reader of the list believes the first of two versions of one package."""
    lines = (ROOT / ".ci" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    names = [line.partition("==")[0].lower() for line in lines]
    assert sorted(set(names)) == sorted(names)


def test_every_reason_of_refusal_is_tested_somewhere() -> None:
    """Each reason of refusal has a test that triggers it."""
    tests = "\n".join(file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
    assert [] == [reason.name for reason in Reason if not re.search(rf"Reason\.{reason.name}\b", tests)]
