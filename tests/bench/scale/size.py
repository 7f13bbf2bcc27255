"""Sizes of the bench of scale."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from tests.bench.peers import size as peers


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The numbers of a run."""

    rounds: int = 3
    """How often each load is repeated."""
    open_matches: tuple[int, ...] = (10, 1_000, 10_000)
    calls: int = 31
    """Calls of each kind, of which the median is taken."""
    events: tuple[int, ...] = (10, 1_000, 9_000)
    """Numbers of events after which a choice is timed."""
    quiet: int = 900
    """Matches that are watched while others are played."""
    busy: peers.Size = field(default_factory=lambda: peers.Size(matches=20, connections="8"))
    busy_rate: float = 500.0
    """Moves a second in the played matches, so that fixed costs are spread over equally many."""
    resting: int = 10_000
    """Matches with a clock and without events."""
    rest_seconds: float = 10.0
    weighed: int = 1_000
    """The number of watchers, and of Play streams; used memory is divided by it."""
    watches: int = 10_000
    """Watches on one connection."""
    finished: tuple[int, int] = (10_000, 20_000)
    """Two numbers of finished matches whose memory is compared."""
    workers: tuple[int, ...] = (1, 2, 4)
    shared: peers.Size = field(default_factory=peers.Size)
    """The load that a service with several workers is given."""


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
"""The smallest run that executes all code."""
