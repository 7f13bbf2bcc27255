"""The stream of requests of one call, which the service can end like a client.

A handler awaits `read` for each request, or iterates. `read` calls gRPC directly, so a request costs little.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Self

import grpc
from google.protobuf.message import DecodeError

from rollbook.server.refusals import Refusal


class RequestStream:
    """The requests of one call; keeps the first and the last one."""

    __slots__ = ("_ended", "_read", "_waiting", "_woken", "first", "is_needed_whole", "last", "parse")

    def __init__(self, context: Any) -> None:
        """Read from this call; requests are bytes until `parse` is set."""
        self._read = context.read
        self._waiting: asyncio.Task[Any] | None = None
        self._ended = False
        self._woken = False
        self.parse: Callable[[bytes], Any] | None = None
        self.is_needed_whole = False
        """Whether one answer covers the whole stream, so that an early end refuses the call."""
        self.first: Any = None
        self.last: Any = None

    def end(self) -> None:
        """End as if the client had closed the stream; a pending `read` is interrupted."""
        if not self._ended:
            self._ended = True
            if self._waiting is not None:
                self._woken = True
                self._waiting.cancel()

    async def read(self) -> Any:
        """The next request; None at the end. Raises Refusal for malformed bytes."""
        if self._ended:
            return self._no_more()
        task = self._waiting = asyncio.current_task()
        try:
            data = await self._read()
        except asyncio.CancelledError:
            # A cancellation by `end` alone ends the stream; if gRPC has cancelled too, the call is over.
            if task is None or not self._woken or task.uncancel():
                raise
            return self._no_more()
        finally:
            self._waiting = None
        return None if data is grpc.aio.EOF else self._take_in(data)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        request = await self.read()
        if request is None:
            raise StopAsyncIteration
        return request

    def _take_in(self, data: bytes) -> Any:
        try:
            request = data if self.parse is None else self.parse(data)
        except DecodeError:
            raise malformed_error() from None
        if self.first is None:
            self.first = request
        self.last = request
        return request

    def _no_more(self) -> None:
        if self.is_needed_whole:
            raise stopping()


def malformed_error() -> Refusal:
    """The refusal of bytes that are not a request."""
    return Refusal("REQUEST_MALFORMED", "the bytes of the request are not the message of this method")


def stopping() -> Refusal:
    """The refusal of a call during the drain."""
    return Refusal("DRAINING", "this server stops: connect again, and repeat the call with the same request id")
