"""Streams to browsers with nothing behind them, to measure the page by; `tests.bench web` starts it with a port.

What is posted to an address is sent to everybody who listens there, by the server that the page has as well.
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
    """What was posted last, and a sign that there is something newer."""

    def __init__(self) -> None:
        self.frame = b":\n\n"
        self.posted = asyncio.Event()

    def post(self, frame: bytes) -> None:
        """Send this to everybody."""
        self.frame = frame
        self.posted.set()
        self.posted = asyncio.Event()


class Bare:
    """The application."""

    def __init__(self) -> None:
        self._addresses: defaultdict[str, Address] = defaultdict(Address)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
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
