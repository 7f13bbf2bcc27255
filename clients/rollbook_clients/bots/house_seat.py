"""A bot of the house on its seat: it gets ready, and plays to the end of the match."""

import asyncio
import secrets
from collections.abc import Coroutine
from contextlib import aclosing, suppress
from typing import Any, TypeVar

from rollbook_clients.bots.catalogue import Named
from rollbook_clients.bots.chooser import Chooser, read_seat
from rollbook_clients.sdk import Match, MovedOn, NotNow, OutcomeUnknown

T = TypeVar("T")


class UnderWay:
    """Commands that are finished even if whoever asked for them is ended meanwhile."""

    def __init__(self) -> None:
        """Begin with none."""
        self._commands: set[asyncio.Task[Any]] = set()

    async def finish(self, command: Coroutine[Any, Any, T]) -> T:
        """What a command comes to."""
        task = asyncio.create_task(command)
        self._commands.add(task)
        task.add_done_callback(self._commands.discard)
        return await asyncio.shield(task)

    async def finished(self) -> None:
        """Wait for all that there are."""
        await asyncio.gather(*self._commands, return_exceptions=True)


async def play_seat(match: Match, strategy: Named, pause_seconds: float, under_way: UnderWay) -> None:
    """Get ready and play on the seat that this match's client has, with a pause before every choice."""
    state = await match.state()
    seat = read_seat(state, secrets.randbits(64))
    chooser = Chooser(strategy, seat)
    if not state.summary.seats[seat.number].ready:
        # A match that was aborted meanwhile is over, and that is what comes next.
        with suppress(NotNow):
            await match.ready()
    async with aclosing(match.play()) as moments:
        async for moment in moments:
            if moment.legal is not None:
                await asyncio.sleep(pause_seconds)
                choice = await chooser.choose(moment.view, moment.legal)
                # If it was too late, or may have been, the next moment shows it.
                with suppress(MovedOn, OutcomeUnknown):
                    await under_way.finish(match.choose(choice, at=moment.position))
