"""What stands around every call, layer upon layer, whichever of gRPC's four kinds it is."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, aclosing
from typing import Any, Final, TypeAlias

import grpc

_KINDS: Final[dict[tuple[bool, bool], tuple[str, Callable[..., Any]]]] = {
    (False, False): ("unary_unary", grpc.unary_unary_rpc_method_handler),
    (False, True): ("unary_stream", grpc.unary_stream_rpc_method_handler),
    (True, False): ("stream_unary", grpc.stream_unary_rpc_method_handler),
    (True, True): ("stream_stream", grpc.stream_stream_rpc_method_handler),
}

Behaviour: TypeAlias = Callable[..., Any]
"""What handles a call: it gets the request or requests and the context."""


def within(around: Callable[[Any, Any], AbstractAsyncContextManager[Any]], behaviour: Behaviour) -> Behaviour:
    """The behaviour inside a context of each call's own, which gives the request or requests to handle."""

    async def once(request: Any, context: Any) -> Any:
        async with around(request, context) as handled:
            return await behaviour(handled, context)

    async def several(request: Any, context: Any) -> AsyncIterator[Any]:
        async with around(request, context) as handled, aclosing(behaviour(handled, context)) as responses:
            async for response in responses:
                yield response

    return several if inspect.isasyncgenfunction(behaviour) else once


class Layer:
    """Something around the behaviour of methods."""

    def around(self, method: str, behaviour: Behaviour, *, streams_requests: bool) -> Behaviour:
        """The behaviour with this around it, in the same shape: gRPC looks at whether it is a generator."""
        del method, streams_requests
        return behaviour

    def unknown(self, method: str) -> None:
        """Somebody has called a method that there is none of."""


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
        for layer in reversed(self._layers):
            behaviour = layer.around(method, behaviour, streams_requests=bool(handler.request_streaming))
        return make(
            behaviour,
            request_deserializer=handler.request_deserializer,
            response_serializer=handler.response_serializer,
        )
