"""The stream of requests of one call: read one by one as messages, and ended by us where only the client could.

A call awaits `read` for each request, or iterates. Nothing stands between that and gRPC, so a request costs little.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Self

import grpc
from google.protobuf.message import DecodeError

from rollbook.server.refusals import Refusal


class RequestStream:
    """The requests of one call; the first and the last of them are remembered."""

    __slots__ = ("_ended", "_read", "_waiting", "_woken", "first", "is_needed_whole", "last", "parse")

    def __init__(self, context: Any) -> None:
        """Read from this call, as bytes until `parse` says what they mean."""
        self._read = context.read
        self._waiting: asyncio.Task[Any] | None = None
        self._ended = False
        self._woken = False
        self.parse: Callable[[bytes], Any] | None = None
        self.is_needed_whole = False
        """Whether one answer is owed to all requests together, so that without all of them there is none."""
        self.first: Any = None
        self.last: Any = None

    def end(self) -> None:
        """End as if the client had no more to say; if the next request is waited for, the wait is broken off."""
        if not self._ended:
            self._ended = True
            if self._waiting is not None:
                self._woken = True
                self._waiting.cancel()

    async def read(self) -> Any:
        """The next request; none at the end. What is no message is refused."""
        if self._ended:
            return self._no_more()
        task = self._waiting = asyncio.current_task()
        try:
            data = await self._read()
        except asyncio.CancelledError:
            # Ours alone is the end of the stream; when gRPC cancels as well, the call is over.
            if task is None or not self._woken or task.uncancel():
                raise
            return self._no_more()
        finally:
            self._waiting = None
        return None if data is grpc.aio.EOF else self._taken(data)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        request = await self.read()
        if request is None:
            raise StopAsyncIteration
        return request

    def _taken(self, data: bytes) -> Any:
        try:
            request = data if self.parse is None else self.parse(data)
        except DecodeError:
            raise malformed() from None
        if self.first is None:
            self.first = request
        self.last = request
        return request

    def _no_more(self) -> None:
        if self.is_needed_whole:
            raise stopping()


def malformed() -> Refusal:
    """Refuses bytes that are no request."""
    return Refusal("REQUEST_MALFORMED", "the bytes of the request are not the message of this method")


def stopping() -> Refusal:
    """Refuses whoever comes too late."""
    return Refusal("DRAINING", "this server stops: connect anew, and repeat the call with the same request id")
