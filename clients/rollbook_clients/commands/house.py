"""`rollbook house`: runs the bots of a service. The service itself starts it; no help lists it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING, Any

from rollbook import processes
from rollbook.cli.exits import Exit

if TYPE_CHECKING:
    from rollbook_clients.bots.company import Company
    from rollbook_clients.bots.house import Tell
    from rollbook_clients.sdk import Table


def house() -> int:
    """Keep a public match of each game going, and play where bots are asked to, at the service named on standard input.

    Every frame is a JSON object. The service sends one frame first: `address`, `certificates` (PEM, or null without
    TLS), `server_name`, `pause_seconds` (null: no matches of its own), and `bots`, a list of objects with `name`,
    `token` and `secret`. Each later frame asks for a bot on one seat: `match`, `sub`, `strategy` and `bot`, an object
    like those in `bots`. This process sends log entries, with `level`, `event` and facts, and for a seat that is done
    `over`, the match and `sub` of the seat. When standard input ends, running commands are finished; exit code 0. Exit
    code 1 if a token is no longer valid, 3 if the service does not answer, or the first frame is cut off.
    """
    return asyncio.run(_run())


async def _run() -> Exit:
    from rollbook_clients.bots.company import Company  # noqa: PLC0415 - only needed to play
    from rollbook_clients.bots.house import House  # noqa: PLC0415 - as above
    from rollbook_clients.sdk import Unauthenticated, Unreachable  # noqa: PLC0415 - as above

    service = await processes.ParentService.connect()
    tell = _logged_by(service)
    code = Exit.GOOD
    try:
        instructions = await service.receive()
        company = Company(tell, lambda seat: service.send({"over": [seat.match_id, seat.sub]}))
        async with AsyncExitStack() as stack:
            bots = [] if instructions["pause_seconds"] is None else instructions["bots"]
            tables = [await stack.enter_async_context(_table(instructions, bot)) for bot in bots]
            playing = [company.play(), _seats(service, instructions, company)]
            if tables:
                playing.append(House(tables, instructions["pause_seconds"], tell).play())
            await _until_one_ends(playing)
    except* (processes.CutOff, Unreachable):
        code = Exit.UNREADABLE
    except* Unauthenticated:
        code = Exit.WRONG
    return code


def _table(instructions: Mapping[str, Any], bot: Mapping[str, str]) -> Table:
    from rollbook_clients.sdk import connect  # noqa: PLC0415 - only needed to play

    certificates = instructions["certificates"]
    return connect(
        instructions["address"],
        name=bot["name"],
        token=bot["token"],
        secret=bytes.fromhex(bot["secret"]),
        authorities=None if certificates is None else certificates.encode(),
        server_name=instructions["server_name"],
    )


async def _seats(service: processes.ParentService, instructions: Mapping[str, Any], company: Company) -> None:
    """Start a bot for each seat that the service sends, until the service closes the connection."""
    from rollbook_clients.bots.company import CompanySeat  # noqa: PLC0415 - only needed to play

    with suppress(processes.CutOff):
        while True:
            told = await service.receive()
            seat = CompanySeat(told["match"], told["sub"], told["strategy"], told["bot"]["name"])
            company.sit(seat, _table(instructions, told["bot"]))


async def _until_one_ends(parts: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Run until one of these coroutines ends, then cancel the others; raises their exceptions."""
    tasks = {asyncio.create_task(part) for part in parts}
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    for task in tasks:
        if not task.cancelled():
            task.result()


def _logged_by(service: processes.ParentService) -> Tell:
    def tell(level: str, event: str, /, **facts: str) -> None:
        service.send({"level": level, "event": event} | facts)

    return tell
