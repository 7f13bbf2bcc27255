"""The board: one look at the lobby serves all who watch it, and tells nobody more than they may see."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from rollbook.identity.tokens import OWN_ISSUER, Role, Subject
from rollbook.match.chain import Entry
from rollbook.server.feeds.lobby_board import Board
from rollbook.storage.port import StoreUnavailable
from rollbook.v1.match_pb2 import MATCH_STATE_GETTING_READY, MATCH_STATE_OPEN, MATCH_STATE_RUNNING
from tests.server.talking import World, run
from tests.storage.memory import MemoryLog

SECONDS = 0.01


class Counting:
    """A log that counts how often its lobby and its matches are read, and can be made to fail."""

    def __init__(self) -> None:
        """Nobody has read yet."""
        self.inner = MemoryLog()
        self.lobbies = 0
        self.reads = 0
        self.broken = False

    def __getattr__(self, name: str) -> Any:
        """Everything else is as it is."""
        return getattr(self.inner, name)

    async def lobby_parts(self, parts: Sequence[int]) -> dict[str, bytes]:
        """The lobby, unless it is broken."""
        if self.broken:
            raise StoreUnavailable("gone")
        self.lobbies += 1
        return await self.inner.lobby_parts(parts)

    async def read(self, match_id: str, after: int = 0, limit: int = 1_000) -> list[Entry]:
        """Read, and count."""
        self.reads += 1
        return await self.inner.read(match_id, after, limit)


def somebody(sub: str) -> Subject:
    """A player as their token says."""
    return Subject(OWN_ISSUER, sub, Role.PLAYER, (), sub.capitalize(), 2_000_000_000)


async def looked_at_for_ever(board: Board) -> None:
    """Watch on."""
    while True:
        await board.next_look()


def test_one_look_serves_everybody_who_watches() -> None:
    """A look asks every partition of the store; a thousand watchers must not ask a thousand times."""
    log = Counting()

    async def scenario(world: World) -> None:
        board = world.service.board(SECONDS)
        all_there = asyncio.Barrier(40)

        async def watch() -> int:
            async with board.watched():
                await all_there.wait()
                before = log.lobbies
                for _ in range(5):
                    await board.next_look()
                return log.lobbies - before

        assert {5} == set(await asyncio.gather(*[watch() for _ in range(40)]))
        await board.close()

    run(scenario, log=log)


def test_a_match_that_has_not_changed_is_not_read_again() -> None:
    """Choices change nothing in the lobby, and matches are many."""
    log = Counting()

    async def scenario(world: World) -> None:
        for _ in range(3):
            await world.person("opener").open()
        board = world.service.board(SECONDS)
        async with board.watched():
            before = log.reads
            for _ in range(3):
                await board.next_look()
            assert before == log.reads
            match_id = (await world.person("opener").open()).match_id
            while match_id not in await board.seen_by(somebody("watcher"), ""):
                await board.next_look()
        await board.close()

    run(scenario, log=log)


def test_of_a_match_with_a_delay_only_who_sits_at_it_sees_more() -> None:
    """What is found out once for the public is not told to players instead of what they may see, nor the reverse."""

    async def scenario(world: World) -> None:
        match_id, people = await world.seated(spectator_delay_seconds=60)
        board = world.service.board(SECONDS)
        async with board.watched():
            player, stranger = somebody("p1"), somebody("stranger")
            await world.get_ready(match_id, people)
            await board.next_look()
            await board.next_look()
            states = [(await board.seen_by(who, "cant_stop"))[match_id].state for who in (player, stranger)]
            assert [MATCH_STATE_RUNNING, MATCH_STATE_GETTING_READY] == states
            world.clock.ms += 60_000
            await board.next_look()
            await board.next_look()
            states = [(await board.seen_by(who, "cant_stop"))[match_id].state for who in (player, stranger)]
            assert [MATCH_STATE_RUNNING] * 2 == states
            assert {} == await board.seen_by(player, "raffzahn")
        await board.close()

    run(scenario)


def test_a_private_match_is_not_on_the_board() -> None:
    """Not even for whoever has a seat at it: the lobby is what everybody may know of."""

    async def scenario(world: World) -> None:
        shown = (await world.person("p0").open()).match_id
        hidden, _ = await world.seated(is_private=True)
        board = world.service.board(SECONDS)
        async with board.watched():
            seen = await board.seen_by(somebody("p0"), "")
            assert hidden not in seen
            assert MATCH_STATE_OPEN == seen[shown].state
        await board.close()

    run(scenario)


def test_who_watches_is_told_that_the_store_is_gone_and_may_come_back() -> None:
    """Silence would look like a lobby in which nothing happens."""
    log = Counting()

    async def scenario(world: World) -> None:
        board = world.service.board(SECONDS)
        async with board.watched():
            log.broken = True
            for _ in range(2):
                with pytest.raises(StoreUnavailable):
                    await looked_at_for_ever(board)
        log.broken = False
        match_id, _ = await world.started()
        async with board.watched():
            await board.next_look()
            assert MATCH_STATE_RUNNING == (await board.seen_by(somebody("x"), ""))[match_id].state
        await board.close()

    run(scenario, log=log)
