"""Simulated time: an event loop that never waits, and clocks that may be wrong.

When nothing is left to do now, the loop jumps to the next timer. Callbacks due at the same time run in an order drawn
from the seed, so that no code can depend on asyncio's order.
"""

from __future__ import annotations

import asyncio
import heapq
import random
import selectors
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final

EPOCH_MS: Final = 1_700_000_000_000
"""The time of all clocks at the beginning, in Unix milliseconds."""


class NothingLeftToDo(Exception):
    """All tasks wait for events that will never happen."""


class SimulatedLoop(asyncio.SelectorEventLoop):
    """An event loop with a simulated clock, without threads, in a seeded order."""

    _ready: deque[asyncio.Handle]
    _scheduled: list[asyncio.TimerHandle]

    def __init__(self, order: random.Random) -> None:
        """Begin at 0 seconds; `order` shuffles callbacks that are due at the same time."""
        super().__init__(_NoSelector())
        self._now = 0.0
        self._order = order
        self.steps = 0
        """The number of callbacks that have run."""

    def time(self) -> float:
        """The simulated seconds since the beginning."""
        return self._now

    def run_in_executor(self, _executor: Any, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:  # type: ignore[override]
        """Run the function at once, on the only thread."""
        done = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as failure:  # noqa: BLE001 - whoever waits for it is told
            done.set_exception(failure)
        return done

    def _run_once(self) -> None:
        """Jump to the next timer if nothing is ready, then run all that is due."""
        if not self._ready:
            self._jump()
        while self._scheduled and self._scheduled[0].when() <= self._now:
            timer = heapq.heappop(self._scheduled)
            timer._scheduled = False  # type: ignore[attr-defined]
            self._ready.append(timer)
        due = list(self._ready)
        self._ready.clear()
        if len(due) > 1:
            self._order.shuffle(due)
        for handle in due:
            if not handle.cancelled():
                self.steps += 1
                handle._run()

    def _jump(self) -> None:
        while self._scheduled and self._scheduled[0].cancelled():
            heapq.heappop(self._scheduled)._scheduled = False  # type: ignore[attr-defined]
        if self._scheduled:
            self._now = max(self._now, self._scheduled[0].when())
        elif not self._stopping:
            raise NothingLeftToDo

    _stopping = False


class _NoSelector(selectors.BaseSelector):
    """A selector without events from outside the simulation."""

    def __init__(self) -> None:
        self._keys: dict[int, selectors.SelectorKey] = {}

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        """Remember the loop's own pipe, which is never written to."""
        number = fileobj if isinstance(fileobj, int) else fileobj.fileno()
        return self._keys.setdefault(number, selectors.SelectorKey(fileobj, number, events, data))

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        """Remove the entry."""
        return self._keys.pop(fileobj if isinstance(fileobj, int) else fileobj.fileno())

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return no events."""
        del timeout
        return []

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        """Return the registered entries."""
        return self._keys


class Clock:
    """The clock of a machine: it runs with the loop, with an offset."""

    def __init__(self, loop: asyncio.AbstractEventLoop, ahead_ms: int = 0) -> None:
        """`ahead_ms` is added to the simulated time."""
        self._loop = loop
        self.ahead_ms = ahead_ms

    def ms(self) -> int:
        """Unix milliseconds."""
        return self.steady_ms() + self.ahead_ms

    def steady_ms(self) -> int:
        """Unix milliseconds without the offset."""
        return EPOCH_MS + int(self._loop.time() * 1_000)

    def seconds(self) -> float:
        """Unix seconds."""
        return self.ms() / 1_000
