"""Streams of the page, received in this process without a socket: the states that their messages make."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html import escape
from typing import Any

from starlette.applications import Starlette
from starlette.types import Message

from rollbook_clients.web.changes import Edit, Element, attributes_of, parse

BEAT = b"event: beat\n"


class Stream:
    """The chunks that a client receives, and the state of its topic."""

    def __init__(self) -> None:
        self._sent: asyncio.Queue[bytes] = asyncio.Queue()
        self._state: Element | None = None
        self.last: dict[str, Any] = {}
        """The last message that was no sign of life."""

    def put(self, body: bytes) -> None:
        """Receive a chunk."""
        self._sent.put_nowait(body)

    async def chunk(self) -> bytes:
        """The next chunk as it is, such as a page."""
        return await self._sent.get()

    async def get(self) -> str | None:
        """The state after the next chunk; None after a sign of life, empty at the end."""
        body = await self.chunk()
        if body.startswith(BEAT):
            return None
        if not body:
            return ""
        self.last = json.loads(body.partition(b"\ndata: ")[2])
        if "whole" in self.last:
            self._state = parse(self.last["whole"])
        elif "edit" in self.last:
            assert self._state is not None
            self._state = parse(applied(self._state, self.last["edit"]))
        return "" if self._state is None else self._state.html

    async def next(self) -> tuple[int, bytes]:
        """The number of signs of life before the next state, and that state."""
        beats = 0
        while (state := await self.get()) is None:
            beats += 1
        assert state, self.last
        return beats, state.encode()


def applied(element: Element, edit: Edit) -> str:
    """The HTML of an element after an edit, as static/stream.js applies it."""
    changed, steps = edit
    attributes = attributes_of(element.attributes) | (changed or {})
    written = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items() if value is not None)
    rest, inside = list(element.children), ""
    for step in steps or []:
        if isinstance(step, int):
            taken, rest = rest[: abs(step)], rest[abs(step) :]
            assert len(taken) == abs(step)
            inside += "".join(map(_html, taken)) if step > 0 else ""
        elif isinstance(step, str):
            inside += _with_quotes(step)
        else:
            child = rest.pop(0)
            assert isinstance(child, Element)
            inside += applied(child, step)
    inside += "".join(map(_html, rest))
    end = "" if _is_void(element) and not inside else f"</{element.name}>"
    return f"<{element.name}{written}{'' if end else '/'}>{inside}{end}"


def _with_quotes(text: str) -> str:
    """The same HTML with quotes around attributes, as in whole states."""
    return re.sub(r"<[^>]*>", lambda tag: tag[0] if '"' in tag[0] else tag[0].replace("'", '"'), text)


def _html(child: Element | str) -> str:
    return child if isinstance(child, str) else child.html


def _is_void(element: Element) -> bool:
    return not element.html.endswith(f"</{element.name}>")


@asynccontextmanager
async def listening(app: Starlette, path: str, token: str = "") -> AsyncIterator[Stream]:
    """The stream that a client of this path receives; the client plays with this token."""
    stream = Stream()
    path, _, query = path.partition("?")
    scope: dict[str, Any] = {
        "type": "http",
        "method": "GET",
        "path": path,
        "query_string": query.encode(),
        "headers": [(b"cookie", f"visit={'7' * 64}; guest={token}".encode())] if token else [],
        "client": None,
    }

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError("nobody hangs up")

    async def send(message: Message) -> None:
        if message["type"] == "http.response.body" and (message["body"] or not message.get("more_body")):
            stream.put(message["body"])

    task = asyncio.create_task(app(scope, receive, send))
    try:
        yield stream
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def stream_of(match_id: str) -> str:
    """The address of the stream of a match, from its beginning."""
    return f"/stream?topic={match_id}~"
