"""Timeouts of a client, and pauses between its attempts."""

import asyncio
import time
from dataclasses import dataclass
from random import Random


@dataclass(frozen=True, slots=True)
class Patience:
    """Timeouts and pauses of a client, in seconds. The defaults suit people and bots on any network."""

    arrival: float = 3.0
    """For the first reply of the service, when a table is entered."""
    answer: float = 10.0
    """For one reply; after that the call is repeated on a new connection."""
    call: float = 60.0
    """For a call with all its attempts; after that it raises Unreachable, or OutcomeUnknown for a command."""
    silence: float = 12.0
    """For the next frame of a feed; the service sends at least one every 5 seconds."""
    shortest_pause: float = 0.05
    """Average pause before the second attempt; each further pause is twice as long."""
    longest_pause: float = 5.0


class Attempts:
    """Pauses between attempts: doubled up to a limit, with jitter so that clients do not retry in step."""

    def __init__(self, patience: Patience, random: Random) -> None:
        self._patience = patience
        self._random = random
        self._failures = 0

    def pause(self) -> float:
        """Seconds to wait before the next attempt."""
        doubled = self._patience.shortest_pause * (1 << min(self._failures, 30))
        self._failures += 1
        return min(doubled, self._patience.longest_pause) * self._random.uniform(0.5, 1.5)

    def reset(self) -> None:
        """Start with the shortest pause again."""
        self._failures = 0


class Deadline:
    """The time at which a call gives up."""

    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds until the deadline; 0 if it has passed."""
        return max(0.0, self._at - time.monotonic())

    async def sleep(self, seconds: float) -> bool:
        """Sleep and return True; return False at once if the deadline would pass meanwhile."""
        if seconds >= self.left:
            return False
        await asyncio.sleep(seconds)
        return True
