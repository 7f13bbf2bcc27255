"""The store's clock, which times matches: all processes share it, while their own clocks may differ."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import structlog

from rollbook.server.health.metrics import Metrics
from rollbook.storage.port import SharedClock

MOST_APART_MS: Final = 1_000
"""A larger difference is logged, because one of the clocks is wrong."""

_logger = structlog.get_logger()


class StoreClock:
    """Estimates the store's time between two comparisons by a monotonic clock."""

    def __init__(
        self, clock: SharedClock, clock_ms: Callable[[], int], steady_ms: Callable[[], int], metrics: Metrics
    ) -> None:
        """`clock_ms` is the process's clock, used for the comparison; `steady_ms` is a monotonic one."""
        self._clock = clock
        self._clock_ms = clock_ms
        self._steady_ms = steady_ms
        self._metrics = metrics
        self._ahead_ms = 0
        """The store's clock minus the monotonic clock."""
        self._apart_ms = 0
        """The difference to the process's clock when it was last logged."""

    def __call__(self) -> int:
        """The store's time in Unix milliseconds."""
        return self._steady_ms() + self._ahead_ms

    async def compare(self) -> int:
        """Read the store's time and correct the estimate; a slow answer does not move it backwards."""
        asked_ms = self._steady_ms()
        now_ms = await self._clock.now_ms()
        least_ms, most_ms = now_ms - self._steady_ms(), now_ms - asked_ms
        self._ahead_ms = min(max(self._ahead_ms, least_ms), most_ms)
        apart_ms = now_ms - self._clock_ms()
        if abs(apart_ms - self._apart_ms) > MOST_APART_MS:
            self._apart_ms = apart_ms
            _logger.warning("the clocks of service and store differ", store_is_ahead_ms=apart_ms)
        self._metrics.clocks_differ(apart_ms / 1_000)
        return now_ms


def now_ms() -> int:
    """The process's clock in Unix milliseconds."""
    return time.time_ns() // 1_000_000


def steady_ms() -> int:
    """A monotonic clock in milliseconds."""
    return time.monotonic_ns() // 1_000_000
