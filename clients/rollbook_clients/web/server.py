"""The page's own server: listens, says where, and ends without cutting anybody off."""

from __future__ import annotations

import socket
from typing import Final

import uvicorn

from rollbook_clients.web.app import create_app
from rollbook_clients.web.visit import PageOptions

DRAIN_SECONDS: Final = 3
"""For what is under way when the server ends; streams are cut, and browsers come back to another one."""

MOST_CONNECTIONS: Final = 20_000


class AddressTaken(Exception):
    """Somebody else listens there."""


def listening(address: str) -> socket.socket:
    """A socket that listens at host:port."""
    host, _, port = address.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    try:
        return socket.create_server(
            (host, int(port)), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=2_048
        )
    except (OSError, ValueError) as wrong:
        raise AddressTaken(f"{address}: {wrong}") from None


async def serve(
    address: str, service: str, token: str = "", authorities: bytes | None = None, *, is_secure: bool = False
) -> None:
    """Serve the page until a signal says to stop."""
    sock = listening(address)
    host, port = sock.getsockname()[:2]
    print(f"The page is at http://{host}:{port}/", flush=True)  # noqa: T201 - what the command says
    app = create_app(PageOptions(service, token, authorities, is_secure))
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=DRAIN_SECONDS,
        limit_concurrency=MOST_CONNECTIONS,
    )
    await uvicorn.Server(config).serve(sockets=[sock])
