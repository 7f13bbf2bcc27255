"""What stands around every call, layer upon layer, whichever of gRPC's four kinds it is.

`CallLog` writes a line for every call, `OpenCalls` knows which are under way and lets them finish when the service is
drained, `Refusing` turns what a handler raises into a refusal. `layered` puts them around a method, once for all calls.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from operator import methodcaller
from typing import Any, Final, TypeAlias

import grpc
import structlog
from grpc._cython import cygrpc  # type: ignore[attr-defined]  # it has no types

from rollbook.server.rpc.errors import Count, refuse
from rollbook.server.rpc.request_stream import RequestStream, stopping
from rollbook.v1.match_pb2 import EventsMade

_KINDS: Final[dict[tuple[bool, bool], tuple[str, Callable[..., Any]]]] = {
    (False, False): ("unary_unary", grpc.unary_unary_rpc_method_handler),
    (False, True): ("unary_stream", grpc.unary_stream_rpc_method_handler),
    (True, False): ("stream_unary", grpc.stream_unary_rpc_method_handler),
    (True, True): ("stream_stream", grpc.stream_stream_rpc_method_handler),
}

LONGEST_ID: Final = 64

UNKNOWN_METHOD: Final = "unknown"
"""Stands for every method that there is none of; its name comes from the client, and must not fill anybody's memory."""

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
    """The request, or the `RequestStream` of them."""
    context: Any
    response: Any = None
    """The answer; of a stream of answers the last so far."""


Handler: TypeAlias = Callable[[Call], Awaitable[None]]
"""Handles a call."""


class Layer:
    """Something around calls. It acts at their beginning and their end, and costs their messages nothing."""

    def around(self, method: str, handler: Any, handle: Handler) -> Handler:
        """What handles a call in place of `handle`, which it calls; `handler` is gRPC's, of this method."""
        del method, handler
        return handle

    def unknown(self) -> None:
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


def layered(method: str, handler: Any, layers: Sequence[Layer]) -> Any:
    """What handles a method, in place of gRPC's handler, with layers around it, the first of them outermost."""
    attribute, make = _KINDS[bool(handler.request_streaming), bool(handler.response_streaming)]
    behaviour = getattr(handler, attribute)
    handle = _written(behaviour) if inspect.isasyncgenfunction(behaviour) else _answered(behaviour)
    for layer in reversed(layers):
        handle = layer.around(method, handler, handle)

    async def handled(requests: Any, context: Any) -> Any:
        call = Call(RequestStream(context) if handler.request_streaming else requests, context)
        try:
            await handle(call)
        except cygrpc.ExecuteBatchError:
            # The client disconnected. CallLog has logged that; to gRPC it is an error with a traceback.
            raise asyncio.CancelledError from None
        return None if handler.response_streaming else call.response

    # A request is read by a layer: gRPC has no words for bytes that are none. An answer may be serialised already.
    return make(handled, response_serializer=_SERIALIZED)


# A line in the log


class CallLog(Layer):
    """Tells of every call when it has ended: method, status, milliseconds, match and request, and never its metadata.

    Health checks and reflection, which come by the minute and say nothing of the service, are told at the level
    `debug`, and so are calls that are too many, or of methods that there are none of, which are counted. What is not
    written is not put together. Where only a share of the calls is told, they are evenly spaced among all.
    """

    def __init__(self, measured: Measured, share: float = 1.0) -> None:
        """Write to the log as it is configured now; `measured` hears the method, the status and the seconds as well.

        Of the calls that did not fail for a reason of ours only this share is told.
        """
        self._log: Any = structlog.get_logger().bind()
        self._measured = measured
        self._share = share
        self._owed = 0.0
        """How much of a line there is to be told."""

    def unknown(self) -> None:
        """Tell of a call that nothing handles."""
        # Nothing bounds how many of them come.
        self._log.debug("call", method=UNKNOWN_METHOD, status="UNIMPLEMENTED")
        self._measured(UNKNOWN_METHOD, "UNIMPLEMENTED", 0.0)

    def around(self, method: str, handler: Any, handle: Handler) -> Handler:
        """The stop-watch around whatever handles a call."""
        streams_requests, is_quiet = bool(handler.request_streaming), method.startswith(_QUIET)

        async def timed(call: Call) -> None:
            started = time.perf_counter()
            ending: BaseException | None = None
            try:
                await handle(call)
            except BaseException as error:
                ending = error
                raise
            finally:
                seconds = time.perf_counter() - started
                status = _status(call.context, ending)
                self._measured(method, status, seconds)
                level = _level(is_quiet=is_quiet, status=status)
                if self._log.is_enabled_for(level) and (level > logging.INFO or self._is_sampled()):
                    requests = (call.requests.first, call.requests.last) if streams_requests else (call.requests,)
                    milliseconds = round(seconds * 1_000, 3)
                    facts = _facts(requests, call.response)
                    self._log.log(level, "call", method=method, status=status, milliseconds=milliseconds, **facts)

        return timed

    def _is_sampled(self) -> bool:
        """Whether this call is one of those that are logged."""
        self._owed += self._share
        if self._owed < 1:
            return False
        self._owed -= 1
        return True


def _level(*, is_quiet: bool, status: str) -> int:
    """At which level a call is told of that ended so."""
    if is_quiet or status == _FLOOD:
        return logging.DEBUG
    return logging.ERROR if status in _ALARMING else logging.INFO


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
    if isinstance(ending, asyncio.CancelledError | GeneratorExit | cygrpc.ExecuteBatchError):
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
        self._streams: set[RequestStream] = set()
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

    def around(self, method: str, handler: Any, handle: Handler) -> Handler:
        """A call that is counted, or refused; a stream of requests that can end."""
        if handler.request_streaming:
            handle = self._ending(handle, owes_one_answer=not handler.response_streaming)
        return handle if method.startswith(_ANSWERED_TO_THE_END) else self._counted(handle)

    def _counted(self, handle: Handler) -> Handler:
        async def counted(call: Call) -> None:
            if self.begun:
                await refuse(call.context, stopping(), self._refused)
            self._under_way += 1
            self._finished.clear()
            try:
                await handle(call)
            finally:
                self._under_way -= 1
                if not self._under_way:
                    self._finished.set()

        return counted

    def _ending(self, handle: Handler, *, owes_one_answer: bool) -> Handler:
        async def ending(call: Call) -> None:
            stream = call.requests
            stream.is_needed_whole = owes_one_answer
            if self.begun:
                stream.end()
            self._streams.add(stream)
            try:
                await handle(call)
            finally:
                self._streams.discard(stream)

        return ending


# Refusals


class Refusing(Layer):
    """Turns whatever a handler of ours raises into a refusal; a cancelled call stays cancelled."""

    def __init__(self, count: Count) -> None:
        """Let `count` hear the reason of every call that is refused."""
        self._count = count

    def around(self, method: str, handler: Any, handle: Handler) -> Handler:
        """The same guard around all methods."""
        del method, handler

        async def guarded(call: Call) -> None:
            try:
                await handle(call)
            except (grpc.aio.AbortError, cygrpc.ExecuteBatchError):
                # By the second gRPC says that whoever called is gone.
                raise
            except Exception as error:  # noqa: BLE001 - whatever it is, its client gets an answer
                await refuse(call.context, error, self._count)

        return guarded
