"""Streams to browsers without a page, as a baseline; `tests.bench web` starts it with a port.

The server of the page sends each posted message to all listeners of its address.
"""

from __future__ import annotations

import asyncio
import sys
from collections import defaultdict
from typing import Final

import uvicorn
from starlette.types import Receive, Scope, Send

HEADERS: Final = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-store")]


class Address:
    """The last message posted to an address, and an event for newer ones."""

    def __init__(self) -> None:
        self.frame = b":\n\n"
        self.posted = asyncio.Event()

    def post(self, frame: bytes) -> None:
        """Send a message to all listeners."""
        self.frame = frame
        self.posted.set()
        self.posted = asyncio.Event()


class Bare:
    """The ASGI application."""

    def __init__(self) -> None:
        self._addresses: defaultdict[str, Address] = defaultdict(Address)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            return
        address = self._addresses[scope["path"]]
        if scope["method"] == "POST":
            address.post(await _body(receive))
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        while True:
            posted = address.posted
            await send({"type": "http.response.body", "body": address.frame, "more_body": True})
            await posted.wait()


async def _body(receive: Receive) -> bytes:
    body = b""
    while True:
        message = await receive()
        body += bytes(message.get("body", b""))
        if not message.get("more_body"):
            return body


if __name__ == "__main__":
    uvicorn.run(Bare(), port=int(sys.argv[1]), log_level="warning", access_log=False, timeout_graceful_shutdown=1)
