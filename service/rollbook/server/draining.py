"""Streams of requests that end when the service is being drained, as if the client had no more to say.

A client may hold such a stream open for as long as it likes, and only the client could end it. The request under way is
answered first: what is broken off is the wait for the next one.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc

from rollbook.server.handlers import Rewrapped


class Draining(grpc.aio.ServerInterceptor):
    """Knows all streams of requests."""

    def __init__(self) -> None:
        """Let them go on for now."""
        self._streams: set[_Requests] = set()
        self.begun = False
        self._rewrapped = Rewrapped(self._around)

    def drain(self) -> None:
        """End every stream of requests, now or when its request under way is answered."""
        self.begun = True
        for stream in tuple(self._streams):
            stream.end()

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:
        """Put the handler of a stream of requests behind one that can end."""
        handler: Any = await continuation(handler_call_details)
        if handler is None or not handler.request_streaming:
            return handler
        return self._rewrapped.of(handler_call_details.method, handler)

    def _around(self, _method: str, behaviour: Callable[..., Any]) -> Callable[..., Any]:
        async def once(requests: AsyncIterator[Any], context: Any) -> Any:
            stream = _Requests(requests, self)
            self._streams.add(stream)
            try:
                return await behaviour(stream, context)
            finally:
                self._streams.discard(stream)

        async def several(requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:
            stream = _Requests(requests, self)
            self._streams.add(stream)
            try:
                async for response in behaviour(stream, context):
                    yield response
            finally:
                self._streams.discard(stream)

        return several if inspect.isasyncgenfunction(behaviour) else once


class _Requests:
    """The requests of one call."""

    def __init__(self, requests: AsyncIterator[Any], draining: Draining) -> None:
        self._requests = aiter(requests)
        self._draining = draining
        self._waiting: asyncio.Task[Any] | None = None
        self._woken = False

    def end(self) -> None:
        """Break off the wait for the next request, if there is one."""
        if self._waiting is not None and not self._woken:
            self._woken = True
            self._waiting.cancel()

    def __aiter__(self) -> _Requests:
        return self

    async def __anext__(self) -> Any:
        if self._draining.begun:
            raise StopAsyncIteration
        task = asyncio.current_task()
        self._waiting = task
        try:
            return await anext(self._requests)
        except asyncio.CancelledError:
            # Ours alone is the end of the stream; when gRPC cancels as well, the call is over.
            if task is None or not self._woken or task.uncancel():
                raise
            raise StopAsyncIteration from None
        finally:
            self._waiting = None
