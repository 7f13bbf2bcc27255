"""The HTTP server of the page: listening, logging and graceful shutdown."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable, Coroutine
from typing import Any, Final

import structlog
import uvicorn
from structlog.typing import Processor

from rollbook_clients.web.app import create_app
from rollbook_clients.web.connections import IDLE_SECONDS, BoundedConnection
from rollbook_clients.web.visit import PageOptions

DRAIN_SECONDS: Final = 3
"""Time for running requests to finish at shutdown. Streams are cut, and browsers reconnect to another process."""

MOST_CONNECTIONS: Final = 20_000
MOST_WAITING: Final = 2_048


class AddressTaken(Exception):
    """The address cannot be listened on, for example because another process does."""


def listening(address: str) -> socket.socket:
    """A socket that listens at host:port; raises AddressTaken if that fails."""
    host, _, port = address.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, int(port)), family=family, backlog=MOST_WAITING)
    except (OSError, ValueError) as wrong:
        raise AddressTaken(f"{address}: {wrong}") from None


def address_of(listener: socket.socket) -> str:
    """The URL of the listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


class _Lines:
    """A stream that passes every line to a function."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    def write(self, line: str) -> None:
        """Pass the line on without its line break."""
        self._say(line.rstrip("\n"))

    def flush(self) -> None:
        """Do nothing, as lines are not buffered."""


def log_to(say: Callable[[str], None]) -> None:
    """Pass the log lines of the page and its libraries to `say`: JSON objects with `level`, `event` and facts."""
    shared: list[Processor] = [structlog.processors.add_log_level, structlog.processors.format_exc_info]
    rendered = structlog.processors.JSONRenderer(ensure_ascii=False, default=str)
    lines = _Lines(say)
    structlog.configure(
        processors=[*shared, rendered],
        wrapper_class=structlog.make_filtering_bound_logger("info"),
        logger_factory=structlog.WriteLoggerFactory(lines),  # type: ignore[arg-type]  # it needs write and flush
    )
    handler = logging.StreamHandler(lines)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, rendered],
        )
    )
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)


async def serve(options: PageOptions, listener: socket.socket, until: Coroutine[Any, Any, None] | None = None) -> None:
    """Serve the page until a signal stops it, or until `until` returns."""
    config = uvicorn.Config(
        create_app(options),
        log_config=None,  # `log_to` configures all logs
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=DRAIN_SECONDS,
        limit_concurrency=MOST_CONNECTIONS,
        http=BoundedConnection,
        timeout_keep_alive=IDLE_SECONDS,
        forwarded_allow_ips=["127.0.0.1", "::1", *options.proxies] if options.proxies else None,
    )
    server = uvicorn.Server(config)

    async def stop() -> None:
        if until is not None:
            await until
            server.should_exit = True

    stopping = asyncio.create_task(stop())
    try:
        await server.serve(sockets=[listener])
    finally:
        stopping.cancel()
        await asyncio.gather(stopping, return_exceptions=True)
