"""Limits for the methods of gRPC itself, health and reflection, which need no token."""

from __future__ import annotations

from typing import Any, Final

from rollbook.server.access.limits import Held, Strangers, is_remote
from rollbook.server.rpc.layers import Call, Handler, Layer

OPEN: Final = "/grpc."
"""How the names of these methods begin."""


class LimitedOpenMethods(Layer):
    """Counts calls of health and reflection by address, like other calls without a token.

    A stream of requests counts each of them, and an address may have only some streams open. Calls from this machine
    that no proxy has forwarded are free, because a supervisor must see the health of a service that is attacked.
    """

    def __init__(self, strangers: Strangers, streams: Held) -> None:
        """`streams` limits how many streams an address may have open."""
        self._strangers = strangers
        self._streams = streams

    def around(self, method: str, handler: Any, handle: Handler) -> Handler:
        """Limit the calls of an open method."""
        if not method.startswith(OPEN):
            return handle

        async def limit(call: Call) -> Any:
            if not is_remote(call.context):
                return await handle(call)
            self._strangers.count(call.context)
            if handler.request_streaming:
                self._limit_requests(call)
            if not handler.response_streaming:
                return await handle(call)
            with self._streams.by(self._strangers.addresses.of(call.context)):
                return await handle(call)

        return limit

    def _limit_requests(self, call: Call) -> None:
        parse = call.requests.parse

        def count(data: bytes) -> Any:
            self._strangers.count(call.context)
            return parse(data)

        call.requests.parse = count
