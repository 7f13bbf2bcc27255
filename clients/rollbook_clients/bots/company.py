"""Company: bots of the house at the tables of others, who asked for them."""

import asyncio
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from rollbook_clients.bots import catalogue
from rollbook_clients.bots.house import Tell
from rollbook_clients.bots.house_seat import UnderWay, play_seat
from rollbook_clients.sdk import Refused, RollbookError, Table, Unauthenticated, Unreachable

PAUSE_SECONDS: Final = 0.3
"""Before every choice, so that people see what happens."""


@dataclass(frozen=True, slots=True)
class CompanySeat:
    """Where a bot sits that somebody asked for."""

    match_id: str
    sub: str
    """Who it is, for whoever started this process."""
    strategy: str
    name: str


class Company:
    """The bots that sit at tables of others, each in a task of its own."""

    def __init__(self, tell: Tell, over: Callable[[CompanySeat], None], pause_seconds: float = PAUSE_SECONDS) -> None:
        """Say what happens, and which seats are over."""
        self._tell = tell
        self._over = over
        self._pause_seconds = pause_seconds
        self._under_way = UnderWay()
        self._playing: set[asyncio.Task[None]] = set()
        self._dismissed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def sit(self, seat: CompanySeat, table: Table) -> None:
        """Play here from now on, at this table, which nobody has entered yet."""
        task = asyncio.create_task(self._play(seat, table))
        self._playing.add(task)
        task.add_done_callback(self._playing.discard)

    async def play(self) -> None:
        """Go on until it is cancelled, and finish what is under way; Unauthenticated once a token holds no more."""
        try:
            await self._dismissed
        finally:
            for task in self._playing:
                task.cancel()
            await asyncio.gather(*self._playing, return_exceptions=True)
            await self._under_way.finished()

    async def _play(self, seat: CompanySeat, table: Table) -> None:
        try:
            async with table:
                await self._play_at(seat, table)
        except (Unauthenticated, Unreachable) as ends:
            # Whoever started this process starts it again, and tells it of this seat.
            if not self._dismissed.done():
                self._dismissed.set_exception(ends)
        else:
            self._over(seat)

    async def _play_at(self, seat: CompanySeat, table: Table) -> None:
        """Play to the end; a bot that breaks gives up, so that nobody waits for it."""
        match = table.match(seat.match_id)
        try:
            await play_seat(match, catalogue.find(seat.strategy), self._pause_seconds, self._under_way)
        except (Unauthenticated, Unreachable):
            raise
        except Refused as refused:
            # It was freed, or the match withdrawn.
            self._tell("info", "a bot has left its seat", match=seat.match_id, bot=seat.name, reason=str(refused))
        except Exception as broken:  # noqa: BLE001 - one broken bot must not end the others
            why = "".join(traceback.format_exception(broken))
            self._tell("error", "a bot gives up its seat", match=seat.match_id, bot=seat.name, exception=why)
            with suppress(RollbookError):
                await match.resign()
