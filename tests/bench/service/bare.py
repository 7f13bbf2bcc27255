"""What gRPC does by itself: bytes in, bytes out. Everything that the service is measured beside."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import grpc

CHOICE_BYTES = b"." * 200
"""About what is sent to choose."""

ANSWER_BYTES = b"." * 600
"""About what that is answered with."""


PLAYED_BYTES = b"." * 54
"""About what is sent on a stream of Play, and what that is answered with, if outcomes do."""


class Bare:
    """A server with nothing behind it."""

    def __init__(self) -> None:
        self._frame = b""
        self._told = asyncio.Event()

    async def answer(self, _request: bytes, _context: Any) -> bytes:
        """Answer once."""
        return ANSWER_BYTES

    async def chat(self, requests: AsyncIterator[bytes], _context: Any) -> AsyncIterator[bytes]:
        """Answer again and again."""
        async for _ in requests:
            yield PLAYED_BYTES

    async def tell(self, _request: bytes, _context: Any) -> AsyncIterator[bytes]:
        """Tell every watcher the same bytes, whenever there are any."""
        waiting = self._told
        yield b"begin"
        while True:
            await waiting.wait()
            waiting = self._told
            yield self._frame

    def publish(self, frame: bytes) -> None:
        """Tell everybody."""
        self._frame = frame
        self._told, told = asyncio.Event(), self._told
        told.set()

    async def serve(self, stack: AsyncExitStack) -> str:
        """Where the server is."""
        server = grpc.aio.server()
        methods: dict[str, Any] = {
            "Answer": grpc.unary_unary_rpc_method_handler(self.answer),
            "Chat": grpc.stream_stream_rpc_method_handler(self.chat),
            "Tell": grpc.unary_stream_rpc_method_handler(self.tell),
        }
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("Bare", methods),))
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        stack.push_async_callback(server.stop, None)
        return f"127.0.0.1:{port}"
