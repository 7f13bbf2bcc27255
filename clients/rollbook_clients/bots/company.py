"""Several bots at one service, until they are stopped: each a guest of its own, all in one process."""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress

from rollbook.cli.exits import Exit, worst
from rollbook.match.codec.moves import Unreadable
from rollbook.rules.refusals import Invalid
from rollbook_clients.bots.chooser import StrategyBroken
from rollbook_clients.bots.player import BotTerms, Player, Tell
from rollbook_clients.sdk import NotFound, RollbookError, Unreachable, connect


async def keep_company(  # noqa: PLR0913 - who plays what, where, and who is told
    terms: BotTerms,
    count: int,
    *,
    address: str,
    token: str,
    authorities: bytes | None,
    result: Tell,
    trouble: Tell,
) -> Exit:
    """Let so many bots play until all stop, or the program is told to end; Unreachable if no service answers."""
    finding = asyncio.Lock()
    codes = {Exit.GOOD}

    async def one(number: int) -> None:
        name = f"{terms.strategy.name} {number + 1}"
        try:
            async with connect(address, name=name, token=token, authorities=authorities) as table:
                await Player(number, terms, table, finding, result, trouble).play()
        except Unreachable:
            raise
        except (StrategyBroken, Unreadable, Invalid, RollbookError) as failed:
            trouble(f"{name} stops: {failed}")
            codes.add(Exit.UNREADABLE if isinstance(failed, NotFound) else Exit.WRONG)

    playing = asyncio.gather(*(one(number) for number in range(count)))
    loop = asyncio.get_running_loop()
    for ending in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(ending, playing.cancel)
    with suppress(asyncio.CancelledError):
        await playing
    return worst(codes)
