"""A line in the log for every call: method, status, milliseconds, request, match and sequence; never its metadata.

What a handler binds with `structlog.contextvars.bind_contextvars` stands in the line as well. Health checks and
reflection, which come by the minute and say nothing of the service, are told at the level `debug`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final, TypeAlias

import grpc
import structlog

from rollbook.server.rpc.interceptor import Around, Call, Layer
from rollbook.v1.match_pb2 import EventsMade

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

    def around(self, method: str, *, streams_requests: bool, streams_responses: bool) -> Around:
        """The stop-watch around whatever handles a call."""
        del streams_responses
        return partial(self._told, method, streams_requests=streams_requests)

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
        if method.startswith(_QUIET):
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
