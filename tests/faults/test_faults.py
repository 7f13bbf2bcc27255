"""What is done to real processes while people play breaks no promise. `python -m tests.faults NAME` does more of it."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Final

import pytest

from tests.faults.catalogue import FAULTS
from tests.faults.outcome import Run

QUICK: Final = ("mixed", "copies", "slow-reader", "storm", "writers", "slots", "append-only", "replicas")
ELSEWHERE: Final = ("failovers",)
"""In `test_failovers.py`, two of them."""

SECONDS: Final = 1.0
LONGER_SECONDS: Final = 5.0


def run(name: str, directory: Path, seconds: float) -> None:
    """Run one of them with a seed that is said; whatever was broken is shown."""
    seed = random.randrange(2**32)
    print(f"python -m tests.faults {name} --seed {seed}")
    outcome = asyncio.run(FAULTS[name](Run(seed, seconds, directory)))
    print("\n".join(outcome.history[-200:]) if outcome.broken else outcome.figures)
    assert [] == list(outcome.broken)


@pytest.mark.timeout(300)  # as long as matches take to end on a busy machine
@pytest.mark.parametrize("name", QUICK)
def test_no_promise_is_broken_by_what_is_done_to_a_service(name: str, tmp_path: Path) -> None:
    """Real processes and files: what was acknowledged or told stays, in order, and no match is lost or stands still."""
    run(name, tmp_path, SECONDS)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", [name for name in FAULTS if name not in (*QUICK, *ELSEWHERE)])
def test_no_promise_is_broken_by_doing_one_thing_again_and_again(name: str, tmp_path: Path) -> None:
    """The same of each by itself."""
    run(name, tmp_path, LONGER_SECONDS)
