"""The house: bots that keep one public match of each game running, for newcomers to watch.

The bots' entropy is derived from the secrets of their tables, so that a restarted house can continue its matches. The
matches have a clock, which the bots never use up. It ends a match if a stranger took a seat and went away, or if the
house is not started again.
"""

import asyncio
import hashlib
import traceback
from collections.abc import Sequence
from contextlib import aclosing
from typing import Final, Protocol

from rollbook.v1.match_pb2 import MATCH_STATE_GETTING_READY, MATCH_STATE_OPEN, MATCH_STATE_RUNNING, ListGamesResponse
from rollbook_clients.bots import catalogue
from rollbook_clients.bots.house_seat import UnderWay, play_seat
from rollbook_clients.sdk import Match, NotNow, Refused, Table, Unauthenticated, Unreachable

STRATEGY: Final = "random"

SEATS: Final = 3
"""Number of seats, or the nearest that the game allows."""

TURN_SECONDS: Final = 60
READY_SECONDS: Final = 60

PAUSES_BETWEEN_MATCHES: Final = 3
RETRY_SECONDS: Final = 5.0
"""Pause after a failure that the bots have not caused."""

_REQUEST_DIGITS: Final = 32


class Tell(Protocol):
    """Log function of a house."""

    def __call__(self, level: str, event: str, /, **facts: str) -> None:
        """Log an event with its facts."""


class House:
    """Bots at their tables, and a task for each game. The first bot is the host, which opens the matches."""

    def __init__(self, tables: Sequence[Table], pause_seconds: float, tell: Tell) -> None:
        """Play at these tables, with a pause of `pause_seconds` before every choice."""
        self._tables = tables
        self._host = tables[0]
        self._strategy = catalogue.find(STRATEGY)
        self._pause_seconds = pause_seconds
        self._tell = tell
        self._given_up: set[str] = set()
        self._under_way = UnderWay()

    async def play(self) -> None:
        """Play every game of the service until cancelled, then finish running commands."""
        current = {ruleset.game: ruleset for ruleset in reversed(await self._host.games())}
        try:
            async with asyncio.TaskGroup() as games:
                for ruleset in current.values():
                    games.create_task(self._keep_going(ruleset))
        finally:
            await self._under_way.wait_finished()

    async def _keep_going(self, ruleset: ListGamesResponse.Ruleset) -> None:
        game, last = ruleset.game, await self._last(ruleset.game)
        while True:
            try:
                match = await self._find_match(game) or await self._open(ruleset, last)
                last = match.id
                await self._play(match)
                await asyncio.sleep(PAUSES_BETWEEN_MATCHES * self._pause_seconds)
            except* Unauthenticated:
                raise
            except* (Refused, Unreachable) as failures:
                self._tell("warning", "the demo waits", game=game, reason=_reasons(failures))
                await asyncio.sleep(RETRY_SECONDS)
            except* Exception as broken:  # noqa: BLE001 - one broken match must not end the others
                self._given_up.add(last)
                why = "".join(traceback.format_exception(broken))
                self._tell("error", "the demo gives up a match", game=game, match=last, exception=why)
                await asyncio.sleep(RETRY_SECONDS)

    # Matches

    async def _last(self, game: str) -> str:
        """The id of the latest match in which the host had a seat; empty if there is none."""
        async with aclosing(self._host.matches(game, mine=True, player=self._host.name)) as matches:
            async for summary in matches:
                return summary.match_id
        return ""

    async def _find_match(self, game: str) -> Match | None:
        """The oldest unfinished match in which the host has a seat; None if there is none."""
        for state in (MATCH_STATE_OPEN, MATCH_STATE_GETTING_READY, MATCH_STATE_RUNNING):
            mine = [summary.match_id async for summary in self._host.matches(game, state, mine=True)]
            for match_id in reversed(mine):
                if match_id not in self._given_up:
                    return self._host.match(match_id)
        return None

    async def _open(self, ruleset: ListGamesResponse.Ruleset, last: str) -> Match:
        """Open the match after the last one; a restarted house gets the same match, by the same request id."""
        seats = min(max(SEATS, ruleset.fewest_seats), ruleset.most_seats)
        opening = self._host.open(
            ruleset.game,
            seats,
            ruleset=ruleset.ruleset,
            turn_seconds=TURN_SECONDS,
            ready_seconds=READY_SECONDS,
            request_id=request_id(ruleset.game, ruleset.ruleset, seats, last),
        )
        match = await self._under_way.finish(opening)
        self._tell("info", "the demo opens a match", game=ruleset.game, match=match.id)
        return match

    async def _play(self, match: Match) -> None:
        """Take the free seats of the match, and play it to its end."""
        async with asyncio.TaskGroup() as seats:
            for seated in await self._sit_down(match.id):
                seats.create_task(play_seat(seated, self._strategy, self._pause_seconds, self._under_way))

    async def _sit_down(self, match_id: str) -> list[Match]:
        """Take all free seats; returns the match once for each bot that has a seat."""
        seated = []
        for table in self._tables:
            match = table.match(match_id)
            state = await match.state()
            if not state.perspective.HasField("seat"):
                if state.summary.state != MATCH_STATE_OPEN:
                    continue
                try:
                    await self._under_way.finish(match.join())
                except NotNow:
                    # A stranger was faster.
                    continue
            seated.append(match)
        return seated


def request_id(game: str, ruleset: int, seats: int, last: str) -> str:
    """The id of the request that opens the next match; the same for every house of a service."""
    terms = f"{game} {ruleset} {seats} {TURN_SECONDS} {READY_SECONDS} {last}"
    return f"house-{hashlib.sha256(terms.encode()).hexdigest()[:_REQUEST_DIGITS]}"


def _reasons(failures: BaseExceptionGroup[Exception]) -> str:
    """All messages of an exception group in one line.

    >>> _reasons(ExceptionGroup("", [ValueError("no"), ExceptionGroup("", [ValueError("never")])]))
    'no; never'
    """
    each = [_reasons(one) if isinstance(one, BaseExceptionGroup) else str(one) for one in failures.exceptions]
    return "; ".join(each)
