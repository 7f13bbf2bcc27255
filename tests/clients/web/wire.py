"""A proxy between browsers and the page, which counts what is on the wire, streams of workers included."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import unquote

REQUEST = re.compile(rb"(?:GET|POST) (\S+) HTTP/1.1\r\n")
BAD_GATEWAY = b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class Wire:
    """The connections through a proxy at `url`."""

    def __init__(self, port: int) -> None:
        self._upstream = port
        self.url = ""
        self.received = 0
        """Bytes that browsers have received."""
        self.paths: list[str] = []
        """The requests, in order."""
        self.is_broken = False
        """Whether streams are answered with 502."""
        self._open: dict[int, str] = {}

    @property
    def streams(self) -> list[str]:
        """The addresses of the open streams."""
        return [path for path in self._open.values() if path.startswith("/stream")]

    def take(self) -> tuple[int, list[str]]:
        """Bytes and requests since the last call."""
        taken = self.received, self.paths
        self.received, self.paths = 0, []
        return taken

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Relay one connection."""
        number = id(writer)
        from_page, to_page = await asyncio.open_connection("127.0.0.1", self._upstream)
        back = asyncio.create_task(self._relay_back(from_page, writer))
        with suppress(OSError):
            while data := await reader.read(1 << 16):
                if found := REQUEST.match(data):
                    self._open[number] = unquote(found[1].decode())
                    self.paths.append(self._open[number])
                    if self.is_broken and found[1].startswith(b"/stream"):
                        writer.write(BAD_GATEWAY)
                        break
                to_page.write(data)
        self._open.pop(number, None)
        to_page.close()
        if self.is_broken:
            writer.close()
        await asyncio.gather(back, return_exceptions=True)

    async def _relay_back(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(1 << 16):
                self.received += len(data)
                writer.write(data)
                await writer.drain()
        writer.close()


@asynccontextmanager
async def wire_to(port: int) -> AsyncIterator[Wire]:
    """Count what browsers exchange with the page at this port."""
    wire = Wire(port)
    server = await asyncio.start_server(wire.serve, "127.0.0.1", 0)
    wire.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield wire
    finally:
        server.close()
