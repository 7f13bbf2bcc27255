"""`rollbook page`: the page of a service, started by the service itself. No help lists it."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from typing import Any, Final

from rollbook import processes
from rollbook.cli.exits import Exit

MOST_INSTRUCTIONS_BYTES: Final = 1 << 20
RENEWED_AT: Final = 0.9
"""The part of its token's life after which the page ends, to be started with another one."""


def page() -> int:
    """Serve the page of a service, as it says on standard input.

    One frame comes in, a JSON object: `address`, `certificates` (PEM, or null without TLS), `server_name`, `listener`
    (the number of a socket that listens already), `token` (of the role gateway) and `seconds` (how long it holds).
    Frames go out, a JSON object each: `level`, `event` and facts, to be logged. When standard input ends, what is under
    way is finished: exit code 0. Exit code 3 if the frame is cut off.
    """
    # gRPC writes lines of its own to standard error, unless it is told before it is imported that nobody reads them.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    processes.end_with_parent()
    return asyncio.run(_run())


async def _run() -> Exit:
    from rollbook_clients.web import server  # noqa: PLC0415 - see above
    from rollbook_clients.web.visit import PageOptions  # noqa: PLC0415 - see above

    service = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(service), sys.stdin)
    server.log_to(_say)
    try:
        told: dict[str, Any] = json.loads(await processes.receive_frame(service, MOST_INSTRUCTIONS_BYTES))
    except processes.CutOff:
        return Exit.UNREADABLE
    certificates = told["certificates"]
    options = PageOptions(
        told["address"],
        told["token"],
        None if certificates is None else certificates.encode(),
        told["server_name"],
    )
    listener = socket.socket(fileno=told["listener"])
    serving = asyncio.create_task(server.serve(options, listener, until=_end(service, told["seconds"] * RENEWED_AT)))
    await serving
    return Exit.GOOD


async def _end(service: asyncio.StreamReader, seconds: float) -> None:
    """Wait until the service says no more, or the token becomes old."""
    try:
        async with asyncio.timeout(seconds):
            await service.read()
    except TimeoutError:
        return


def _say(line: str) -> None:
    sys.stdout.buffer.write(processes.frame(line.encode()))
    sys.stdout.buffer.flush()
