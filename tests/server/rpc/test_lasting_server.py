"""A gRPC server with many methods: the cost of a call, and the limit on concurrent calls."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any, Self

import grpc
import pytest

from rollbook.server.rpc.lasting_server import lasting_server
from rollbook.server.rpc.layers import Layer

METHODS = 50
CALLS = 20


class Counting(Layer):
    """Counts calls of unknown methods, and fails at the first."""

    def __init__(self) -> None:
        self.unknown_calls = 0

    def unknown(self) -> None:
        """Count one more."""
        self.unknown_calls += 1
        if self.unknown_calls == 1:
            raise OSError("nobody reads this")


class Served:
    """A server that echoes by many methods once `gate` is open, and a channel to it."""

    def __init__(self, most_calls: int) -> None:
        self.gate = asyncio.Event()
        self.entered = asyncio.Semaphore(0)
        self.layer = Counting()
        self._most_calls = most_calls

    async def __aenter__(self) -> Self:
        self._server = lasting_server([self.layer], [], self._most_calls)
        handler: Any = grpc.unary_unary_rpc_method_handler(self._echo, lambda data: data, lambda data: data)
        self._server.add_registered_method_handlers("Test", {f"Echo{number}": handler for number in range(METHODS)})
        port = self._server.add_insecure_port("127.0.0.1:0")
        await self._server.start()
        self._channel = grpc.aio.insecure_channel(f"127.0.0.1:{port}")
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._channel.close()
        await self._server.stop(None)

    def call(self, method: str) -> Any:
        """Begin a call."""
        calling: Any = self._channel.unary_unary(f"/Test/{method}")
        return calling(b"said")

    async def _echo(self, _request: Any, context: Any) -> Any:
        self.entered.release()
        await self.gate.wait()
        await context.abort(grpc.StatusCode.OUT_OF_RANGE, "echoed")


async def code_of(call: Any) -> grpc.StatusCode:
    """The status of a call."""
    with suppress(grpc.aio.AioRpcError):
        await call
    code: grpc.StatusCode = await call.code()
    return code


def test_what_is_more_at_once_is_refused_until_there_is_room_again() -> None:
    """Running calls are not disturbed."""

    async def scenario() -> None:
        async with asyncio.timeout(60), Served(most_calls=3) as served:
            under_way = [asyncio.create_task(code_of(served.call(f"Echo{number}"))) for number in range(3)]
            for _ in under_way:
                await served.entered.acquire()
            assert grpc.StatusCode.RESOURCE_EXHAUSTED == await code_of(served.call("Echo0"))
            served.gate.set()
            assert [grpc.StatusCode.OUT_OF_RANGE] * 3 == await asyncio.gather(*under_way)
            assert grpc.StatusCode.OUT_OF_RANGE == await code_of(served.call("Echo0"))

    asyncio.run(scenario())


def test_no_call_waits_for_all_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop of gRPC itself waits at every call: 50 methods would make a call 50 % slower."""
    waits = 0
    usual = asyncio.wait

    async def noted(*what: Any, **how: Any) -> Any:
        nonlocal waits
        waits += 1
        return await usual(*what, **how)

    async def scenario() -> None:
        async with asyncio.timeout(60), Served(most_calls=100) as served:
            served.gate.set()
            await code_of(served.call("Echo0"))
            before = waits
            for number in range(CALLS):
                assert grpc.StatusCode.OUT_OF_RANGE == await code_of(served.call(f"Echo{number}"))
                assert grpc.StatusCode.UNIMPLEMENTED == await code_of(served.call(f"Else{number}"))
            assert before == waits
            assert served.layer.unknown_calls == CALLS

    monkeypatch.setattr(asyncio, "wait", noted)
    asyncio.run(scenario())
