"""Simulated time: an event loop that never waits, and clocks that may be wrong.

The loop jumps to the next thing that is due as soon as nothing is left to do now. What is due at the same moment runs
in an order drawn from the seed, so that no code under test can lean on the order in which asyncio happens to run it.
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
"""What all clocks show when a simulation begins, in Unix milliseconds."""


class NothingLeftToDo(Exception):
    """Everything waits for something that will never happen."""


class SimulatedLoop(asyncio.SelectorEventLoop):
    """An event loop under a simulated clock: no real time, no threads, and a seeded order."""

    _ready: deque[asyncio.Handle]
    _scheduled: list[asyncio.TimerHandle]

    def __init__(self, order: random.Random) -> None:
        """Begin at 0 seconds; `order` decides what runs first of what is due at once."""
        super().__init__(_NoSelector())
        self._now = 0.0
        self._order = order
        self.steps = 0
        """How many callbacks have run."""

    def time(self) -> float:
        """The simulated seconds since the beginning."""
        return self._now

    def run_in_executor(self, _executor: Any, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:  # type: ignore[override]
        """Do at once, on the only thread there is, what would be done on another."""
        done = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as failure:  # noqa: BLE001 - whoever waits for it is told
            done.set_exception(failure)
        return done

    def _run_once(self) -> None:
        """Jump to what is due next if nothing is due now, and run all that is due."""
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
    """Nothing outside of the simulation is ever listened to."""

    def __init__(self) -> None:
        self._keys: dict[int, selectors.SelectorKey] = {}

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        """Remember the loop's own pipe, which nobody writes to."""
        number = fileobj if isinstance(fileobj, int) else fileobj.fileno()
        return self._keys.setdefault(number, selectors.SelectorKey(fileobj, number, events, data))

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        """Forget it."""
        return self._keys.pop(fileobj if isinstance(fileobj, int) else fileobj.fileno())

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Nothing has come."""
        del timeout
        return []

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        """What is remembered."""
        return self._keys


class Clock:
    """A clock of one machine: it runs with the loop, and shows what it was set to."""

    def __init__(self, loop: asyncio.AbstractEventLoop, ahead_ms: int = 0) -> None:
        """Show so much more than the time of the simulation."""
        self._loop = loop
        self.ahead_ms = ahead_ms

    def ms(self) -> int:
        """Unix milliseconds."""
        return self.steady_ms() + self.ahead_ms

    def steady_ms(self) -> int:
        """What goes on evenly, whatever the clock is set to."""
        return EPOCH_MS + int(self._loop.time() * 1_000)

    def seconds(self) -> float:
        """Unix seconds."""
        return self.ms() / 1_000
