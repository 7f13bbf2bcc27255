"""Ends the program when its terminal disappears or when it receives SIGTERM or SIGHUP."""

import asyncio
import os
import select
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from rollbook_clients.terminal.app import Terminal

GRACE_SECONDS: Final = 2.0
"""Time to restore the terminal and save state, which can block for ever if no process reads the output."""


@contextmanager
def leaving(app: Terminal) -> Iterator[None]:
    """Within this context SIGTERM, SIGHUP or a hang-up of the terminal end the program, with exit code 128 + signal.

    The kernel sends SIGHUP only to the session that the terminal controls. A program in another session would read end
    of file in an endless loop, so a thread polls standard input for the hang-up.
    """
    loop = asyncio.get_running_loop()
    is_over = threading.Event()

    def end(number: int, _: FrameType | None = None) -> None:
        if is_over.is_set():
            return
        is_over.set()
        code = 128 + number
        last = threading.Timer(GRACE_SECONDS, os._exit, (code,))
        last.daemon = True
        last.start()
        loop.call_soon_threadsafe(app.exit, code)

    def wait_for_hangup() -> None:
        terminal = select.poll()
        terminal.register(sys.stdin, 0)
        terminal.poll()
        end(signal.SIGHUP)

    # The handlers of the event loop would not run: the loop may be blocked in a write to a terminal that no process
    # reads.
    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    threading.Thread(target=wait_for_hangup, daemon=True).start()
    try:
        yield
    finally:
        is_over.set()
        for number, handler in before.items():
            signal.signal(number, handler)
        _drop_what_cannot_be_shown()


def _drop_what_cannot_be_shown() -> None:
    """Redirect unwritable output to /dev/null; the failed flush would otherwise change Python's exit code."""
    for stream in filter(None, (sys.__stdout__, sys.__stderr__)):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
