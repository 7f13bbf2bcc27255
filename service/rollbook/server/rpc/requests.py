"""Parses requests; a client receives a refusal for malformed bytes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import structlog
from google.protobuf.message import DecodeError

from rollbook.server.access.limits import Strangers
from rollbook.server.refusals import Refusal
from rollbook.server.rpc.errors import Count, refuse
from rollbook.server.rpc.layers import Call, Handler, Layer, Measured
from rollbook.server.rpc.request_stream import malformed_error

Read: TypeAlias = Callable[[bytes], Any]


class Reading(Layer):
    """Parses requests; malformed ones are refused with one log line, floods of them without."""

    def __init__(self, strangers: Strangers, measured: Measured, refused: Count) -> None:
        """Limit malformed requests per address; `measured` and `refused` are called for each of them."""
        self._strangers = strangers
        self._measured = measured
        self._refused = refused
        self._log: Any = structlog.get_logger()

    def around(self, method: str, handler: Any, handle: Handler) -> Handler:
        """Parse a single request before the call is handled, requests of a stream one by one."""
        parse: Read = handler.request_deserializer

        def one(call: Call) -> Awaitable[Any]:
            try:
                call.requests = parse(call.requests)
            except DecodeError:
                return self._refuse(method, call.context)
            return handle(call)

        def each(call: Call) -> Awaitable[Any]:
            call.requests.parse = parse
            return handle(call)

        return each if handler.request_streaming else one

    async def _refuse(self, method: str, context: Any) -> None:
        refusal = malformed_error()
        try:
            self._strangers.count(context)
        except Refusal as too_many:
            refusal = too_many
        else:
            self._log.info("malformed request", method=method)
        self._measured(method, refusal.code.name, 0.0)
        await refuse(context, refusal, self._refused)
