"""The event loop and garbage collection of the service and the page, tuned for very many small messages.

gRPC wakes the loop with a byte through a socket pair for every message sent or received. It reads one byte in each
iteration of the loop, although it handles all waiting messages each time, so that a busy loop iterates once per message
for nothing. `ServiceLoop` reads all bytes at once. It depends on internals of grpcio, and changes nothing if they
differ.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any, Final, TypeVar

T = TypeVar("T")

WAKING: Final = "_handle_events"
"""Name of grpcio's method that handles all waiting messages."""

MOST_BYTES: Final = 65_536

GARBAGE: Final = (5_000, 200, 50)
"""Thresholds of the garbage collector. A command makes hundreds of objects, which reference counting frees. A
collection blocks the loop for about 0.4 µs per new object, so it must come before there are too many of them."""

SWITCH_SECONDS: Final = 0.0005
"""How long a thread that computes may keep the loop waiting. Python's default is ten times as long, and the loop waits
after each of its system calls."""


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end in a new loop."""
    usual, interval = gc.get_threshold(), sys.getswitchinterval()
    gc.set_threshold(*GARBAGE)
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            return runner.run(main)
    finally:
        gc.set_threshold(*usual)
        sys.setswitchinterval(interval)


def settle() -> None:
    """Exclude all existing objects, which live as long as the process, from garbage collection."""
    gc.collect()
    gc.freeze()


def new_loop() -> asyncio.AbstractEventLoop:
    """A new event loop for this platform."""
    return asyncio.new_event_loop() if sys.platform == "win32" else ServiceLoop()


class ServiceLoop(asyncio.SelectorEventLoop):
    """Reads all of gRPC's wake-up bytes at once."""

    def call_soon(  # type: ignore[override]  # any callback
        self, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """Call back in the next iteration, as asyncio does, but without its check for debug mode."""
        if self._debug or self._closed:  # type: ignore[attr-defined]  # two reads instead of two calls
            return super().call_soon(callback, *args, context=context)
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)  # type: ignore[attr-defined]  # read by the next iteration
        return handle

    def add_reader(  # type: ignore[override]  # any arguments
        self, fd: Any, callback: Callable[..., Any], *args: Any
    ) -> None:
        """Call back when there is data to read; gRPC's callback first gets all bytes read."""
        inner = getattr(callback, "func", None)
        if getattr(inner, "__name__", "") == WAKING and hasattr(fd, "recv"):
            super().add_reader(fd, _woken, fd.recv, callback)
        else:
            super().add_reader(fd, callback, *args)


def _woken(receive: Callable[[int], bytes], look: Callable[[], None]) -> None:
    """Read all bytes, then handle messages; a message that arrives in between sends its own byte."""
    try:
        receive(MOST_BYTES)
    except BlockingIOError:
        return
    look()
