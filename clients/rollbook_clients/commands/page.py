"""`rollbook page`: runs the web page of a service. The service itself starts it; no help lists it."""

from __future__ import annotations

import asyncio
import json
import socket
from typing import Final

from rollbook import processes
from rollbook.cli.exits import Exit

RENEWED_AT: Final = 0.9
"""Fraction of its token's lifetime after which the page ends, so that the service restarts it with a new token."""


def page() -> int:
    """Serve the page of a service, with the settings on standard input.

    One frame comes in, a JSON object: `address`, `certificates` (PEM, or null without TLS), `server_name`, `listener`
    (the number of a socket that listens already), `token` (of the role gateway), `seconds` (how long it holds), `hosts`
    (the names under which browsers may reach the page), `https` (whether they reach it by https) and `proxies` (the
    networks of proxies whose reports of a browser's address and scheme are believed, besides this machine).
    Frames go out, a JSON object each: `level`, `event` and facts, to be logged. When standard input ends, what is under
    way is finished: exit code 0. Exit code 3 if the frame is cut off.
    """
    return asyncio.run(_run())


async def _run() -> Exit:
    from rollbook_clients.web import server  # noqa: PLC0415 - only needed to serve
    from rollbook_clients.web.hosts import Hosts  # noqa: PLC0415 - as above
    from rollbook_clients.web.visit import PageOptions  # noqa: PLC0415 - as above

    service = await processes.ParentService.connect()
    server.log_to(lambda line: service.send(json.loads(line)))
    try:
        told = await service.receive()
    except processes.CutOff:
        return Exit.UNREADABLE
    certificates = told["certificates"]
    options = PageOptions(
        told["address"],
        told["token"],
        None if certificates is None else certificates.encode(),
        told["server_name"],
        Hosts(tuple(told["hosts"]), told["https"]),
        tuple(told["proxies"]),
    )
    listener = socket.socket(fileno=told["listener"])
    serving = asyncio.create_task(server.serve(options, listener, until=_end(service, told["seconds"] * RENEWED_AT)))
    await serving
    return Exit.GOOD


async def _end(service: processes.ParentService, seconds: float) -> None:
    """Wait until the service closes the connection, or for this number of seconds."""
    try:
        async with asyncio.timeout(seconds):
            await service.until_closed()
    except TimeoutError:
        return
