"""Bots at a service, each a guest of its own: they take free seats, play, and go on to the next match."""

import asyncio
import hashlib
import signal
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

from rollbook.cli.exits import Exit, worst
from rollbook.match.codec.moves import Unreadable
from rollbook.rules.game import Game
from rollbook.rules.options import Options
from rollbook.rules.refusals import Invalid
from rollbook.v1.events_pb2 import Sealed
from rollbook.v1.games_pb2 import Choice
from rollbook.v1.match_pb2 import MATCH_STATE_OPEN
from rollbook_clients.bots.bot import StrategyBroken
from rollbook_clients.bots.catalogue import Named
from rollbook_clients.bots.chooser import Chooser, read_seat
from rollbook_clients.sdk import (
    Match,
    MovedOn,
    NotFound,
    OutcomeUnknown,
    Position,
    Refused,
    RollbookError,
    Table,
    Unreachable,
    connect,
)

TURN_SECONDS: Final = 60
READY_SECONDS: Final = 60
"""Time to get ready in matches that a bot opens, so that a stranger who goes away does not block the match."""

LEAVE_SECONDS: Final = 5
RETRY_SECONDS: Final = 2.0
"""Pause after the service was unreachable or refused a call."""

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class BotTerms:
    """What a bot plays, and how it opens a match if it finds no free seat."""

    game: Game[Any, Any, Any]
    seats: int
    options: Options
    strategy: Named
    seed: int
    match_id: str = ""
    """The one match to play; empty to play any match, one after another."""
    invitation_code: str = ""


@dataclass(slots=True)
class Player:
    """One bot at its table, and the matches that it has played."""

    number: int
    terms: BotTerms
    table: Table
    finding: asyncio.Lock
    """Held during the search for a seat, so that bots started together join the same match."""
    result: Tell
    """Receives a line when a match has ended."""
    trouble: Tell
    """Receives a line for every failure."""
    matches: int = 0
    shunned: set[str] = field(default_factory=set)
    """Matches that could not be joined, or have been played."""

    @property
    def name(self) -> str:
        """The bot's name for other players and for messages."""
        return self.table.name or f"{self.terms.strategy.name} {self.number + 1}"

    async def play(self) -> None:
        """Play one match after another, or the one match of the terms; raises StrategyBroken if the strategy fails."""
        while True:
            try:
                match = await self._sit_down()
                await self._play(match)
            except Refused as refused:
                self.trouble(f"{self.name}: {refused}")
                if self.terms.match_id:
                    raise
                await asyncio.sleep(RETRY_SECONDS)
            except Unreachable as unreachable:
                self.trouble(f"{self.name}: {unreachable}")
                await asyncio.sleep(RETRY_SECONDS)
            else:
                self.matches += 1
                if self.terms.match_id:
                    return

    async def _sit_down(self) -> Match:
        async with self.finding:
            if self.terms.match_id:
                match = self.table.match(self.terms.match_id, self.terms.invitation_code)
                await _join(match)
                return match
            return await self._join_public() or await self._open_match()

    async def _join_public(self) -> Match | None:
        """Join a public match of the game, with any options; returns None if there is no free seat."""
        listed = [summary async for summary in self.table.matches(self.terms.game.name, MATCH_STATE_OPEN)]
        for summary in listed:
            if summary.match_id in self.shunned or summary.ruleset != self.terms.game.version:
                continue
            match = self.table.match(summary.match_id)
            try:
                await _join(match)
            except Refused:
                # Another player was faster.
                self.shunned.add(summary.match_id)
            else:
                return match
        return None

    async def _open_match(self) -> Match:
        terms = self.terms
        match = await self.table.open(
            terms.game.name, terms.seats, terms.options, turn_seconds=TURN_SECONDS, ready_seconds=READY_SECONDS
        )
        await _join(match)
        return match

    async def _play(self, match: Match) -> None:
        self.shunned.add(match.id)
        async with self._giving_up(match):
            await match.ready()
            seat = read_seat(await match.state(), self._seed())
            chooser = await asyncio.to_thread(Chooser, self.terms.strategy, seat)
            async with aclosing(match.play()) as moments:
                async for moment in moments:
                    if moment.legal is not None:
                        choice = await chooser.choose(moment.view, moment.legal)
                        await self._choose(match, choice, moment.position)
                    if moment.sealed is not None:
                        self.result(f"{match.id}  {seat.game.name}  {self.name}: {_ending(moment.sealed, seat.number)}")

    @asynccontextmanager
    async def _giving_up(self, match: Match) -> AsyncIterator[None]:
        """Give the seat up if the bot stops or fails, so that the others need not wait."""
        try:
            yield
        except BaseException:
            await _leave(match)
            raise

    def _seed(self) -> int:
        """A different seed for every bot and match."""
        text = f"rollbook/1/bot/{self.terms.seed}/{self.number}/{self.matches}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")

    async def _choose(self, match: Match, choice: Choice, position: Position) -> None:
        try:
            await match.choose(choice, at=position)
        except (MovedOn, OutcomeUnknown) as late:
            # The next moment of `play` shows whether the choice was in time.
            self.trouble(f"{self.name}: {late}")


async def keep_company(  # noqa: PLR0913 - bots, service and output
    terms: BotTerms,
    count: int,
    *,
    address: str,
    token: str,
    authorities: bytes | None,
    name: str = "",
    result: Tell,
    trouble: Tell,
) -> Exit:
    """Run `count` bots until all stop, or until SIGINT or SIGTERM; raises Unreachable if no service replies."""
    finding = asyncio.Lock()
    codes = {Exit.GOOD}

    async def one(number: int) -> None:
        called = _bot_name(name or terms.strategy.name, number, count, is_named=bool(name))
        try:
            async with connect(address, name=called, token=token, authorities=authorities) as table:
                await Player(number, terms, table, finding, result, trouble).play()
        except Unreachable:
            raise
        except (StrategyBroken, Unreadable, Invalid, RollbookError) as failed:
            if failed.__cause__ is not None:
                # The author of the strategy needs the traceback.
                trouble("".join(traceback.format_exception(failed.__cause__)).rstrip())
            trouble(f"{called} stops: {failed}")
            codes.add(Exit.UNREADABLE if isinstance(failed, NotFound) else Exit.WRONG)

    playing = asyncio.gather(*(one(number) for number in range(count)))
    loop = asyncio.get_running_loop()
    for ending in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(ending, playing.cancel)
    with suppress(asyncio.CancelledError):
        await playing
    return worst(codes)


def _bot_name(name: str, number: int, count: int, *, is_named: bool) -> str:
    """The name of one of several bots.

    >>> [_bot_name("Robo", number, 2, is_named=True) for number in range(2)], _bot_name("Robo", 0, 1, is_named=True)
    (['Robo 1', 'Robo 2'], 'Robo')
    """
    return name if is_named and count == 1 else f"{name} {number + 1}"


async def _join(match: Match) -> None:
    try:
        await match.join()
    except asyncio.CancelledError:
        # The seat may have been taken before the reply arrived.
        await _leave(match)
        raise


async def _leave(match: Match) -> None:
    """Leave the seat, or resign if the seats are closed; if both fail, the clock of the match ends the bot's part."""
    with suppress(TimeoutError, RollbookError):
        async with asyncio.timeout(LEAVE_SECONDS):
            try:
                await match.leave()
            except Refused:
                await match.resign()


def _ending(sealed: Sealed, seat: int) -> str:
    """The result of a match for a seat.

    >>> _ending(Sealed(places=Sealed.Places(places=[2, 1, 3])), 0)
    'place 2 of 3'
    """
    if sealed.HasField("places"):
        return f"place {sealed.places.places[seat]} of {len(sealed.places.places)}"
    return "aborted"
