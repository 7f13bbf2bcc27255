"""Faults of real processes break no promise. `python -m tests.faults NAME` runs longer."""

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
"""Tested in `test_failovers.py`."""

SECONDS: Final = 1.0
LONGER_SECONDS: Final = 5.0


def run(name: str, directory: Path, seconds: float) -> None:
    """Run a fault with a printed seed; print the history if a promise was broken."""
    seed = random.randrange(2**32)
    print(f"python -m tests.faults {name} --seed {seed}")
    outcome = asyncio.run(FAULTS[name](Run(seed, seconds, directory)))
    print("\n".join(outcome.history[-200:]) if outcome.broken else outcome.figures)
    assert [] == list(outcome.broken)


@pytest.mark.timeout(300)  # matches take long to end on a busy machine
@pytest.mark.parametrize("name", QUICK)
def test_no_promise_is_broken_by_what_is_done_to_a_service(name: str, tmp_path: Path) -> None:
    """Acknowledged and delivered events stay, in order; no match is lost or stuck."""
    run(name, tmp_path, SECONDS)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", [name for name in FAULTS if name not in (*QUICK, *ELSEWHERE)])
def test_no_promise_is_broken_by_doing_one_thing_again_and_again(name: str, tmp_path: Path) -> None:
    """Each fault is repeated alone for a while, and no promise is broken."""
    run(name, tmp_path, LONGER_SECONDS)
