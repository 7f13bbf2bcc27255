"""The end that comes from outside: the terminal goes away, or somebody ends the program."""

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
"""To put the terminal back as it was and to save what is kept; where nobody reads what is drawn, this never ends."""


@contextmanager
def leaving(app: Terminal) -> Iterator[None]:
    """End the program soon after SIGTERM, SIGHUP, or the end of its terminal, with 128 and the signal as exit code.

    A terminal that goes away tells only the session that it controls. A program of another session would read the end
    of its input, over and over; so somebody waits for that, too.
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

    # Not the loop's own handlers: they would wait for a loop that itself waits for somebody to read what it draws.
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
    """What a terminal that is gone was still to show goes nowhere; Python would make that the exit code."""
    for stream in filter(None, (sys.__stdout__, sys.__stderr__)):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
