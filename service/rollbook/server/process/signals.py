"""The signals that end a service, and the ways in which a service ends."""

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
    """The way in which a service ended."""

    DRAINED = auto()
    FORCED = auto()


class Signals:
    """Futures for the first and the second signal."""

    def __init__(self) -> None:
        """Create both futures on the running loop."""
        loop = asyncio.get_running_loop()
        self.first: asyncio.Future[None] = loop.create_future()
        self.second: asyncio.Future[None] = loop.create_future()

    def come(self) -> None:
        """Count one more signal."""
        waiting = self.second if self.first.done() else self.first
        if not waiting.done():
            waiting.set_result(None)

    async def unless_asked_to_end(self, work: Coroutine[Any, Any, T]) -> T | None:
        """The result of `work`; None if a signal came first and `work` was cancelled."""
        task = asyncio.create_task(work)
        either: set[asyncio.Future[Any]] = {task, self.first}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
        return None if task.cancelled() else task.result()


@contextmanager
def ending_signals() -> Iterator[Signals]:
    """Collect signals within the context; call it on the main thread of a process that ends afterwards.

    Afterwards the signals are ignored, so that a second one does not change the exit code while the process exits. The
    loop's own handlers would not do: removing them restores the default action, which kills the process.
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
    """Does nothing: Python has already written the signal's number to the socket."""
