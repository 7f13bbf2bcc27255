"""`rollbook house`: the bots of a service, started by the service itself. No help lists it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING, Any, Final

from rollbook import processes
from rollbook.cli.exits import Exit

if TYPE_CHECKING:
    from rollbook_clients.bots.company import Company
    from rollbook_clients.sdk import Table

MOST_INSTRUCTIONS_BYTES: Final = 1 << 20


def house() -> int:
    """Keep a public match of each game going at a service, and play where bots are asked to; standard input says where.

    A frame comes in first, a JSON object: `address`, `certificates` (PEM, or null without TLS), `server_name`,
    `pause_seconds` (null: no matches of its own), and `bots`, a list of objects with `name`, `token` and `secret`.
    Then come frames for seats: `match`, `sub`, `strategy` and `bot`, an object as those. Frames go out, a JSON object
    each: `level`, `event` and facts, to be logged, or `over`, the match and `sub` of a seat. When standard input ends,
    what is under way is finished: exit code 0. Exit code 1 if the tokens hold no more, 3 if the service does not
    answer, or the first frame is cut off.
    """
    # gRPC writes lines of its own to standard error, unless it is told before it is imported that nobody reads them.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    processes.end_with_parent()
    return asyncio.run(_run())


async def _run() -> Exit:
    from rollbook_clients.bots.company import Company  # noqa: PLC0415 - see above
    from rollbook_clients.bots.house import House  # noqa: PLC0415 - see above
    from rollbook_clients.sdk import Unauthenticated, Unreachable  # noqa: PLC0415 - see above

    service = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(service), sys.stdin)
    code = Exit.GOOD
    try:
        instructions = json.loads(await processes.receive_frame(service, MOST_INSTRUCTIONS_BYTES))
        company = Company(_say, lambda seat: _write({"over": [seat.match_id, seat.sub]}))
        async with AsyncExitStack() as stack:
            playing = [company.play(), _seats(service, instructions, company)]
            if instructions["pause_seconds"] is not None:
                tables = [await stack.enter_async_context(_table(instructions, bot)) for bot in instructions["bots"]]
                playing.append(House(tables, instructions["pause_seconds"], _say).play())
            await _until_one_ends(playing)
    except* (processes.CutOff, Unreachable):
        code = Exit.UNREADABLE
    except* Unauthenticated:
        code = Exit.WRONG
    return code


def _table(instructions: Mapping[str, Any], bot: Mapping[str, str]) -> Table:
    from rollbook_clients.sdk import connect  # noqa: PLC0415 - see above

    certificates = instructions["certificates"]
    return connect(
        instructions["address"],
        name=bot["name"],
        token=bot["token"],
        secret=bytes.fromhex(bot["secret"]),
        authorities=None if certificates is None else certificates.encode(),
        server_name=instructions["server_name"],
    )


async def _seats(service: asyncio.StreamReader, instructions: Mapping[str, Any], company: Company) -> None:
    """Hear where bots sit, until the service says no more."""
    from rollbook_clients.bots.company import CompanySeat  # noqa: PLC0415 - see above

    with suppress(processes.CutOff):
        while True:
            told = json.loads(await processes.receive_frame(service, MOST_INSTRUCTIONS_BYTES))
            seat = CompanySeat(told["match"], told["sub"], told["strategy"], told["bot"]["name"])
            company.sit(seat, _table(instructions, told["bot"]))


async def _until_one_ends(parts: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Play until one of these ends, and end the others; what they fail with is raised."""
    tasks = {asyncio.create_task(part) for part in parts}
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    for task in tasks:
        if not task.cancelled():
            task.result()


def _say(level: str, event: str, /, **facts: str) -> None:
    _write({"level": level, "event": event} | facts)


def _write(said: Mapping[str, Any]) -> None:
    sys.stdout.buffer.write(processes.frame(json.dumps(said).encode()))
    sys.stdout.buffer.flush()
