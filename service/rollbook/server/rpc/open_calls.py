"""Calls while the service is being drained: those under way finish, new ones are refused by name.

A client may hold a stream of requests open for as long as it likes, and only the client could end it: it ends as if the
client had no more to say. The request under way is answered first: what is broken off is the wait for the next one.
Where one answer is owed to all requests together, half of them deserve none, and the call is refused.
Health and reflection answer to the end.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final

from rollbook.server.refusals import Refusal
from rollbook.server.rpc.errors import Count, refuse
from rollbook.server.rpc.interceptor import Behaviour, Layer, within

_ANSWERED_TO_THE_END: Final = "/grpc."
"""Where the methods begin of what gRPC itself defines: health and reflection."""


class OpenCalls(Layer):
    """Knows all calls that are under way, and all streams of requests."""

    def __init__(self, refused: Count) -> None:
        """Let them go on for now; `refused` hears of every call that comes too late."""
        self._refused = refused
        self._streams: set[_Requests] = set()
        self._under_way = 0
        self._finished = asyncio.Event()
        self._finished.set()
        self.begun = False

    def drain(self) -> None:
        """Take no more calls, and end every stream of requests, now or when its request under way is answered."""
        self.begun = True
        for stream in tuple(self._streams):
            stream.end()

    async def finished(self) -> None:
        """Wait until no call is under way any more."""
        await self._finished.wait()

    def around(self, method: str, behaviour: Behaviour, *, streams_requests: bool) -> Behaviour:
        """The behaviour of a call that is counted, or refused; a stream of requests comes from one that can end."""
        if streams_requests:
            # One answer is owed to all requests together; without all of them there is none.
            ending = StopAsyncIteration if inspect.isasyncgenfunction(behaviour) else _stopping
            behaviour = within(partial(self._ending_stream, ending), behaviour)
        return behaviour if method.startswith(_ANSWERED_TO_THE_END) else within(self._counted, behaviour)

    @asynccontextmanager
    async def _counted(self, request: Any, context: Any) -> AsyncIterator[Any]:
        if self.begun:
            await refuse(context, _stopping(), self._refused)
        self._under_way += 1
        self._finished.clear()
        try:
            yield request
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._finished.set()

    @asynccontextmanager
    async def _ending_stream(
        self, ending: Callable[[], Exception], requests: AsyncIterator[Any], _context: Any
    ) -> AsyncIterator[_Requests]:
        stream = _Requests(requests, self, ending)
        self._streams.add(stream)
        try:
            yield stream
        finally:
            self._streams.discard(stream)


class _Requests:
    """The requests of one call."""

    def __init__(self, requests: AsyncIterator[Any], calls: OpenCalls, ending: Callable[[], Exception]) -> None:
        """Raise `ending` in place of a request that is not waited for any more."""
        self._requests = aiter(requests)
        self._calls = calls
        self._ending = ending
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
        if self._calls.begun:
            raise self._ending()
        task = asyncio.current_task()
        self._waiting = task
        try:
            return await anext(self._requests)
        except asyncio.CancelledError:
            # Ours alone is the end of the stream; when gRPC cancels as well, the call is over.
            if task is None or not self._woken or task.uncancel():
                raise
            raise self._ending() from None
        finally:
            self._waiting = None


def _stopping() -> Refusal:
    return Refusal("DRAINING", "this server stops: connect anew, and repeat the call with the same request id")
