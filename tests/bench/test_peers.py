"""The load of many small matches runs to its end, is heard by everybody, and says what it cost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.bench import results
from tests.bench.peers import boardgame_io
from tests.scripts import run_script

ROUND = re.compile(r"round 1 of 1, (.+?): [\d,]+ moves/s; of each move server [\d,]+ µs", re.MULTILINE)


def test_the_service_is_measured_alone() -> None:
    """Whoever makes a move cheaper runs this part again and again."""
    found = run_script("tests.bench", "peers", "--tiny", "--only", "rollbook")
    assert ["Rollbook, fsync, 8 connections"] == ROUND.findall(found)


def test_the_service_and_the_prototype_are_measured_by_the_same_load() -> None:
    """As fast as they go, and where a rate is offered; ratios stand below."""
    found = run_script("tests.bench", "peers", "--tiny")
    ours = "Rollbook, fsync, 8 connections"
    assert [ours, "bare prototype, fsync, 8 connections", f"{ours} at 20 moves/s"] == ROUND.findall(found)
    assert "server CPU a move, 8 connections, over bare prototype, fsync" in found


def test_boardgame_io_is_measured_where_it_is_installed() -> None:
    """By its own server and client library, with as many who are told."""
    if why := boardgame_io.why_not():
        pytest.skip(why)
    found = run_script("tests.bench", "peers", "--tiny", "--only", "boardgame")
    assert [f"{boardgame_io.NAME}, own connections"] == ROUND.findall(found)


def test_a_profile_of_the_service_says_where_the_time_goes() -> None:
    """Function by function, of the process that serves."""
    assert re.search(r"by itself, of \d+ samples", run_script("tests.bench", "peers", "--tiny", "--profile"))


def test_a_section_of_the_results_is_replaced_and_the_others_stay(tmp_path: Path) -> None:
    """Each bench writes its own, in an order that does not depend on when it ran."""
    file = tmp_path / "RESULTS.md"
    results.write("service", ["old"], file)
    results.write("peers", ["peers' lines"], file)
    results.write("service", ["new"], file)
    headings = re.findall("^#+ .*$", text := file.read_text("utf-8"), re.MULTILINE)
    assert ["# What the benches found", "## peers", "## service"] == headings
    assert ["peers' lines", "new"] == [line for line in text.splitlines() if line in {"old", "new", "peers' lines"}]
