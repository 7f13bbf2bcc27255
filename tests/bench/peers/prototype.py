"""A service without rules, as a baseline; its argument is the port of a store.

It has gRPC's server, one connection to the store for all appends, batched as they arrive, and a task for each feed. A
choice is answered and fed once its event is stored; requests, answers, frames and events have the sizes of the
service's. Nothing is checked, decided, signed or logged.
"""

from __future__ import annotations

import asyncio
import sys
from collections import defaultdict, deque
from typing import Any, Final

import grpc
import hiredis

ANSWER: Final = b"." * 49
FRAME: Final = b"." * 396
EVENT: Final = b"." * 180


class Store:
    """A connection that sends pending appends together."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """`reader`, `writer`: the connection."""
        self._reader = reader
        self._writer = writer
        self._replies: Any = hiredis.Reader()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._batch: list[bytes] = []

    async def append(self, match: bytes, number: int) -> None:
        """Append an event; returns once it is stored."""
        if not self._batch:
            asyncio.get_running_loop().call_soon(self._send)
        command: Any = (b"XADD", b"match-" + match.hex().encode(), b"0-%d" % number, b"e", EVENT)
        self._batch.append(hiredis.pack_command(command))
        added = asyncio.get_running_loop().create_future()
        self._waiting.append(added)
        await added

    def _send(self) -> None:
        self._writer.write(b"".join(self._batch))
        self._batch.clear()

    async def listen(self) -> None:
        """Read the answers, which come in order."""
        while data := await self._reader.read(2**18):
            self._replies.feed(data)
            while (reply := self._replies.gets()) is not False:
                added = self._waiting.popleft()
                if isinstance(reply, Exception):
                    added.set_exception(reply)
                else:
                    added.set_result(None)


class Feed:
    """The pending frames of one watcher."""

    def __init__(self) -> None:
        """Start empty."""
        self._frames: deque[bytes] = deque()
        self._told = asyncio.Event()

    def tell(self, frame: bytes) -> None:
        """Add a frame."""
        self._frames.append(frame)
        self._told.set()

    async def write(self, context: Any) -> None:
        """Send the frames as they come, for ever."""
        while True:
            await self._told.wait()
            self._told.clear()
            while self._frames:
                await context.write(self._frames.popleft())


class Prototype:
    """The servicer."""

    def __init__(self, store: Store) -> None:
        """`store`: the target of appends."""
        self._store = store
        self._sequences: dict[bytes, int] = defaultdict(int)
        self._feeds: dict[bytes, list[Feed]] = defaultdict(list)

    async def play(self, _requests: Any, context: Any) -> None:
        """Append each choice, answer it, and send it to the watchers."""
        while (request := await context.read()) is not grpc.aio.EOF:
            match = request[:4]
            self._sequences[match] += 1
            number = self._sequences[match]
            await self._store.append(match, number)
            head = number.to_bytes(4, "big")
            for feed in self._feeds[match]:
                feed.tell(head + FRAME)
            await context.write(head + ANSWER)

    async def watch(self, request: bytes, context: Any) -> None:
        """Watch a match from now on."""
        feed = Feed()
        self._feeds[request].append(feed)
        feed.tell(bytes(4))
        await feed.write(context)


async def main() -> None:
    """Serve, and print the port."""
    store = Store(*await asyncio.open_connection("127.0.0.1", int(sys.argv[1])))
    listening = asyncio.create_task(store.listen())
    prototype = Prototype(store)
    methods: dict[str, Any] = {
        "Play": grpc.stream_stream_rpc_method_handler(prototype.play),
        "Watch": grpc.unary_stream_rpc_method_handler(prototype.watch),
    }
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("Prototype", methods),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(f"127.0.0.1:{port}", flush=True)
    await listening


if __name__ == "__main__":
    asyncio.run(main())
