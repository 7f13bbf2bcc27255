"""A TCP proxy on loopback that disturbs its connections as networks do: it cuts, resets, stalls and half-opens them."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from random import Random
from types import TracebackType
from typing import Self

CHUNK = 4_096


class Pair:
    """One connection through the proxy: the client's end and the service's."""

    def __init__(self, client: asyncio.StreamWriter, service: asyncio.StreamWriter) -> None:
        """Start with data flowing in both directions."""
        self.client = client
        self.service = service
        self.flowing = asyncio.Event()
        self.flowing.set()
        self.deaf = False

    def cut(self) -> None:
        """Close both ends in good order, even in the middle of a message."""
        self.client.close()
        self.service.close()

    def reset(self) -> None:
        """Reset both ends, which drops all data under way."""
        for writer in (self.client, self.service):
            end: socket.socket = writer.get_extra_info("socket")
            with suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()

    def half_open(self) -> None:
        """Drop the connection to the service, while the client's end stays open."""
        self.deaf = True
        self.service.close()


class Proxy:
    """Listens on its own port and forwards to the port of a service, which may change."""

    def __init__(self, upstream: int) -> None:
        """`upstream`: the port of the service on loopback."""
        self.upstream = upstream
        self.connections = 0
        self.is_mute = False
        """If true, data from clients passes and data from the service is dropped."""
        self._pairs: set[Pair] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        """Listen."""
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.address = f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        """Cut all connections and stop listening."""
        self._server.close()
        self.each(Pair.cut)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def each(self, harm: Callable[[Pair], None]) -> int:
        """Apply a fault to every connection; returns the number of connections."""
        pairs = tuple(self._pairs)
        for pair in pairs:
            harm(pair)
        return len(pairs)

    async def stall(self, seconds: float) -> None:
        """Hold back all data for a while without losing any."""
        pairs = tuple(self._pairs)
        for pair in pairs:
            pair.flowing.clear()
        await asyncio.sleep(seconds)
        for pair in pairs:
            pair.flowing.set()

    async def _connected(self, reader: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            from_service, service = await asyncio.open_connection("127.0.0.1", self.upstream)
        except OSError:
            client.close()
            return
        pair = Pair(client, service)
        self._pairs.add(pair)
        ways = [
            asyncio.create_task(self._pass_on(pair, reader, service)),
            asyncio.create_task(self._pass_on(pair, from_service, client)),
        ]
        self._tasks.update(ways)
        await asyncio.gather(*ways, return_exceptions=True)
        self._tasks.difference_update(ways)
        self._pairs.discard(pair)
        pair.cut()

    async def _pass_on(self, pair: Pair, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await source.read(CHUNK):
                await pair.flowing.wait()
                if not pair.deaf and not (self.is_mute and sink is pair.client):
                    sink.write(data)
                    await sink.drain()
        if not pair.deaf:
            sink.close()


FAULTS = ("cut", "reset", "stall", "half_open")


async def harass(proxy: Proxy, random: Random, counts: dict[str, int], longest: float) -> None:
    """Apply every fault equally often, at random moments, to all current connections."""
    harms: dict[str, Callable[[Pair], None]] = {"cut": Pair.cut, "reset": Pair.reset, "half_open": Pair.half_open}
    while True:
        for fault in random.sample(FAULTS, len(FAULTS)):
            await asyncio.sleep(random.uniform(0, longest))
            if fault == "stall":
                await proxy.stall(random.uniform(0, longest))
            else:
                proxy.each(harms[fault])
            counts[fault] += 1
