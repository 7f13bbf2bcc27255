"""A line in the log for every call: method, status, milliseconds, request, match and sequence; never its metadata.

What a handler binds with `structlog.contextvars.bind_contextvars` stands in the line as well. Health checks and
reflection, which come by the minute and say nothing of the service, are told at the level `debug`.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any, Final, TypeAlias

import grpc
import structlog

from rollbook.server.rpc.interceptor import Behaviour, Layer

LONGEST_ID: Final = 64
LONGEST_METHOD: Final = 200

UNKNOWN_METHOD: Final = "unknown"
"""Stands for every method that there is none of where calls are measured."""

_QUIET: Final = ("/grpc.health.", "/grpc.reflection.")
_CODES: Final = {code.value[0]: code for code in grpc.StatusCode}
_ALARMING: Final = frozenset({"UNKNOWN", "INTERNAL", "DATA_LOSS"})

Measured: TypeAlias = Callable[[str, str, float], None]


class CallLog(Layer):
    """Tells of every call when it has ended, however it ended."""

    def __init__(self, measured: Measured) -> None:
        """Write to the log as it is configured now; `measured` hears the method, the status and the seconds as well."""
        self._log: Any = structlog.get_logger()
        self._measured = measured

    def unknown(self, method: str) -> None:
        """Tell of a call that nothing handles."""
        self._log.info("call", method=_shown(method, LONGEST_METHOD), status="UNIMPLEMENTED")
        # Its name comes from the client, and must not fill anybody's memory.
        self._measured(UNKNOWN_METHOD, "UNIMPLEMENTED", 0.0)

    def around(self, method: str, behaviour: Behaviour, *, streams_requests: bool) -> Behaviour:
        """The stop-watch around whatever handles a call."""
        del streams_requests

        async def once(request: Any, context: Any) -> Any:
            call = _Call(self._log, self._measured, method, context)
            try:
                response = await behaviour(call.noting(request), context)
                call.note_answer(response)
            except BaseException as ending:
                call.tell(ending)
                raise
            call.tell(None)
            return response

        async def several(request: Any, context: Any) -> AsyncIterator[Any]:
            call = _Call(self._log, self._measured, method, context)
            try:
                async with aclosing(behaviour(call.noting(request), context)) as responses:
                    async for response in responses:
                        call.note_answer(response)
                        yield response
            except BaseException as ending:
                call.tell(ending)
                raise
            call.tell(None)

        return several if inspect.isasyncgenfunction(behaviour) else once


class _Call:
    """One call under way."""

    def __init__(self, log: Any, measured: Measured, method: str, context: Any) -> None:
        self._log = log
        self._measured = measured
        self._method = method
        self._context = context
        self._started = time.perf_counter()
        self._facts: dict[str, Any] = {}
        structlog.contextvars.clear_contextvars()

    def noting(self, request: Any) -> Any:
        """The request or requests, looked at in passing."""
        if hasattr(request, "__aiter__"):
            return _Noted(request, self._note_request)
        self._note_request(request)
        return request

    def _note_request(self, request: Any) -> None:
        for fact, field in (("match", "match_id"), ("request", "request_id")):
            value = getattr(request, field, None)
            if isinstance(value, str) and value:
                self._facts[fact] = _shown(value, LONGEST_ID)

    def note_answer(self, response: Any) -> None:
        """See in which match the call got to which sequence."""
        descriptor = getattr(response, "DESCRIPTOR", None)
        if descriptor is None:
            return
        fields = descriptor.fields_by_name
        match_id = getattr(response, "match_id", "") if "match_id" in fields else ""
        if match_id:
            self._facts["match"] = _shown(match_id, LONGEST_ID)
        if "made" in fields and response.HasField("made") and "last" in response.made.DESCRIPTOR.fields_by_name:
            self._facts["sequence"] = response.made.last

    def tell(self, ending: BaseException | None) -> None:
        """Write the line."""
        status = self._status(ending)
        tell = self._log.info
        if self._method.startswith(_QUIET):
            tell = self._log.debug
        elif status in _ALARMING:
            tell = self._log.error
        seconds = time.perf_counter() - self._started
        self._measured(self._method, status, seconds)
        milliseconds = round(seconds * 1_000, 3)
        tell("call", method=self._method, status=status, milliseconds=milliseconds, **self._facts)

    def _status(self, ending: BaseException | None) -> str:
        told = self._context.code()
        code = told if isinstance(told, grpc.StatusCode) else _CODES.get(told or 0, grpc.StatusCode.UNKNOWN)
        if code is not grpc.StatusCode.OK or ending is None:
            return code.name
        if isinstance(ending, asyncio.CancelledError | GeneratorExit):
            return grpc.StatusCode.CANCELLED.name
        return grpc.StatusCode.UNKNOWN.name


class _Noted:
    """A stream of requests, each of which is looked at in passing."""

    def __init__(self, requests: AsyncIterator[Any], note: Callable[[Any], None]) -> None:
        self._requests = aiter(requests)
        self._note = note

    def __aiter__(self) -> _Noted:
        return self

    async def __anext__(self) -> Any:
        request = await anext(self._requests)
        self._note(request)
        return request


def _shown(text: str, longest: int) -> str:
    """What a client sent, if it is such as ids are; anything else could be made to mislead who reads the log."""
    sound = len(text) <= longest and text.isascii() and text.isprintable()
    return text if sound else "[malformed]"
