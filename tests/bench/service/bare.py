"""A bare gRPC server that exchanges bytes: the baseline of the service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import grpc

CHOICE_BYTES = b"." * 200
"""About the size of a request of Choose."""

ANSWER_BYTES = b"." * 600
"""About the size of its answer."""


PLAYED_BYTES = b"." * 54
"""About the size of a Play request, and of its answer with outcomes only."""


class Bare:
    """A server without a service behind it."""

    def __init__(self) -> None:
        self._frame = b""
        self._told = asyncio.Event()

    async def answer(self, _request: bytes, _context: Any) -> bytes:
        """Answer once."""
        return ANSWER_BYTES

    async def chat(self, requests: AsyncIterator[bytes], _context: Any) -> AsyncIterator[bytes]:
        """Answer every request."""
        async for _ in requests:
            yield PLAYED_BYTES

    async def tell(self, _request: bytes, _context: Any) -> AsyncIterator[bytes]:
        """Send every watcher the published bytes."""
        waiting = self._told
        yield b"begin"
        while True:
            await waiting.wait()
            waiting = self._told
            yield self._frame

    def publish(self, frame: bytes) -> None:
        """Send a frame to all watchers."""
        self._frame = frame
        self._told, told = asyncio.Event(), self._told
        told.set()

    async def serve(self, stack: AsyncExitStack) -> str:
        """Start the server; returns its address."""
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
