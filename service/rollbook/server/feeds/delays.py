"""Advances delayed channels when events become visible, with one timer for all; none runs if none is hidden."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Final

from rollbook.server.feeds.channel import DelayedChannel

LATE_LOOK_MS: Final = 250
"""The longest wait of the timer: the service's clock may be set, unlike the timer's."""


class Delays:
    """Advances delayed channels as their events become old enough."""

    def __init__(self, clock_ms: Callable[[], int]) -> None:
        self._clock_ms = clock_ms
        self._changed: dict[DelayedChannel, Callable[[], None]] = {}
        self._due: list[tuple[int, int, DelayedChannel]] = []
        """When a channel may have more to show; each channel at most once."""
        self._waiting: set[DelayedChannel] = set()
        self._numbers = count()
        self._timer: asyncio.TimerHandle | None = None

    def add(self, channel: DelayedChannel) -> None:
        """Advance a channel from now on."""
        changed = self._changed[channel] = partial(self._look_at, channel)
        channel.replica.changed.append(changed)
        self._look_at(channel)

    def remove(self, channel: DelayedChannel) -> None:
        """Stop advancing a channel."""
        channel.replica.changed.remove(self._changed.pop(channel))

    def close(self) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look_at(self, channel: DelayedChannel) -> None:
        """Advance a channel after a change of the match, or when an event has become old enough."""
        if channel.replica.failure is not None:
            channel.bell.ring()
            return
        now_ms = self._clock_ms()
        channel.advance(now_ms)
        due_ms = channel.due_in_ms(now_ms)
        if due_ms is not None and channel not in self._waiting:
            self._waiting.add(channel)
            heapq.heappush(self._due, (now_ms + due_ms, next(self._numbers), channel))
            self._arm(now_ms)

    def _arm(self, now_ms: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
        wait_ms = min(max(self._due[0][0] - now_ms, 1), LATE_LOOK_MS)
        self._timer = asyncio.get_running_loop().call_later(wait_ms / 1_000, self._look)

    def _look(self) -> None:
        self._timer = None
        now_ms = self._clock_ms()
        while self._due and self._due[0][0] <= now_ms:
            channel = heapq.heappop(self._due)[-1]
            self._waiting.discard(channel)
            if channel in self._changed:
                self._look_at(channel)
        if self._due:
            self._arm(now_ms)
