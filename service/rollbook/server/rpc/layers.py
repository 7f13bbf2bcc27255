"""Layers around every call, for all four kinds of gRPC methods.

`CallLog` logs every call, `OpenCalls` counts open calls and lets them finish in a drain, `Refusing` turns exceptions of
handlers into refusals. `add_layers` wraps a method once for all calls.
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

from rollbook.server.log_output import OPERATOR
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
"""The metric label of unknown methods: names sent by clients would fill the memory."""

_QUIET: Final = ("/grpc.health.", "/grpc.reflection.")
_CODES: Final = {code.value[0]: code for code in grpc.StatusCode}
_FLOOD: Final = grpc.StatusCode.RESOURCE_EXHAUSTED.name
_ALARMING: Final = frozenset({"UNKNOWN", "INTERNAL", "DATA_LOSS"})

Measured: TypeAlias = Callable[[str, str, float], None]

_SERIALIZED: Final = methodcaller("SerializeToString")

_ANSWERED_TO_THE_END: Final = "/grpc."
"""Prefix of the methods that gRPC itself defines: health and reflection."""


@dataclass(slots=True)
class Call:
    """One call from start to end."""

    requests: Any
    """The request, or the `RequestStream` of them."""
    context: Any
    response: Any = None
    """The answer; in a stream of answers the latest one."""


Handler: TypeAlias = Callable[[Call], Awaitable[Any]]
"""Handles a call and returns its answer; after a stream of answers the last one."""


class Layer:
    """Wraps calls. It acts at their start and end and adds no cost per message."""

    def around(self, method: str, handler: Any, handle: Handler) -> Handler:
        """The handler that replaces `handle` and calls it; `handler` is gRPC's method handler."""
        del method, handler
        return handle

    def unknown(self) -> None:
        """A client has called an unknown method."""


# What wraps a handler


def _handle_answer(behaviour: Callable[..., Awaitable[Any]]) -> Handler:
    """Handle a method that returns one answer, or writes its answers itself."""
    return lambda call: behaviour(call.requests, call.context)


def _handle_answers(behaviour: Callable[..., AsyncGenerator[Any, None]]) -> Handler:
    """Handle a method that yields its answers; only here each answer is recorded in the call."""

    async def handle(call: Call) -> Any:
        write = call.context.write
        async with aclosing(behaviour(call.requests, call.context)) as responses:
            async for response in responses:
                call.response = response
                await write(response)
        return call.response

    return handle


def add_layers(method: str, handler: Any, layers: Sequence[Layer]) -> Any:
    """A gRPC handler for a method with the layers around it, the first one outermost."""
    attribute, make = _KINDS[bool(handler.request_streaming), bool(handler.response_streaming)]
    behaviour = getattr(handler, attribute)
    handle = _handle_answers(behaviour) if inspect.isasyncgenfunction(behaviour) else _handle_answer(behaviour)
    for layer in reversed(layers):
        handle = layer.around(method, handler, handle)

    async def handle_call(requests: Any, context: Any) -> Any:
        call = Call(RequestStream(context) if handler.request_streaming else requests, context)
        try:
            response = await handle(call)
        except cygrpc.ExecuteBatchError:
            # The client disconnected, which CallLog has logged. gRPC would log it as an error with a traceback.
            raise asyncio.CancelledError from None
        return None if handler.response_streaming else response

    # No request deserializer: the `Reading` layer parses requests and refuses malformed ones. Answers may already be
    # serialised.
    return make(handle_call, response_serializer=_SERIALIZED)


# The call log


class CallLog(Layer):
    """Logs every call at its end: method, status, milliseconds, match and request, but no metadata.

    Health checks and reflection are frequent and uninformative, so they are logged at `debug`, as are rate-limited
    calls and calls of unknown methods. A line below the log level is not formatted. If only a share of calls is logged,
    they are evenly spaced. Calls of operators are always logged, with the operator's subject.
    """

    def __init__(self, measured: Measured, share: float = 1.0) -> None:
        """Log to the current configuration; `measured` is called with the method, the status and the seconds.

        Only `share` of the calls is logged, except calls that failed because of the service.
        """
        self._log: Any = structlog.get_logger().bind()
        self._measured = measured
        self._share = share
        self._owed = 0.0
        """The share of a line accumulated since the last logged call."""

    def unknown(self) -> None:
        """Record a call of an unknown method."""
        # At debug level, because the number of such calls has no limit.
        self._log.debug("call", method=UNKNOWN_METHOD, status="UNIMPLEMENTED")
        self._measured(UNKNOWN_METHOD, "UNIMPLEMENTED", 0.0)

    def around(self, method: str, handler: Any, handle: Handler) -> Handler:
        """Time the call and log it."""
        streams_requests, is_quiet = bool(handler.request_streaming), method.startswith(_QUIET)

        async def measure(call: Call) -> Any:
            started = time.perf_counter()
            operator: dict[str, str] = {}
            OPERATOR.set(operator)
            ending: BaseException | None = None
            try:
                call.response = await handle(call)
            except BaseException as error:
                ending = error
                raise
            finally:
                seconds = time.perf_counter() - started
                status = _status(call.context, ending)
                self._measured(method, status, seconds)
                level = _level(is_quiet=is_quiet, status=status)
                if self._log.is_enabled_for(level) and (level > logging.INFO or operator or self._is_sampled()):
                    requests = (call.requests.first, call.requests.last) if streams_requests else (call.requests,)
                    milliseconds = round(seconds * 1_000, 3)
                    facts = _facts(requests, call.response) | operator
                    self._log.log(level, "call", method=method, status=status, milliseconds=milliseconds, **facts)
            return call.response

        return measure

    def _is_sampled(self) -> bool:
        """Whether this call is in the share of logged calls."""
        self._owed += self._share
        if self._owed < 1:
            return False
        self._owed -= 1
        return True


def _level(*, is_quiet: bool, status: str) -> int:
    """The log level for a call with this status."""
    if is_quiet or status == _FLOOD:
        return logging.DEBUG
    return logging.ERROR if status in _ALARMING else logging.INFO


def _facts(requests: Iterable[Any], response: Any) -> dict[str, Any]:
    """The match id, the request id and the last sequence of a call, for the log."""
    facts: dict[str, Any] = {}
    for request in requests:
        for fact, field in (("match", "match_id"), ("request", "request_id")):
            value = getattr(request, field, None)
            if isinstance(value, str) and value:
                facts[fact] = _loggable(value, LONGEST_ID)
    match_id = getattr(response, "match_id", "")
    if match_id:
        facts["match"] = _loggable(match_id, LONGEST_ID)
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


def _loggable(text: str, longest: int) -> str:
    """A client's text if it looks like an id; other texts could forge log entries."""
    sound = len(text) <= longest and text.isascii() and text.isprintable()
    return text if sound else "[malformed]"


# Open calls


class OpenCalls(Layer):
    """Counts open calls: in a drain they finish, and new ones are refused except health and reflection.

    A client can keep a stream of requests open for any time. In a drain the stream ends for the handler as if the
    client had closed it, after the current request is answered. A method that returns one answer for the whole stream
    is refused instead, as its requests are incomplete.
    """

    def __init__(self, refused: Count) -> None:
        """Call `refused` with the reason of every call that comes after the drain has begun."""
        self._refused = refused
        self._streams: set[RequestStream] = set()
        self._under_way = 0
        self._finished = asyncio.Event()
        self._finished.set()
        self.begun = False

    def drain(self) -> None:
        """Refuse new calls, and end every stream of requests once its current request is answered."""
        self.begun = True
        for stream in tuple(self._streams):
            stream.end()

    async def wait_finished(self) -> None:
        """Wait until no call is open."""
        await self._finished.wait()

    def around(self, method: str, handler: Any, handle: Handler) -> Handler:
        """Count or refuse the call; make its stream of requests endable."""
        if handler.request_streaming:
            handle = self._ending(handle, owes_one_answer=not handler.response_streaming)
        return handle if method.startswith(_ANSWERED_TO_THE_END) else self._count_call(handle)

    def _count_call(self, handle: Handler) -> Handler:
        async def count_one(call: Call) -> Any:
            if self.begun:
                await refuse(call.context, stopping(), self._refused)
            self._under_way += 1
            self._finished.clear()
            try:
                return await handle(call)
            finally:
                self._under_way -= 1
                if not self._under_way:
                    self._finished.set()

        return count_one

    def _ending(self, handle: Handler, *, owes_one_answer: bool) -> Handler:
        async def ending(call: Call) -> Any:
            stream = call.requests
            stream.is_needed_whole = owes_one_answer
            if self.begun:
                stream.end()
            self._streams.add(stream)
            try:
                return await handle(call)
            finally:
                self._streams.discard(stream)

        return ending


# Refusals


class Refusing(Layer):
    """Turns exceptions of handlers into refusals; a cancelled call stays cancelled."""

    def __init__(self, count: Count) -> None:
        """Call `count` with the reason of every refused call."""
        self._count = count

    def around(self, method: str, handler: Any, handle: Handler) -> Handler:
        """Wrap every method in the same way."""
        del method, handler

        async def guard(call: Call) -> Any:
            try:
                return await handle(call)
            except (grpc.aio.AbortError, cygrpc.ExecuteBatchError):
                # ExecuteBatchError means that the client has gone.
                raise
            except Exception as error:  # noqa: BLE001 - every exception becomes an answer
                await refuse(call.context, error, self._count)

        return guard
