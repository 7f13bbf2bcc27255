"""Sizes of the bench of peers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The numbers of a round."""

    matches: int = 50
    warm_up_seconds: float = 1.5
    seconds: float = 6.0
    offered: float = 1_000.0
    """Moves a second while latency is measured."""
    connections: str = "participant"
    """Who shares a connection: `participant` none, `match` all of a match; a number is that of connections for all."""

    @property
    def timing(self) -> dict[str, Any]:
        """The part of the load's orders about time."""
        return {
            "warm_up_seconds": self.warm_up_seconds,
            "seconds": self.seconds,
            "connections": self.connections,
            "rate": 0.0,
        }


FULL: Final = Size()
TINY: Final = Size(matches=2, warm_up_seconds=0.1, seconds=0.4, offered=20.0)
"""The smallest run that executes all code."""
