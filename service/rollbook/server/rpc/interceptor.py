"""What stands around every call, layer upon layer, whichever of gRPC's four kinds it is."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import grpc

_KINDS: Final[dict[tuple[bool, bool], tuple[str, Callable[..., Any]]]] = {
    (False, False): ("unary_unary", grpc.unary_unary_rpc_method_handler),
    (False, True): ("unary_stream", grpc.unary_stream_rpc_method_handler),
    (True, False): ("stream_unary", grpc.stream_unary_rpc_method_handler),
    (True, True): ("stream_stream", grpc.stream_stream_rpc_method_handler),
}


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

    def around(self, method: str, *, streams_requests: bool, streams_responses: bool) -> Around:
        """What stands around each call of this method; nothing unless a layer says so."""
        del method, streams_requests, streams_responses
        return nullcontext

    def unknown(self, method: str) -> None:
        """Somebody has called a method that there is none of."""


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
        streams = {"streams_requests": handler.request_streaming, "streams_responses": handler.response_streaming}
        attribute, make = _KINDS[bool(handler.request_streaming), bool(handler.response_streaming)]
        behaviour = getattr(handler, attribute)
        handle = _written(behaviour) if inspect.isasyncgenfunction(behaviour) else _answered(behaviour)
        for layer in reversed(self._layers):
            handle = _within(layer.around(method, **streams), handle)

        async def handled(requests: Any, context: Any) -> Any:
            call = Call(requests, context)
            await handle(call)
            return None if handler.response_streaming else call.response

        return make(
            handled,
            request_deserializer=handler.request_deserializer,
            response_serializer=handler.response_serializer,
        )
