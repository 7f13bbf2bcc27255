"""The signals that end a service, SIGHUP, and the ways in which a service ends."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Coroutine, Iterator
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
        self.hung_up: Callable[[], None] = lambda: None
        """Called on SIGHUP; by default SIGHUP has no effect."""

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

    SIGHUP ends a process only if it was sent because the process's terminal was closed.

    Afterwards the signals are ignored, so that a second one does not change the exit code while the process exits. The
    loop's own handlers would not do: removing them restores the default action, which kills the process.
    """
    signals = Signals()
    has_terminal = _has_terminal()
    loop = asyncio.get_running_loop()
    told, tell = socket.socketpair()

    def look() -> None:
        for number in told.recv(_MOST_AT_ONCE):
            if number in ENDING or (number == signal.SIGHUP and has_terminal and not _has_terminal()):
                signals.come()
            elif number == signal.SIGHUP:
                signals.hung_up()

    with told, tell:
        told.settimeout(0)
        tell.settimeout(0)
        loop.add_reader(told, look)
        signal.set_wakeup_fd(tell.fileno(), warn_on_full_buffer=False)
        for number in (*ENDING, signal.SIGHUP):
            signal.signal(number, _told_by_the_socket)
        try:
            yield signals
        finally:
            for number in (*ENDING, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            signal.set_wakeup_fd(-1)
            loop.remove_reader(told)


def _told_by_the_socket(_number: int, _frame: FrameType | None) -> None:
    """Does nothing: Python has already written the signal's number to the socket."""


def _has_terminal() -> bool:
    """Whether the process has a controlling terminal."""
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True
