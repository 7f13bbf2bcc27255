"""How long a client waits, and how it spaces its attempts."""

import asyncio
import time
from dataclasses import dataclass
from random import Random


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a client waits for a service, in seconds. The defaults suit people and bots on any network."""

    arrival: float = 3.0
    """For the first answer of all, when a table is sat down at."""
    answer: float = 10.0
    """For one answer, before the connection is given up and the same is asked on a new one."""
    call: float = 60.0
    """For a call with all its attempts, before it is Unreachable, or its OutcomeUnknown."""
    silence: float = 12.0
    """For the next frame of a feed, which beats every 5 seconds at least."""
    shortest_pause: float = 0.05
    """Before the second attempt, on average; each further pause is twice as long."""
    longest_pause: float = 5.0


class Attempts:
    """The pauses between attempts: longer and longer, and never in step with those of other clients."""

    def __init__(self, patience: Patience, random: Random) -> None:
        self._patience = patience
        self._random = random
        self._failures = 0

    def pause(self) -> float:
        """Seconds before the next attempt."""
        doubled = self._patience.shortest_pause * (1 << min(self._failures, 30))
        self._failures += 1
        return min(doubled, self._patience.longest_pause) * self._random.uniform(0.5, 1.5)

    def succeeded(self) -> None:
        """Begin with short pauses again."""
        self._failures = 0


class Deadline:
    """When patience ends."""

    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds until then; 0 when it has passed."""
        return max(0.0, self._at - time.monotonic())

    async def sleep(self, seconds: float) -> bool:
        """Sleep, unless patience ends before; whether it was slept."""
        if seconds >= self.left:
            return False
        await asyncio.sleep(seconds)
        return True
