"""The store's clock, by which matches are timed: all processes share it, whatever their own clocks show."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import structlog

from rollbook.server.health.metrics import Metrics
from rollbook.storage.port import Log

MOST_APART_MS: Final = 1_000
"""What is more is said in the log: some clock is wrong."""

_logger = structlog.get_logger()


class StoreClock:
    """Counts on evenly from what the store last said."""

    def __init__(self, log: Log, clock_ms: Callable[[], int], steady_ms: Callable[[], int], metrics: Metrics) -> None:
        """Compare the process's clock, which may be set, and count by one that goes on evenly."""
        self._log = log
        self._clock_ms = clock_ms
        self._steady_ms = steady_ms
        self._metrics = metrics
        self._ahead_ms = 0
        """How far the store is ahead of what goes on evenly."""
        self._apart_ms = 0
        """How far it was ahead of the process's clock when that was last said."""

    def __call__(self) -> int:
        """Unix milliseconds."""
        return self._steady_ms() + self._ahead_ms

    async def compare(self) -> int:
        """Ask the store what time it is, and keep to that: an answer that was long under way moves nothing back."""
        asked_ms = self._steady_ms()
        now_ms = await self._log.now_ms()
        least_ms, most_ms = now_ms - self._steady_ms(), now_ms - asked_ms
        self._ahead_ms = min(max(self._ahead_ms, least_ms), most_ms)
        apart_ms = now_ms - self._clock_ms()
        if abs(apart_ms - self._apart_ms) > MOST_APART_MS:
            self._apart_ms = apart_ms
            _logger.warning("the clocks of service and store differ", store_is_ahead_ms=apart_ms)
        self._metrics.clocks_differ(apart_ms / 1_000)
        return now_ms


def now_ms() -> int:
    """What the clock of this machine says."""
    return time.time_ns() // 1_000_000


def steady_ms() -> int:
    """A clock that nobody sets."""
    return time.monotonic_ns() // 1_000_000
