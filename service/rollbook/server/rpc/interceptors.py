"""What stands around every call, layer upon layer, whichever of gRPC's four kinds it is.

`CallLog` writes a line for every call, `OpenCalls` knows which are under way and lets them finish when the service is
drained, `Refusing` turns what a handler raises into a refusal. `Interceptor` puts them around every method.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from operator import methodcaller
from typing import Any, Final, TypeAlias

import grpc
import structlog

from rollbook.server.refusals import Refusal
from rollbook.server.rpc.errors import Count, refuse
from rollbook.v1.match_pb2 import EventsMade

_KINDS: Final[dict[tuple[bool, bool], tuple[str, Callable[..., Any]]]] = {
    (False, False): ("unary_unary", grpc.unary_unary_rpc_method_handler),
    (False, True): ("unary_stream", grpc.unary_stream_rpc_method_handler),
    (True, False): ("stream_unary", grpc.stream_unary_rpc_method_handler),
    (True, True): ("stream_stream", grpc.stream_stream_rpc_method_handler),
}

LONGEST_ID: Final = 64
LONGEST_METHOD: Final = 200

UNKNOWN_METHOD: Final = "unknown"
"""Stands for every method that there is none of where calls are measured."""

_QUIET: Final = ("/grpc.health.", "/grpc.reflection.")
_CODES: Final = {code.value[0]: code for code in grpc.StatusCode}
_FLOOD: Final = grpc.StatusCode.RESOURCE_EXHAUSTED.name
_ALARMING: Final = frozenset({"UNKNOWN", "INTERNAL", "DATA_LOSS"})

Measured: TypeAlias = Callable[[str, str, float], None]

_SERIALIZED: Final = methodcaller("SerializeToString")

_ANSWERED_TO_THE_END: Final = "/grpc."
"""Where the methods begin of what gRPC itself defines: health and reflection."""


@dataclass(slots=True)
class Call:
    """One call, from its beginning to its end."""

    requests: Any
    """The request, or the stream of them; a layer may put another stream in its place."""
    context: Any
    response: Any = None
    """The answer; of a stream of answers the last so far."""


Around: TypeAlias = Callable[[Call], AbstractAsyncContextManager[object]]
"""What is entered before a call is handled and left after it, however it ends."""
Handler: TypeAlias = Callable[[Call], Awaitable[None]]


class Layer:
    """Something around calls. It acts at their beginning and their end, and costs their messages nothing."""

    def around(self, method: str, handler: Any) -> Around:
        """What stands around each call that this handler of gRPC's handles; nothing unless a layer says so."""
        del method, handler
        return nullcontext

    def unknown(self, method: str) -> None:
        """Somebody has called a method that there is none of."""


# What wraps a handler


def _answered(behaviour: Callable[..., Awaitable[Any]]) -> Handler:
    """The behaviour of a method that answers once, or writes its answers by itself."""

    async def handle(call: Call) -> None:
        call.response = await behaviour(call.requests, call.context)

    return handle


def _written(behaviour: Callable[..., AsyncGenerator[Any, None]]) -> Handler:
    """The behaviour of a method that yields its answers: here alone each of them is looked at."""

    async def handle(call: Call) -> None:
        write = call.context.write
        async with aclosing(behaviour(call.requests, call.context)) as responses:
            async for response in responses:
                call.response = response
                await write(response)

    return handle


def _within(around: Around, handle: Handler) -> Handler:
    async def handle_within(call: Call) -> None:
        async with around(call):
            await handle(call)

    return handle_within


class Interceptor(grpc.aio.ServerInterceptor):
    """Puts layers around the behaviour of every method that the server has, once for each."""

    def __init__(self, *layers: Layer) -> None:
        """Put these around it, the first of them outermost."""
        self._layers = layers
        self._known: dict[str, tuple[Any, Any]] = {}

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:
        """What handles this call, with everything around it."""
        handler: Any = await continuation(handler_call_details)
        method = handler_call_details.method
        if handler is None:
            for layer in self._layers:
                layer.unknown(method)
            return None
        known = self._known.get(method)
        if known is None or known[0] is not handler:
            known = self._known[method] = handler, self._layered(method, handler)
        return known[1]

    def _layered(self, method: str, handler: Any) -> Any:
        attribute, make = _KINDS[bool(handler.request_streaming), bool(handler.response_streaming)]
        behaviour = getattr(handler, attribute)
        handle = _written(behaviour) if inspect.isasyncgenfunction(behaviour) else _answered(behaviour)
        for layer in reversed(self._layers):
            handle = _within(layer.around(method, handler), handle)

        async def handled(requests: Any, context: Any) -> Any:
            call = Call(requests, context)
            await handle(call)
            return None if handler.response_streaming else call.response

        # A request is read by a layer: gRPC has no words for bytes that are none. An answer may be serialised already.
        return make(handled, response_serializer=_SERIALIZED)


# A line in the log


class CallLog(Layer):
    """Tells of every call when it has ended: method, status, milliseconds, match and request, and never its metadata.

    What a handler binds with `structlog.contextvars.bind_contextvars` stands in the line as well. Health checks and
    reflection, which come by the minute and say nothing of the service, are told at the level `debug`, and so are calls
    that are too many, or of methods that there are none of, which are counted.
    """

    def __init__(self, measured: Measured) -> None:
        """Write to the log as it is configured now; `measured` hears the method, the status and the seconds as well."""
        self._log: Any = structlog.get_logger()
        self._measured = measured

    def unknown(self, method: str) -> None:
        """Tell of a call that nothing handles."""
        # Nothing bounds how many of them come.
        self._log.debug("call", method=_shown(method, LONGEST_METHOD), status="UNIMPLEMENTED")
        # Its name comes from the client, and must not fill anybody's memory.
        self._measured(UNKNOWN_METHOD, "UNIMPLEMENTED", 0.0)

    def around(self, method: str, handler: Any) -> Around:
        """The stop-watch around whatever handles a call."""
        return partial(self._told, method, streams_requests=bool(handler.request_streaming))

    @asynccontextmanager
    async def _told(self, method: str, call: Call, *, streams_requests: bool) -> AsyncIterator[None]:
        structlog.contextvars.clear_contextvars()
        started = time.perf_counter()
        requests = call.requests = _Noted(call.requests) if streams_requests else call.requests
        ending: BaseException | None = None
        try:
            yield
        except BaseException as error:
            ending = error
            raise
        finally:
            seconds = time.perf_counter() - started
            status = _status(call.context, ending)
            self._measured(method, status, seconds)
            facts = _facts((requests.first, requests.last) if streams_requests else (requests,), call.response)
            tell = self._line(method, status)
            tell("call", method=method, status=status, milliseconds=round(seconds * 1_000, 3), **facts)

    def _line(self, method: str, status: str) -> Any:
        """What writes a line of the level that fits."""
        if method.startswith(_QUIET) or status == _FLOOD:
            return self._log.debug
        return self._log.error if status in _ALARMING else self._log.info


class _Noted:
    """A stream of requests; the first and the last of them are remembered."""

    def __init__(self, requests: AsyncIterator[Any]) -> None:
        self._requests = aiter(requests)
        self.first: Any = None
        self.last: Any = None

    def __aiter__(self) -> _Noted:
        return self

    async def __anext__(self) -> Any:
        self.last = await anext(self._requests)
        if self.first is None:
            self.first = self.last
        return self.last


def _facts(requests: Iterable[Any], response: Any) -> dict[str, Any]:
    """In which match a call was made, by which request, and to which sequence it got."""
    facts: dict[str, Any] = {}
    for request in requests:
        for fact, field in (("match", "match_id"), ("request", "request_id")):
            value = getattr(request, field, None)
            if isinstance(value, str) and value:
                facts[fact] = _shown(value, LONGEST_ID)
    match_id = getattr(response, "match_id", "")
    if match_id:
        facts["match"] = _shown(match_id, LONGEST_ID)
    made = getattr(response, "made", None)
    if isinstance(made, EventsMade) and response.HasField("made"):
        facts["sequence"] = made.last
    return facts


def _status(context: Any, ending: BaseException | None) -> str:
    told = context.code()
    code = told if isinstance(told, grpc.StatusCode) else _CODES.get(told or 0, grpc.StatusCode.UNKNOWN)
    if code is not grpc.StatusCode.OK or ending is None:
        return code.name
    if isinstance(ending, asyncio.CancelledError | GeneratorExit):
        return grpc.StatusCode.CANCELLED.name
    return grpc.StatusCode.UNKNOWN.name


def _shown(text: str, longest: int) -> str:
    """What a client sent, if it is such as ids are; anything else could be made to mislead who reads the log."""
    sound = len(text) <= longest and text.isascii() and text.isprintable()
    return text if sound else "[malformed]"


# Calls under way


class OpenCalls(Layer):
    """Knows all calls under way: in a drain they finish, and new ones are refused but for health and reflection.

    A client may hold a stream of requests open for as long as it likes, and only the client could end it: it ends as if
    the client had no more to say. The request under way is answered first: what is broken off is the wait for the next
    one. Where one answer is owed to all requests together, half of them deserve none, and the call is refused.
    """

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

    def around(self, method: str, handler: Any) -> Around:
        """A call that is counted, or refused; a stream of requests comes from one that can end."""
        counted: Around = nullcontext if method.startswith(_ANSWERED_TO_THE_END) else self._counted
        # One answer is owed to all requests together; without all of them there is none.
        ending = StopAsyncIteration if handler.response_streaming else _stopping
        return partial(self._ending_stream, counted, ending) if handler.request_streaming else counted

    @asynccontextmanager
    async def _counted(self, call: Call) -> AsyncIterator[None]:
        if self.begun:
            await refuse(call.context, _stopping(), self._refused)
        self._under_way += 1
        self._finished.clear()
        try:
            yield
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._finished.set()

    @asynccontextmanager
    async def _ending_stream(self, counted: Around, ending: Callable[[], Exception], call: Call) -> AsyncIterator[None]:
        async with counted(call):
            stream = call.requests = _Requests(call.requests, self, ending)
            self._streams.add(stream)
            try:
                yield
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


# Refusals


class Refusing(Layer):
    """Turns whatever a handler of ours raises into a refusal; a cancelled call stays cancelled."""

    def __init__(self, count: Count) -> None:
        """Let `count` hear the reason of every call that is refused."""
        self._count = count

    def around(self, method: str, handler: Any) -> Around:
        """The same guard around all methods."""
        del method, handler
        return self._refusing

    @asynccontextmanager
    async def _refusing(self, call: Call) -> AsyncIterator[None]:
        try:
            yield
        except grpc.aio.AbortError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, its client gets an answer
            await refuse(call.context, error, self._count)
