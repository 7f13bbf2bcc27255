"""The load of many small matches runs to its end, reaches all watchers, and reports its cost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.bench import results
from tests.bench.peers import boardgame_io
from tests.scripts import run_script

ROUND = re.compile(r"round 1 of 1, (.+?): [\d,]+ moves/s; of each move server [\d,]+ µs", re.MULTILINE)


def test_the_service_is_measured_alone() -> None:
    """Developers run this part alone while they optimise a move."""
    found = run_script("tests.bench", "peers", "--tiny", "--only", "rollbook")
    assert ["Rollbook, fsync, 8 connections"] == ROUND.findall(found)


def test_the_service_and_the_prototype_are_measured_by_the_same_load() -> None:
    """At full speed and at a given rate, with the ratios below."""
    found = run_script("tests.bench", "peers", "--tiny")
    ours = "Rollbook, fsync, 8 connections"
    assert [ours, "bare prototype, fsync, 8 connections", f"{ours} at 20 moves/s"] == ROUND.findall(found)
    assert "server CPU a move, 8 connections, over bare prototype, fsync" in found


def test_boardgame_io_is_measured_where_it_is_installed() -> None:
    """With its own server and client library, and as many watchers."""
    if why := boardgame_io.why_not():
        pytest.skip(why)
    found = run_script("tests.bench", "peers", "--tiny", "--only", "boardgame")
    assert [f"{boardgame_io.NAME}, own connections"] == ROUND.findall(found)


def test_a_profile_of_the_service_says_where_the_time_goes() -> None:
    """The profile lists the functions of the serving process."""
    assert re.search(r"by itself, of \d+ samples", run_script("tests.bench", "peers", "--tiny", "--profile"))


def test_a_section_of_the_results_is_replaced_and_the_others_stay(tmp_path: Path) -> None:
    """The order of the sections does not depend on the order of the runs."""
    file = tmp_path / "RESULTS.md"
    results.write("service", ["old"], file)
    results.write("peers", ["peers' lines"], file)
    results.write("service", ["new"], file)
    headings = re.findall("^#+ .*$", text := file.read_text("utf-8"), re.MULTILINE)
    assert ["# What the benches found", "## peers", "## service"] == headings
    assert ["peers' lines", "new"] == [line for line in text.splitlines() if line in {"old", "new", "peers' lines"}]
