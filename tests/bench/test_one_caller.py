"""The bench of one caller within the limits runs to its end and prints its results."""

from __future__ import annotations

import pytest

from tests.bench.one_caller.suite import ATTACKS
from tests.scripts import run_script

FOUND = {
    "costs": (
        "| GetMatch |",
        "| ListMatches, page of 200 |",
        "| WatchLobby |",
        "| GetReplay, 20 events |",
        "| LeaveSeat |",
    ),
    "honest": tuple(f"| {attack} |" for attack in ATTACKS),
}


@pytest.mark.parametrize("part", FOUND)
def test_a_part_runs_to_its_end(part: str) -> None:
    """With the smallest size: a row for each measure."""
    found = run_script("tests.bench", "one_caller", "--tiny", "--only", part)
    for row in FOUND[part]:
        assert f"\n{row}" in found
