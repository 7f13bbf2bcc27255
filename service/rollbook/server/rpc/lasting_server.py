"""A gRPC server that outlives calls whose method is no text.

grpcio 1.85 reads the name of the method in the one loop that takes all calls in, and bytes that are not UTF-8 end this
loop, and the server with it. All methods that there are are registered, and their calls come by themselves: so whatever
else comes is of a method that there is none of, and is answered without a look at its name.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

import grpc
from grpc._cython import cygrpc  # type: ignore[attr-defined]  # it has no types

NO_METHOD: Final = "/"
"""What stands for the name in interceptors."""


def lasting_server(interceptors: Sequence[Any], options: Sequence[tuple[str, int]], most_calls: int) -> grpc.aio.Server:
    """A server whose servicers have to register all their methods."""
    server = grpc.aio.server()
    inner: Any = server
    inner._server = _Calls(tuple(interceptors), tuple(options), most_calls)  # noqa: SLF001 - there is no other place
    return server


class _Calls(cygrpc.AioServer):  # type: ignore[misc]  # it has no types
    """Takes calls in."""

    def __init__(self, interceptors: tuple[Any, ...], options: tuple[Any, ...], most_calls: int) -> None:
        super().__init__(asyncio.get_running_loop(), None, (), interceptors, options, most_calls)
        self._around = interceptors
        self._answers = set[asyncio.Task[None]]()

    def _make_request_call_future(self, method: bytes | None) -> asyncio.Future[Any]:
        """The next call of this method; of no method none ever comes."""
        if method is None:
            return asyncio.get_running_loop().create_task(self._refuse_unknown())
        future: asyncio.Future[Any] = super()._make_request_call_future(method)
        return future

    async def _refuse_unknown(self) -> None:
        """Answer calls of methods that there are none of, until gRPC raises, as when the server is shut down."""
        loop = asyncio.get_running_loop()
        nothing = cygrpc._MethodResolver([], {})  # noqa: SLF001 - as gRPC's own loop does
        handle, schedule = cygrpc._handle_rpc, cygrpc._schedule_rpc_coro  # noqa: SLF001 - the same
        while True:
            call = await self._request_call()
            handling = handle(NO_METHOD, nothing, self._around, call, loop, False)  # noqa: FBT003 - not too many
            answer = loop.create_task(schedule(handling, call, loop, NO_METHOD))
            self._answers.add(answer)
            answer.add_done_callback(self._answers.discard)
