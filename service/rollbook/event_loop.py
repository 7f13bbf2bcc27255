"""The loop of the service and of the page, and how their processes treat memory: for very many small messages.

Every message that gRPC has sent or received is told to the loop by a byte through a pair of sockets. gRPC takes one
byte a turn of the loop, though it looks at all messages each time, so that a busy loop turns once a message for
nothing. Here all bytes are taken at once. This knows grpcio from inside; where it finds what it does not know, it
changes nothing.
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
"""What grpcio calls the method that looks at all messages."""

MOST_BYTES: Final = 65_536

GARBAGE: Final = (50_000, 20, 50)
"""Objects more than are freed, and passes over younger ones, before the collector looks: a command makes hundreds of
objects, all of which go by themselves, and each look would find thousands of them waiting for the store."""


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run it to its end."""
    usual = gc.get_threshold()
    gc.set_threshold(*GARBAGE)
    try:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            return runner.run(main)
    finally:
        gc.set_threshold(*usual)


def settle() -> None:
    """Let the collector pass over what is there already, and will be there to the end."""
    gc.collect()
    gc.freeze()


def new_loop() -> asyncio.AbstractEventLoop:
    """A loop of the platform's own kind."""
    return asyncio.new_event_loop() if sys.platform == "win32" else ServiceLoop()


class ServiceLoop(asyncio.SelectorEventLoop):
    """Takes all of gRPC's wake-up calls at once."""

    def call_soon(  # type: ignore[override]  # whatever is called back
        self, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """Call back in the next turn, as asyncio does, without asking on the way whether it looks for mistakes."""
        if self._debug or self._closed:  # type: ignore[attr-defined]  # to ask for them takes as long as the rest
            return super().call_soon(callback, *args, context=context)
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)  # type: ignore[attr-defined]  # where the next turn finds it
        return handle

    def add_reader(  # type: ignore[override]  # whatever a reader takes
        self, fd: Any, callback: Callable[..., Any], *args: Any
    ) -> None:
        """Call back whenever there is something to read."""
        inner = getattr(callback, "func", None)
        if getattr(inner, "__name__", "") == WAKING and hasattr(fd, "recv"):
            super().add_reader(fd, _woken, fd.recv, callback)
        else:
            super().add_reader(fd, callback, *args)


def _woken(receive: Callable[[int], bytes], look: Callable[[], None]) -> None:
    """Take all bytes, then look: what comes to be told in between has a byte of its own."""
    try:
        receive(MOST_BYTES)
    except BlockingIOError:
        return
    look()
