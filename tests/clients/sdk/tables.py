"""Tables for tests: clients of a small real service in this process, or of `rollbook serve` in its own process."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from random import Random
from typing import Any

from rollbook.rules.catalogue import current
from rollbook.v1.games_pb2 import Choice
from rollbook_clients.sdk import Event, Events, Frame, Legal, Made, Match, Patience, Table, connect
from tests.server.feeds.watching import Theatre
from tests.server.serving import Service, started

SEED = int(os.environ.get("ROLLBOOK_SEED", "20"))
PATIENCE_SECONDS = 120
QUICK = Patience(arrival=10.0, answer=5.0, call=40.0, silence=10.0, shortest_pause=0.005, longest_pause=0.1)
GAMES = tuple(current())


def run(scenario: Callable[[Theatre], Awaitable[None]], **how: Any) -> None:
    """Serve a theatre in this process and run the scenario against it."""

    async def main() -> None:
        async with asyncio.timeout(PATIENCE_SECONDS), Theatre(**how).serving() as theatre:
            await scenario(theatre)

    asyncio.run(main())


def address(theatre: Theatre) -> str:
    """The address of a theatre."""
    return f"127.0.0.1:{theatre.port}"


@asynccontextmanager
async def tables(where: Theatre | str, *names: str, **how: Any) -> AsyncIterator[list[Table]]:
    """Open a table for each name: guests at an address, or players with tokens in a theatre."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(table(where, name, **how)) for name in names]


def table(where: Theatre | str, name: str, **how: Any) -> Table:
    """Return one table, not yet opened."""
    how.setdefault("patience", QUICK)
    if isinstance(where, Theatre):
        return connect(how.pop("through", address(where)), token=where.token(name), **how)
    return connect(where, name=name, **how)


@contextmanager
def service(data: Path, port: int = 0) -> Iterator[Service]:
    """`rollbook serve` in a process of its own."""
    flags = {"--data": str(data), "--listen": f"127.0.0.1:{port}", "--durability": "relaxed"}
    with started([sys.executable, "-m", "rollbook", "serve", *chain.from_iterable(flags.items())]) as one:
        yield one


async def seated(players: list[Table], game: str = "cant_stop", **terms: Any) -> list[Match]:
    """Seat all players in a new match; returns each player's handle of it."""
    opened = await players[0].open(game, len(players), **terms)
    matches = [table.match(opened.id, opened.invitation_code) for table in players]
    for match in matches:
        await match.join()
    return matches


async def running(players: list[Table], game: str = "cant_stop", **terms: Any) -> list[Match]:
    """Start a match; returns each player's handle of it."""
    matches = await seated(players, game, **terms)
    await asyncio.gather(*(match.ready() for match in matches))
    return matches


def pick(legal: Legal, random: Random) -> Choice:
    """Return one of the first 50 legal choices; Würfelzoo can have thousands."""
    return next(islice(legal, random.randrange(min(len(legal), 50)), None))


async def play(match: Match, random: Random) -> list[Made]:
    """Play to the end with random choices; returns the events made by each choice."""
    return [await match.choose(pick(moment.legal, random)) async for moment in match.play() if moment.legal]


async def events(match: Match, **how: Any) -> list[Event]:
    """Watch a match to its end; returns its events."""
    return [event async for frame in match.watch(**how) if isinstance(frame, Events) for event in frame.events]


async def until(frames: AsyncIterator[Frame], *kinds: type[Any]) -> list[Frame]:
    """Read frames until these kinds have come in this order; returns all frames read."""
    read: list[Frame] = []
    wanted = list(kinds)
    while wanted:
        frame = await anext(frames)
        read.append(frame)
        if isinstance(frame, wanted[0]):
            wanted.pop(0)
    return read


def told(frames: list[Frame]) -> list[bytes]:
    """The bytes of all events in frames."""
    return [event.data for frame in frames if isinstance(frame, Events) for event in frame.events]


async def turn(matches: list[Match]) -> tuple[Match, Events]:
    """Return the match handle of the player whose turn it is, and the moment with its legal choices."""
    state = await matches[0].state()
    match = matches[state.summary.awaited_seat]
    async for moment in match.play():
        if moment.legal:
            return match, moment
    raise AssertionError("the match is over")


def impatient(**seconds: float) -> Patience:
    """A patience with shorter limits, in seconds."""
    return replace(QUICK, **seconds)
