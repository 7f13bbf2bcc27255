"""The signals that end a service, and how it came to its end."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from enum import Enum, auto
from types import FrameType
from typing import Any, Final, TypeVar

T = TypeVar("T")

ENDING: Final = (signal.SIGTERM, signal.SIGINT)

_MOST_AT_ONCE: Final = 64


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
    """The signals that come meanwhile; call it on the main thread of a process that ends afterwards.

    Afterwards they are ignored, so that an impatient second one does not change the exit code while the process exits.
    With the loop's own handlers it could: when they are removed, the default comes back, which kills.
    """
    signals = Signals()
    loop = asyncio.get_running_loop()
    told, tell = socket.socketpair()

    def look() -> None:
        for number in told.recv(_MOST_AT_ONCE):
            if number in ENDING:
                signals.come()

    with told, tell:
        told.settimeout(0)
        tell.settimeout(0)
        loop.add_reader(told, look)
        signal.set_wakeup_fd(tell.fileno(), warn_on_full_buffer=False)
        for number in ENDING:
            signal.signal(number, _told_by_the_socket)
        try:
            yield signals
        finally:
            for number in ENDING:
                signal.signal(number, signal.SIG_IGN)
            signal.set_wakeup_fd(-1)
            loop.remove_reader(told)


def _told_by_the_socket(_number: int, _frame: FrameType | None) -> None:
    """Nothing is left to do: Python has written the signal's number to the socket."""
