"""Sizes of the bench of one caller."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from tests.bench.peers import size as peers


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The numbers of a run."""

    rounds: int = 5
    players: peers.Size = field(default_factory=lambda: peers.Size(matches=10, warm_up_seconds=0.5, seconds=2.0))
    listed: int = 300
    """Open matches in lists and in the lobby."""
    events: int = 2_000
    """Events of the long running match."""
    calls: int = 300
    """Measured calls of each kind."""


FULL: Final = Size()
TINY: Final = Size(rounds=1, players=peers.TINY, listed=3, events=20, calls=2)
"""The smallest run that executes all code."""
