"""Where Prometheus finds the numbers of a service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog
from prometheus_client import CollectorRegistry, start_http_server

from rollbook.server.ports import NotListening
from rollbook.server.settings import Listen


@asynccontextmanager
async def exposed(registry: CollectorRegistry, address: Listen) -> AsyncIterator[None]:
    """Answer every GET of /metrics on this address, in threads of its own; NotListening if that cannot be done."""
    try:
        server, thread = start_http_server(address.port, address.host, registry)
    except OSError as failure:
        raise NotListening(f"cannot listen on {address} for metrics: {failure.strerror or failure}") from None
    try:
        structlog.get_logger().info("metrics", address=str(Listen(address.host, server.server_port)))
        yield
    finally:
        await asyncio.to_thread(server.shutdown)
        server.server_close()
        await asyncio.to_thread(thread.join)
