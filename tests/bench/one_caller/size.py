"""How much of everything the effect of one caller is measured with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from tests.bench.peers import size as peers


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How many of each there are."""

    rounds: int = 5
    players: peers.Size = field(default_factory=lambda: peers.Size(matches=10, warm_up_seconds=0.5, seconds=2.0))
    listed: int = 300
    """Open matches in lists and in the lobby."""
    events: int = 2_000
    """Of the long running match."""
    calls: int = 300
    """Of each kind, whose cost is measured."""


FULL: Final = Size()
TINY: Final = Size(rounds=1, players=peers.TINY, listed=3, events=20, calls=2)
"""Next to nothing, to see that all of it runs."""
