"""What happens, sent to browsers as it happens: EventSource streams, as lean as they can be.

A stream is a task that sends, and one that notices when nobody listens any more: sending does not tell. It holds no
queue: a browser that reads slowly gets the newest when it is ready for it, so that nothing piles up for it and nobody
else waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, ExitStack, aclosing, suppress
from typing import Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

BEAT_SECONDS: Final = 15.0
"""After so long without anything new, whoever waits is given a sign of life."""

BEAT: Final = b"event: beat\ndata: {}\n\n"
"""A comment would be kept from scripts, which could not tell silence from a connection that is lost."""

HEADERS: Final = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]

Chunks = Callable[[], AsyncIterator[bytes]]


class EventStream:
    """A response that sends chunks for as long as somebody listens."""

    def __init__(self, chunks: Chunks, held: AbstractContextManager[object]) -> None:
        """Hold this from now on until the stream ends; what cannot be held is raised at once."""
        self._chunks = chunks
        self._held = ExitStack()
        self._held.enter_context(held)

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Send them; an empty one is a sign of life."""
        with self._held:
            # In a task of its own, sending is not woken up through all that stands around a request.
            sending = asyncio.create_task(self._send(send))
            listening = asyncio.create_task(_until_gone(receive))
            try:
                await asyncio.wait((sending, listening), return_when=asyncio.FIRST_COMPLETED)
            finally:
                listening.cancel()
                sending.cancel()
            # Sending ends like this where nobody listens any more.
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
    """The newest message for whoever does not listen but asks; nothing if they have seen this version."""
    headers = {"x-version": version, "x-over": "yes" if is_over else "", "cache-control": "no-store"}
    headers = {name: value for name, value in headers.items() if value}
    if version == seen:
        return Response(status_code=204, headers=headers)
    return Response(data, media_type="text/plain; charset=utf-8", headers=headers)


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def message(data: bytes, *, event: str = "", number: str = "") -> bytes:
    r"""One message of a stream; its lines end as they do everywhere, so that nothing in it can end the message.

    >>> message(b"one\ntwo\rthree", number="7")
    b'id: 7\ndata: one\ndata: two\ndata: three\n\n'
    """
    head = (f"id: {number}\n" if number else "") + (f"event: {event}\n" if event else "")
    return head.encode() + b"data: " + data.replace(b"\r", b"\n").replace(b"\n", b"\ndata: ") + b"\n\n"
