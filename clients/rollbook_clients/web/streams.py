"""Server-sent events, with little cost per browser.

A stream has two tasks: one sends, the other waits for the disconnect, which sending does not detect. It has no queue: a
slow browser gets the newest state when it is ready, so it needs no memory and delays no other browser.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, ExitStack, aclosing, suppress
from typing import Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

BEAT_SECONDS: Final = 15.0
"""Time without changes after which a stream sends a sign of life."""

BEAT: Final = b"event: beat\ndata: {}\n\n"
"""An event, because scripts do not see comments and could not detect a lost connection by them."""

HEADERS: Final = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]

Chunks = Callable[[], AsyncIterator[bytes]]


class EventStream:
    """A response that sends chunks until they end or the browser disconnects."""

    def __init__(self, chunks: Chunks, held: AbstractContextManager[object]) -> None:
        """Hold `held` until the stream ends; if entering it fails, raises at once."""
        self._chunks = chunks
        self._held = ExitStack()
        self._held.enter_context(held)

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Send the chunks; an empty chunk is sent as a sign of life."""
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
        await send({"type": "http.response.body", "body": BEAT, "more_body": True})
        async with aclosing(self._chunks()) as chunks:  # type: ignore[type-var]  # they are generators
            async for chunk in chunks:
                await send({"type": "http.response.body", "body": chunk or BEAT, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def once(data: bytes, version: str, seen: str, *, is_over: bool = False) -> Response:
    """The newest message for a browser that polls; 204 if it has already seen this version."""
    headers = {"x-version": version, "x-over": "yes" if is_over else "", "cache-control": "no-store"}
    headers = {name: value for name, value in headers.items() if value}
    if version == seen:
        return Response(status_code=204, headers=headers)
    return Response(data, media_type="text/plain; charset=utf-8", headers=headers)


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def message(data: bytes, *, event: str = "", number: str = "") -> bytes:
    r"""Format one message; every line break starts a new `data:` line, so that the data cannot end the message.

    >>> message(b"one\ntwo\rthree", number="7")
    b'id: 7\ndata: one\ndata: two\ndata: three\n\n'
    """
    head = (f"id: {number}\n" if number else "") + (f"event: {event}\n" if event else "")
    return head.encode() + b"data: " + data.replace(b"\r", b"\n").replace(b"\n", b"\ndata: ") + b"\n\n"
