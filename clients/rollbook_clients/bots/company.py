"""Bots of the house in matches of players who asked for them."""

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
"""Pause before every choice, so that people can follow the match."""


@dataclass(frozen=True, slots=True)
class CompanySeat:
    """A seat for which a player asked for a bot."""

    match_id: str
    sub: str
    """The subject of the bot, as an identifier for the parent process."""
    strategy: str
    name: str


class Company:
    """The bots in matches of players, each in its own task."""

    def __init__(self, tell: Tell, over: Callable[[CompanySeat], None], pause_seconds: float = PAUSE_SECONDS) -> None:
        """`tell` logs what happens; `over` is called for each seat whose bot has finished."""
        self._tell = tell
        self._over = over
        self._pause_seconds = pause_seconds
        self._under_way = UnderWay()
        self._playing: set[asyncio.Task[None]] = set()
        self._dismissed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def sit(self, seat: CompanySeat, table: Table) -> None:
        """Start to play at this seat. The table must not have been entered."""
        task = asyncio.create_task(self._play(seat, table))
        self._playing.add(task)
        task.add_done_callback(self._playing.discard)

    async def play(self) -> None:
        """Run until cancelled or until a bot raises Unauthenticated or Unreachable; then finish running commands."""
        try:
            await self._dismissed
        finally:
            for task in self._playing:
                task.cancel()
            await asyncio.gather(*self._playing, return_exceptions=True)
            await self._under_way.wait_finished()

    async def _play(self, seat: CompanySeat, table: Table) -> None:
        try:
            async with table:
                await self._play_at(seat, table)
        except (Unauthenticated, Unreachable) as ends:
            # The parent process restarts this one and assigns the seat again.
            if not self._dismissed.done():
                self._dismissed.set_exception(ends)
        else:
            self._over(seat)

    async def _play_at(self, seat: CompanySeat, table: Table) -> None:
        """Play to the end of the match; resigns if the bot breaks, so that the others need not wait."""
        match = table.match(seat.match_id)
        try:
            await play_seat(match, catalogue.find(seat.strategy), self._pause_seconds, self._under_way)
        except (Unauthenticated, Unreachable):
            raise
        except Refused as refused:
            # The seat was freed, or the match was withdrawn.
            self._tell("info", "a bot has left its seat", match=seat.match_id, bot=seat.name, reason=str(refused))
        except Exception as broken:  # noqa: BLE001 - one broken bot must not end the others
            why = "".join(traceback.format_exception(broken))
            self._tell("error", "a bot gives up its seat", match=seat.match_id, bot=seat.name, exception=why)
            with suppress(RollbookError):
                await match.resign()
