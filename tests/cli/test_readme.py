"""Runs the commands of the README as written, only with fewer matches."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

FEWER = {"--matches 100": "--matches 2", "--matches 200": "--matches 2", "think=0.2": "think=0.01"}

ELSEWHERE = {
    "play": "clients/terminal/test_pseudo_terminal.py",
    "watch": "clients/terminal/test_pseudo_terminal.py",
    "tail": "clients/commands/test_tail.py",
    "replay": "clients/terminal/test_pseudo_terminal.py",
    "bot": "clients/commands/test_bot.py",
    "key": "clients/commands/test_export.py",
    "export": "clients/commands/test_export.py",
    "matches": "clients/commands/test_matches.py",
}
"""Commands that need a service or a terminal, with the test that runs each."""


def commands() -> Iterator[list[str]]:
    """The arguments of every `rollbook` line in the README's shell blocks."""
    for block in re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL):
        for line in block.splitlines():
            if line.startswith("rollbook "):
                yield shlex.split(line, comments=True)[1:]


HERE = [words for words in commands() if words[0] not in ELSEWHERE]


def rollbook(folder: Path, *words: str) -> str:
    """Run the command, which must succeed, and return its output."""
    done = subprocess.run(
        [sys.executable, "-m", "rollbook", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert 0 == done.returncode, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the names that the README uses: a service's keys, and a match as a file and as text."""
    folder = tmp_path_factory.mktemp("judged")
    rollbook(folder, "simulate", "cant_stop", "--seed", "1", "--format", "rollbook", "--out", "files")
    (folder / "files" / "KEY.pub").rename(folder / "KEY.pub")
    (made,) = (folder / "files").glob("*.rollbook")
    made.rename(folder / "files" / "MATCH.rollbook")
    rollbook(folder, "simulate", "cant_stop", "--seed", "1", "--out", "text")
    (text,) = (folder / "text").glob("*.jsonl")
    text.rename(folder / "match.jsonl")
    return folder


@pytest.mark.parametrize("words", HERE, ids=" ".join)
def test_a_command_of_the_readme_runs(words: list[str], judged: Path, tmp_path: Path) -> None:
    """Newcomers try these first; each prints text or creates a file."""
    folder = shutil.copytree(judged, tmp_path / "here")
    smaller = " ".join(words)
    for many, few in FEWER.items():
        smaller = smaller.replace(many, few)
    there = set(folder.rglob("*"))
    assert rollbook(folder, *smaller.split()) or set(folder.rglob("*")) > there


def test_every_other_command_of_the_readme_is_tried_where_a_service_is() -> None:
    """A new command in the README must be run here or be listed with the test that runs it."""
    assert set(ELSEWHERE) <= {words[0] for words in commands()}
    for command, file in ELSEWHERE.items():
        assert f'"{command}"' in (ROOT / "tests" / file).read_text(encoding="utf-8")
