"""A gRPC server with layers that survives calls with an undecodable method name, and accepts calls cheaply.

grpcio 1.85 accepts all calls in one loop, which waits for all methods again at every call and decodes the method's
name: bytes that are not UTF-8 end this loop and the server. Here every method has its own loop, and gRPC's loop waits
for these loops to end. All methods are registered, so gRPC delivers their calls separately; any other call has an
unknown method and is refused without decoding its name.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, Final

import grpc
from grpc._cython import cygrpc  # type: ignore[attr-defined]  # it has no types

from rollbook.server.rpc.layers import Layer, add_layers

NO_METHOD: Final = ""
"""The name used for calls of unknown methods."""


def lasting_server(layers: Sequence[Layer], options: Sequence[tuple[str, int]], most_calls: int) -> grpc.aio.Server:
    """A gRPC server that accepts only registered methods and at most `most_calls` concurrent calls."""
    server = grpc.aio.server()
    inner: Any = server
    inner._server = _Calls(layers, tuple(options), most_calls)  # noqa: SLF001 - grpcio has no public way
    return server


class _Calls(cygrpc.AioServer):  # type: ignore[misc]  # it has no types
    """Accepts calls in one loop per method."""

    def __init__(self, layers: Sequence[Layer], options: tuple[Any, ...], most_calls: int) -> None:
        super().__init__(asyncio.get_running_loop(), None, (), (), options, None)
        self._layers = layers
        self._handlers: dict[str, Any] = {}
        self._most_calls = most_calls
        self._under_way = set[asyncio.Task[None]]()
        self._refused = set[asyncio.Task[None]]()

    def add_registered_method_handlers(self, method_handlers: Mapping[str, Any]) -> None:
        """Wrap each method in the layers and register it."""
        added = {method: add_layers(method, handler, self._layers) for method, handler in method_handlers.items()}
        self._handlers.update(added)
        super().add_registered_method_handlers(added)

    def _make_request_call_future(self, method: bytes | None) -> asyncio.Future[Any]:
        """Called by gRPC's loop; returns a task that accepts calls of this method, or of unknown methods for None."""
        return asyncio.get_running_loop().create_task(self._take_in(method))

    async def _take_in(self, method: bytes | None) -> None:
        """Start one call after another, until gRPC raises because the server shuts down."""
        loop = asyncio.get_running_loop()
        name = NO_METHOD if method is None else method.decode()
        # The same arguments as in gRPC's own loop.
        resolver = cygrpc._MethodResolver([], self._handlers)  # noqa: SLF001
        handle, schedule = cygrpc._handle_rpc, cygrpc._schedule_rpc_coro  # noqa: SLF001
        while True:
            call = await (self._request_call() if method is None else self._request_registered_call(method))
            is_refused = method is None or len(self._under_way) >= self._most_calls
            handling = handle(name, resolver, (), call, loop, is_refused)
            if method is None:
                handling = self._unknown(handling)
            tasks = self._refused if is_refused else self._under_way
            task = loop.create_task(schedule(handling, call, loop, name))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

    async def _unknown(self, handling: Coroutine[Any, Any, None]) -> None:
        """Report a call of an unknown method to the layers, and end it."""
        try:
            for layer in self._layers:
                layer.unknown()
        finally:
            await handling
