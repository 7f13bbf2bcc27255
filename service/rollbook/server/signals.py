"""The signals that end a service, and how it came to its end."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from enum import Enum, auto
from typing import Any, TypeVar

T = TypeVar("T")


class Shutdown(Enum):
    """How a service came to its end."""

    DRAINED = auto()
    FORCED = auto()


class Signals:
    """The signals that end a service, counted."""

    def __init__(self) -> None:
        """Begin with none, on the loop that runs."""
        loop = asyncio.get_running_loop()
        self.first: asyncio.Future[None] = loop.create_future()
        self.second: asyncio.Future[None] = loop.create_future()

    def come(self) -> None:
        """One more."""
        waiting = self.second if self.first.done() else self.first
        if not waiting.done():
            waiting.set_result(None)

    async def unless_asked_to_end(self, work: Coroutine[Any, Any, T]) -> T | None:
        """What the work comes to; none if a signal came before, and the work has been broken off."""
        task = asyncio.create_task(work)
        either: set[asyncio.Future[Any]] = {task, self.first}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
        return None if task.cancelled() else task.result()


@contextmanager
def ending_signals() -> Iterator[Signals]:
    """The signals that come meanwhile; call it on the main thread."""
    signals = Signals()
    loop = asyncio.get_running_loop()
    ending = (signal.SIGTERM, signal.SIGINT)
    for number in ending:
        loop.add_signal_handler(number, signals.come)
    try:
        yield signals
    finally:
        for number in ending:
            loop.remove_signal_handler(number)
