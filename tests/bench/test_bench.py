"""Every bench runs to its end and prints a row for each measure; its speed is not tested."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from rollbook.rules.catalogue import current
from tests.scripts import run_script

MEASURED = {
    "rules": ["baseline", *[f"fold of {name}" for name in current()], "random games", "check of plain forms"],
    "replays": ["baseline", *[f"audit of {name}" for name in current() for _ in ("new files", "the same")]],
    "service": [
        *("bare unary calls", "Choose", "bare bidirectional streams", "Play"),
        *("bare writes", "frames to", "events to", "in bursts"),
        *("bare write to", "append to frame"),
        *("bare pipeline", "group commit", "one append at a time", "group commit"),
        *("Redis memory an event, all keys", "Redis memory an event, used_memory"),
    ],
}


@pytest.mark.parametrize("bench", MEASURED)
def test_a_bench_runs_to_its_end(bench: str) -> None:
    """With the smallest size: a row for each measure, in order, also in the JSON below the table."""
    *lines, facts = run_script("tests.bench", bench, "--tiny").splitlines()
    wanted, rows = MEASURED[bench], json.loads(facts)
    assert len(wanted) == len(rows)
    for name, line, row in zip(wanted, lines[-len(rows) :], rows, strict=True):
        assert name in row["name"]
        assert line.startswith(row["name"])
        assert 1 == len(row["rounds"])
        assert row["median"] > 0


def test_watching_in_browsers_is_measured() -> None:
    """With a few browsers: processor time for each, and the delay of messages."""
    said = run_script("tests.bench", "web", "--tiny")
    assert "| 20 watchers of one match: memory a watcher |" in said
    assert "| 20 watchers of 2 matches: memory a watcher |" in said
    assert 2 == said.count("| rate as a part of that of the bare stream |")
    assert "| the same, 99 of 100 |" in said


@pytest.mark.parametrize("bench", MEASURED)
def test_a_profile_says_where_the_time_goes(bench: str) -> None:
    """Functions of the service or of its rules are among them."""
    assert "/rollbook/" in run_script("tests.bench", bench, "--profile", "--tiny")


def test_one_choose_says_what_it_counted_and_where() -> None:
    """A reader who exceeds the limit sees the calls by module."""
    counted, *modules = run_script("tests.bench", "one_choose").splitlines()
    assert counted.startswith("Passed(")
    assert any(line.endswith(" match/fold.py") for line in modules)


def test_two_commits_are_compared() -> None:
    """A commit is compared with itself: a line for each row but the baseline, and no checkout remains."""
    root = Path(__file__).resolve().parents[2]
    known = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=False)
    if known.returncode:
        pytest.skip("not a checkout of a repository")
    printed = run_script("tests.bench", "compare", "HEAD", "--tiny", "--rounds", "1", "--bench", "rules")
    for name in MEASURED["rules"][1:]:
        assert name in printed
    assert "baseline" not in printed
    trees = subprocess.run(["git", "worktree", "list"], cwd=root, capture_output=True, text=True, check=True).stdout
    assert not re.search("/(ours|other) ", trees)
