"""Requests as messages: whatever bytes come, a client hears what is wrong with them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypeAlias

import structlog
from google.protobuf.message import DecodeError

from rollbook.server.limits import Strangers
from rollbook.server.refusals import Refusal
from rollbook.server.rpc.errors import Count, refuse
from rollbook.server.rpc.interceptors import Around, Call, Layer, Measured

Read: TypeAlias = Callable[[bytes], Any]


class Reading(Layer):
    """Reads requests; bytes that are none are refused, with one short line, and a flood of them without."""

    def __init__(self, strangers: Strangers, measured: Measured, refused: Count) -> None:
        """Bound what cannot be read by where it comes from; both others hear of all of it."""
        self._strangers = strangers
        self._measured = measured
        self._refused = refused
        self._log: Any = structlog.get_logger()

    def around(self, method: str, handler: Any) -> Around:
        """One request is read before anything else happens, a stream of them one by one."""
        read = handler.request_deserializer
        return partial(self._each, read) if handler.request_streaming else partial(self._one, method, read)

    @asynccontextmanager
    async def _one(self, method: str, read: Read, call: Call) -> AsyncIterator[None]:
        try:
            call.requests = read(call.requests)
        except DecodeError:
            await self._refuse(method, call.context)
        yield

    @asynccontextmanager
    async def _each(self, read: Read, call: Call) -> AsyncIterator[None]:
        call.requests = _read_each(read, call.requests)
        yield

    async def _refuse(self, method: str, context: Any) -> None:
        refusal = _malformed()
        try:
            self._strangers.count(context)
        except Refusal as too_many:
            refusal = too_many
        else:
            self._log.info("malformed request", method=method)
        self._measured(method, refusal.code.name, 0.0)
        await refuse(context, refusal, self._refused)


async def _read_each(read: Read, requests: AsyncIterator[bytes]) -> AsyncIterator[Any]:
    async for request in requests:
        try:
            message = read(request)
        except DecodeError:
            raise _malformed() from None
        yield message


def _malformed() -> Refusal:
    return Refusal("REQUEST_MALFORMED", "the bytes of the request are not the message of this method")
