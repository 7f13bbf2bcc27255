"""HTTP endpoint for metrics in the format of Prometheus, and for whether the service serves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from http import HTTPStatus
from socket import AF_INET6
from socketserver import ThreadingMixIn
from threading import Thread
from typing import Any, Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

import structlog
from prometheus_client import CollectorRegistry, make_wsgi_app

from rollbook.server.configuration.settings import Listen
from rollbook.server.process.ports import NotListening

METRICS: Final = "/metrics"
HEALTH: Final = "/healthz"
_READS: Final = {"GET", "HEAD"}
_REQUEST_SECONDS: Final = 10.0
"""How long a client may take to send its request."""


@asynccontextmanager
async def expose(registry: CollectorRegistry, serves: Callable[[], bool], address: Listen) -> AsyncIterator[None]:
    """Answer GET of /metrics and /healthz on this address, in separate threads; raises NotListening if that fails.

    /healthz has the status 200 if `serves()` is true, else 503.
    """
    try:
        server = (_ServerOfIPv6 if ":" in address.host else _Server)((address.host, address.port), _Handler)
    except OSError as failure:
        raise NotListening(f"cannot listen on {address} for metrics: {failure.strerror or failure}") from None
    server.set_app(_pages(registry, serves))
    thread = Thread(target=server.serve_forever, name="metrics", daemon=True)
    thread.start()
    try:
        structlog.get_logger().info("metrics", address=str(Listen(address.host, server.server_port)))
        yield
    finally:
        await asyncio.to_thread(server.shutdown)
        server.server_close()
        await asyncio.to_thread(thread.join)


def _pages(registry: CollectorRegistry, serves: Callable[[], bool]) -> Callable[..., Iterable[bytes]]:
    metrics = make_wsgi_app(registry)

    def answer(environment: dict[str, Any], begin: Callable[..., Any]) -> Iterable[bytes]:
        path = environment["PATH_INFO"]
        if path == METRICS and environment["REQUEST_METHOD"] in _READS:
            page: Iterable[bytes] = metrics(environment, begin)
            return page
        status, text = HTTPStatus.NOT_FOUND, f"there are {METRICS} and {HEALTH}\n"
        if path in {METRICS, HEALTH} and environment["REQUEST_METHOD"] not in _READS:
            status, text = HTTPStatus.METHOD_NOT_ALLOWED, "GET\n"
        elif path == HEALTH:
            status, text = (
                (HTTPStatus.OK, "serving\n") if serves() else (HTTPStatus.SERVICE_UNAVAILABLE, "not serving\n")
            )
        begin(f"{status.value} {status.phrase}", [("Content-Type", "text/plain; charset=utf-8")])
        return [text.encode()]

    return answer


class _Handler(WSGIRequestHandler):
    """Answers one connection, without an access log."""

    timeout = _REQUEST_SECONDS

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - inherited name
        pass


class _Server(ThreadingMixIn, WSGIServer):
    """Answers each connection in its own thread."""

    daemon_threads = True


class _ServerOfIPv6(_Server):
    """The same on an IPv6 address."""

    address_family = AF_INET6
