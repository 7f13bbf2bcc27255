"""How much of everything the cost beside very many matches is measured with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from tests.bench.peers import size as peers


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How many of each there are."""

    rounds: int = 3
    """Of whatever is played by a load."""
    open_matches: tuple[int, ...] = (10, 1_000, 10_000)
    calls: int = 31
    """Of each kind, whose median is taken."""
    events: tuple[int, ...] = (10, 1_000, 9_000)
    """After how many a choice is timed."""
    quiet: int = 900
    """Matches that are watched while others are played."""
    busy: peers.Size = field(default_factory=lambda: peers.Size(matches=20, connections="8"))
    busy_rate: float = 500.0
    """Moves a second that are offered in those, so that what is spent in every second is spread over as many."""
    resting: int = 10_000
    """Matches with a clock in which nothing happens."""
    rest_seconds: float = 10.0
    weighed: int = 1_000
    """Watchers, and streams of Play, by which memory is divided."""
    watches: int = 10_000
    """On one connection."""
    finished: tuple[int, int] = (10_000, 20_000)
    """Matches that are over, by which memory is compared."""
    workers: tuple[int, ...] = (1, 2, 4)
    shared: peers.Size = field(default_factory=peers.Size)
    """Of a round on workers."""


FULL: Final = Size()
TINY: Final = Size(
    rounds=1,
    open_matches=(2, 4),
    calls=2,
    events=(10, 20),
    quiet=3,
    busy=peers.TINY,
    busy_rate=20.0,
    resting=5,
    rest_seconds=0.5,
    weighed=3,
    watches=5,
    finished=(2, 4),
    workers=(1, 2),
    shared=peers.TINY,
)
"""Next to nothing, to see that all of it runs."""
