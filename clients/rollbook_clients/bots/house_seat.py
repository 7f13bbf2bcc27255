"""A bot of the house at its seat: gets ready, and plays to the end of the match."""

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
    """Running commands, which are finished even if the calling task is cancelled."""

    def __init__(self) -> None:
        self._commands: set[asyncio.Task[Any]] = set()

    async def finish(self, command: Coroutine[Any, Any, T]) -> T:
        """Run a command, shielded from cancellation, and return its result."""
        task = asyncio.create_task(command)
        self._commands.add(task)
        task.add_done_callback(self._commands.discard)
        return await asyncio.shield(task)

    async def wait_finished(self) -> None:
        """Wait until all commands have ended."""
        await asyncio.gather(*self._commands, return_exceptions=True)


async def play_seat(match: Match, strategy: Named, pause_seconds: float, under_way: UnderWay) -> None:
    """Get ready and play at the seat of this match's client, with a pause before every choice."""
    state = await match.state()
    seat = read_seat(state, secrets.randbits(64))
    chooser = Chooser(strategy, seat)
    if not state.summary.seats[seat.number].ready:
        # Refused if the match was aborted meanwhile; `play` then ends at once.
        with suppress(NotNow):
            await match.ready()
    async with aclosing(match.play()) as moments:
        async for moment in moments:
            if moment.legal is not None:
                await asyncio.sleep(pause_seconds)
                choice = await chooser.choose(moment.view, moment.legal)
                # If the choice came too late, the next moment of `play` shows it.
                with suppress(MovedOn, OutcomeUnknown):
                    await under_way.finish(match.choose(choice, at=moment.position))
