"""A gRPC server with layers around its calls, which outlives calls whose method is no text, and takes calls cheaply.

grpcio 1.85 takes all calls in by one loop, which waits for all methods anew at every call, and reads the name of the
method there: bytes that are not UTF-8 end this loop, and the server with it. Here every method has a loop of its own,
and gRPC's waits for all of these to end. All methods that there are are registered, and their calls come by themselves:
so whatever else comes is of a method that there is none of, and is answered without a look at its name.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, Final

import grpc
from grpc._cython import cygrpc  # type: ignore[attr-defined]  # it has no types

from rollbook.server.rpc.layers import Layer, layered

NO_METHOD: Final = ""
"""What stands for the name of whatever is none of ours."""


def lasting_server(layers: Sequence[Layer], options: Sequence[tuple[str, int]], most_calls: int) -> grpc.aio.Server:
    """A server whose servicers have to register all their methods; more calls at once are turned away by gRPC."""
    server = grpc.aio.server()
    inner: Any = server
    inner._server = _Calls(layers, tuple(options), most_calls)  # noqa: SLF001 - there is no other place
    return server


class _Calls(cygrpc.AioServer):  # type: ignore[misc]  # it has no types
    """Takes calls in."""

    def __init__(self, layers: Sequence[Layer], options: tuple[Any, ...], most_calls: int) -> None:
        super().__init__(asyncio.get_running_loop(), None, (), (), options, None)
        self._layers = layers
        self._handlers: dict[str, Any] = {}
        self._most_calls = most_calls
        self._under_way = set[asyncio.Task[None]]()
        self._refused = set[asyncio.Task[None]]()

    def add_registered_method_handlers(self, method_handlers: Mapping[str, Any]) -> None:
        """Put the layers around methods, once for each."""
        added = {method: layered(method, handler, self._layers) for method, handler in method_handlers.items()}
        self._handlers.update(added)
        super().add_registered_method_handlers(added)

    def _make_request_call_future(self, method: bytes | None) -> asyncio.Future[Any]:
        """What gRPC's own loop waits for: the end of our loop for this method, or for whatever is none of ours."""
        return asyncio.get_running_loop().create_task(self._take_in(method))

    async def _take_in(self, method: bytes | None) -> None:
        """Begin one call after the other, until gRPC raises, as when the server is shut down."""
        loop = asyncio.get_running_loop()
        name = NO_METHOD if method is None else method.decode()
        # As gRPC's own loop does.
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
        """Let the layers hear of a call that nothing handles, and end it."""
        try:
            for layer in self._layers:
                layer.unknown()
        finally:
            await handling
