"""`rollbook house`: the bots of a service, started by the service itself. No help lists it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Coroutine, Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Final

from rollbook import processes
from rollbook.cli.exits import Exit

if TYPE_CHECKING:
    from rollbook_clients.sdk import Table

MOST_INSTRUCTIONS_BYTES: Final = 1 << 20


def house() -> int:
    """Keep a public match of each game going at a service, as it says on standard input.

    One frame comes in, a JSON object: `address`, `certificates` (PEM, or null without TLS), `server_name`,
    `pause_seconds`, and `bots`, a list of objects with `name`, `token` and `secret`. Frames go out, a JSON object each:
    `level`, `event` and facts, to be logged. When standard input ends, what is under way is finished: exit code 0. Exit
    code 1 if the tokens hold no more, 3 if the service does not answer at the start, or the frame is cut off.
    """
    # gRPC writes lines of its own to standard error, unless it is told before it is imported that nobody reads them.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    processes.end_with_parent()
    return asyncio.run(_run())


async def _run() -> Exit:
    from rollbook_clients.bots.house import House  # noqa: PLC0415 - see above
    from rollbook_clients.sdk import Unauthenticated, Unreachable  # noqa: PLC0415 - see above

    service = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(service), sys.stdin)
    code = Exit.GOOD
    try:
        instructions = json.loads(await processes.receive_frame(service, MOST_INSTRUCTIONS_BYTES))
        async with AsyncExitStack() as stack:
            tables = [await stack.enter_async_context(table) for table in _tables(instructions)]
            await _until_it_ends(service, House(tables, instructions["pause_seconds"], _say).play())
    except* (processes.CutOff, Unreachable):
        code = Exit.UNREADABLE
    except* Unauthenticated:
        code = Exit.WRONG
    return code


def _tables(instructions: Mapping[str, Any]) -> list[Table]:
    from rollbook_clients.sdk import connect  # noqa: PLC0415 - see above

    certificates = instructions["certificates"]
    return [
        connect(
            instructions["address"],
            name=bot["name"],
            token=bot["token"],
            secret=bytes.fromhex(bot["secret"]),
            authorities=None if certificates is None else certificates.encode(),
            server_name=instructions["server_name"],
        )
        for bot in instructions["bots"]
    ]


async def _until_it_ends(service: asyncio.StreamReader, play: Coroutine[Any, Any, None]) -> None:
    """Play until the service says no more; what playing fails with is raised."""
    playing, ended = asyncio.create_task(play), asyncio.create_task(service.read())
    both: set[asyncio.Task[Any]] = {playing, ended}
    await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    for task in both:
        task.cancel()
    await asyncio.wait(both)
    if not playing.cancelled():
        playing.result()


def _say(level: str, event: str, /, **facts: str) -> None:
    said = {"level": level, "event": event} | facts
    sys.stdout.buffer.write(processes.frame(json.dumps(said).encode()))
    sys.stdout.buffer.flush()
