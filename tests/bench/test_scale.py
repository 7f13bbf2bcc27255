"""Every part of the bench of scale runs to its end and prints its results."""

from __future__ import annotations

import pytest

from tests.bench.scale import workers
from tests.bench.scale.suite import PARTS
from tests.scripts import run_script

FOUND = {
    "calls": (
        "| PlayNow |",
        "| OpenMatch |",
        "| TakeSeat |",
        "| Ready |",
        "| GetMatch |",
        "| Choose |",
        "| ListMatches |",
    ),
    "events": ("| Choose |",),
    "quiet": ("| server |", "| store |"),
    "rest": ("| server at rest", "| store at rest", "| memory each", "| from start to the first answer |"),
    "memory": ("| a watcher, by 3 |", "| a stream of Play, by 3 |", "| 2 finished matches after 2, in all |"),
    "watches": ("| 5 watches | 5 begun",),
    "workers": ("| 1, a connection a match |", "| 2, a connection a participant |"),
}


@pytest.mark.parametrize("part", PARTS)
def test_a_part_runs_to_its_end(part: str) -> None:
    """With the smallest size: a row for each measure."""
    if part == "workers" and not workers.is_there():
        pytest.skip(f"`rollbook serve` has no {workers.FLAG}")
    found = run_script("tests.bench", "scale", "--tiny", "--only", part)
    for row in FOUND[part]:
        assert f"\n{row}" in found
