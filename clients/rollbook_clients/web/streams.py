"""Server-sent events, with little cost per browser.

A stream has two tasks: one sends, the other waits for the disconnect, which sending does not detect. It has no queue: a
slow browser gets the newest state when it is ready, so it needs no memory and delays no other browser.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, aclosing, suppress
from typing import Final, TypeAlias

from starlette.types import Receive, Scope, Send

from rollbook_clients.web.changes import now_ms

BEAT_SECONDS: Final = 15.0
"""Time without changes after which a stream sends a sign of life."""

HEADERS: Final = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]

Source: TypeAlias = Callable[[], AsyncIterator[bytes]]


class EventStream:
    """A response that sends the messages of its sources until all have ended or the browser disconnects."""

    def __init__(self, sources: Sequence[Source], held: AbstractContextManager[object]) -> None:
        """Hold `held` until the stream ends; if entering it fails, raises at once."""
        self._sources = sources
        self._held = ExitStack()
        self._held.enter_context(held)

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Send all messages; each source waits for the browser by itself."""
        with self._held:
            # A separate task: waking it does not run through the middleware around the request.
            sending = asyncio.create_task(self._send(send))
            listening = asyncio.create_task(_until_gone(receive))
            try:
                await asyncio.wait((sending, listening), return_when=asyncio.FIRST_COMPLETED)
            finally:
                listening.cancel()
                sending.cancel()
            # After a disconnect, sending ends with one of these exceptions.
            with suppress(asyncio.CancelledError, OSError):
                await sending

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        if len(self._sources) == 1:
            await _relay(self._sources[0], send)
        else:
            await asyncio.gather(*(_relay(source, send) for source in self._sources))
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _relay(source: Source, send: Send) -> None:
    async with aclosing(source()) as chunks:  # type: ignore[type-var]  # they are generators
        async for chunk in chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def message(topic: str, body: bytes) -> bytes:
    """An event with a topic and a JSON object, which has no line breaks."""
    return b"event: %b\ndata: %b\n\n" % (topic.encode(), body)


def beat() -> bytes:
    """A sign of life; an event, because scripts do not see comments and could not detect a lost connection by them."""
    return b'event: beat\ndata: {"now_ms":%d}\n\n' % now_ms()
