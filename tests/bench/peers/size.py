"""How much of everything the peers are measured with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """What a round is made of."""

    matches: int = 50
    warm_up_seconds: float = 1.5
    seconds: float = 6.0
    offered: float = 1_000.0
    """Moves a second that are offered where latency is measured."""
    connections: str = "participant"
    """Whose a connection is: every participant's own, one for each match, or one of so many for all."""

    @property
    def timing(self) -> dict[str, Any]:
        """What a load is told; as many moves as there can be."""
        return {
            "warm_up_seconds": self.warm_up_seconds,
            "seconds": self.seconds,
            "connections": self.connections,
            "rate": 0.0,
        }


FULL: Final = Size()
TINY: Final = Size(matches=2, warm_up_seconds=0.1, seconds=0.4, offered=20.0)
"""Next to nothing, to see that all of it runs."""
