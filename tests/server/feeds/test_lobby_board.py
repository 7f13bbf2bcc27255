"""The board: one look at the lobby serves all its watchers, and none receives more than it may see."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from rollbook.identity.tokens import OWN_ISSUER, Role, Subject
from rollbook.match.chain import Entry
from rollbook.server.configuration.limit_table import Limits
from rollbook.server.feeds.lobby_board import COMPARING_LOOKS, HURRIED_LOOKS, MOST_LOOKS, Board, LobbyFilter
from rollbook.server.lobby.listed_match import ListedMatch
from rollbook.storage.port import Announcement, StoreUnavailable
from rollbook.storage.redis.keys import partition_of
from rollbook.v1.match_pb2 import MATCH_STATE_GETTING_READY, MATCH_STATE_OPEN, MATCH_STATE_RUNNING
from tests.server.rpc.talking import World, run
from tests.storage.memory import MemoryLog

SECONDS = 0.01
MANY = Limits(matches_per_subject=1_000, open_matches_per_subject=1_000, requests_at_once=10_000)


class Counting:
    """A log that counts reads of its lobby and its matches, and can be made to fail."""

    def __init__(self) -> None:
        """Begin with zero reads."""
        self.inner = MemoryLog()
        self.lobbies = 0
        self.reads = 0
        self.broken = False

    def __getattr__(self, name: str) -> Any:
        """Delegate everything else."""
        return getattr(self.inner, name)

    async def lobby_parts(self, parts: Sequence[int]) -> dict[str, bytes]:
        """The lobby parts; raises StoreUnavailable while broken."""
        if self.broken:
            raise StoreUnavailable("gone")
        self.lobbies += 1
        return await self.inner.lobby_parts(parts)

    async def read(self, match_id: str, after: int = 0, limit: int = 1_000) -> list[Entry]:
        """Read, and count."""
        self.reads += 1
        return await self.inner.read(match_id, after, limit)


def somebody(sub: str) -> Subject:
    """A player's subject."""
    return Subject(OWN_ISSUER, sub, Role.PLAYER, (), sub.capitalize(), 2_000_000_000)


async def looked_at_for_ever(board: Board) -> None:
    """Look until an exception is raised."""
    while True:
        await board.next_look()


def test_one_look_serves_everybody_who_watches() -> None:
    """A look reads every partition of the store, so a thousand watchers must share it."""
    log = Counting()

    async def scenario(world: World) -> None:
        board = world.service.board(SECONDS)
        all_there = asyncio.Barrier(40)

        async def watch() -> int:
            async with board.watch():
                await all_there.wait()
                before = log.lobbies
                for _ in range(5):
                    await board.next_look()
                return log.lobbies - before

        assert {5} == set(await asyncio.gather(*[watch() for _ in range(40)]))
        await board.close()

    run(scenario, log=log)


def test_a_match_that_has_not_changed_is_not_read_again() -> None:
    """Choices do not change the lobby, and there are many matches."""
    log = Counting()

    async def scenario(world: World) -> None:
        for _ in range(3):
            await world.person("opener").open()
        board = world.service.board(SECONDS)
        async with board.watch():
            before = log.reads
            for _ in range(3):
                await board.next_look()
            assert before == log.reads
            match_id = (await world.person("opener").open()).match_id
            while match_id not in await board.seen_by(LobbyFilter(somebody("watcher"))):
                await board.next_look()
        await board.close()

    run(scenario, log=log)


def test_of_a_match_with_a_delay_only_who_sits_at_it_sees_more() -> None:
    """The cached public summary must not be sent to players, nor theirs to the public."""

    async def scenario(world: World) -> None:
        match_id, people = await world.seated(spectator_delay_seconds=60)
        board = world.service.board(SECONDS)
        async with board.watch():
            player, stranger = somebody("p1"), somebody("stranger")
            await world.get_ready(match_id, people)
            await board.next_look()
            await board.next_look()
            states = [
                (await board.seen_by(LobbyFilter(who, "cant_stop")))[match_id].state for who in (player, stranger)
            ]
            assert [MATCH_STATE_RUNNING, MATCH_STATE_GETTING_READY] == states
            world.clock.ms += 60_000
            await board.next_look()
            await board.next_look()
            states = [
                (await board.seen_by(LobbyFilter(who, "cant_stop")))[match_id].state for who in (player, stranger)
            ]
            assert [MATCH_STATE_RUNNING] * 2 == states
            assert {} == await board.seen_by(LobbyFilter(player, "raffzahn"))
        await board.close()

    run(scenario)


def test_a_private_match_is_shown_only_to_its_players_who_want_their_own() -> None:
    """By default the board shows public matches only, even to the players of a private match."""

    async def scenario(world: World) -> None:
        shown = (await world.person("p0").open()).match_id
        hidden, _ = await world.seated(is_private=True)
        board = world.service.board(SECONDS)
        async with board.watch():
            seen = await board.seen_by(LobbyFilter(somebody("p0")))
            assert hidden not in seen
            assert MATCH_STATE_OPEN == seen[shown].state
            assert {shown, hidden} == set(await board.seen_by(LobbyFilter(somebody("p0"), mine=True)))
            assert {shown} == set(await board.seen_by(LobbyFilter(somebody("stranger"), mine=True)))
            assert not await board.seen_by(LobbyFilter(somebody("p0"), "raffzahn", mine=True))
        await board.close()

    run(scenario)


def test_who_watches_is_told_that_the_store_is_gone_and_may_come_back() -> None:
    """Silence would look like a quiet lobby."""
    log = Counting()

    async def scenario(world: World) -> None:
        board = world.service.board(SECONDS)
        async with board.watch():
            log.broken = True
            for _ in range(2):
                with pytest.raises(StoreUnavailable):
                    await looked_at_for_ever(board)
        log.broken = False
        match_id, _ = await world.started()
        async with board.watch():
            await board.next_look()
            assert MATCH_STATE_RUNNING == (await board.seen_by(LobbyFilter(somebody("x"))))[match_id].state
        await board.close()

    run(scenario, log=log)


class Parted(Counting):
    """A lobby of 64 parts that records what each look reads."""

    parts = 64

    def __init__(self) -> None:
        """Begin without reads; announcements are delivered."""
        super().__init__()
        self.asked: list[str] = []
        self.is_deaf = False

    async def lobby_parts(self, parts: Sequence[int]) -> dict[str, bytes]:
        """The matches of these parts."""
        self.lobbies += 1
        lobby = await self.inner.lobby()
        self.asked += [match_id for match_id in lobby if partition_of(match_id, self.parts) in parts]
        return {match_id: data for match_id, data in lobby.items() if partition_of(match_id, self.parts) in parts}

    async def summaries(self, match_ids: Sequence[str]) -> dict[str, bytes]:
        """The summaries of these matches."""
        self.asked += match_ids
        return await self.inner.summaries(match_ids)

    async def listen(self, heard: Callable[[Announcement], None], began: Callable[[], None]) -> None:
        """Deliver all announcements, or none while deaf."""
        await self.inner.listen(lambda said: None if self.is_deaf else heard(said), began)


def looks(board: Board, times: int) -> Callable[[], Awaitable[None]]:
    """Return a function that awaits this many looks."""

    async def look() -> None:
        for _ in range(times):
            await board.next_look()

    return look


def test_a_look_asks_for_what_is_new_and_a_part_of_the_rest() -> None:
    """A look reads the changed matches and compares a thirtieth of the others, however many there are."""
    log = Parted()

    async def scenario(world: World) -> None:
        opener = world.person("opener")
        for _ in range(90):
            await opener.open()
        board = world.service.board(SECONDS)
        async with board.watch():
            await looks(board, HURRIED_LOOKS + 1)()
            log.asked.clear()
            reads = log.reads
            for _ in range(COMPARING_LOOKS):
                await board.next_look()
            compared = len(log.asked)
            assert compared <= 2 * 90, "each match about once in so many looks"
            assert reads == log.reads
            log.asked.clear()
            match_id = (await opener.open()).match_id
            while match_id not in await board.seen_by(LobbyFilter(somebody("watcher"))):
                await board.next_look()
            assert log.reads > reads
        await board.close()

    run(scenario, log=log, limits=MANY)


def test_what_nobody_announced_is_found_by_comparing() -> None:
    """Openings, starts and removals are found without announcements: such a board is late, but never stays wrong."""
    log = Parted()
    log.is_deaf = True

    async def scenario(world: World) -> None:
        watcher = somebody("watcher")
        board = world.service.board(SECONDS)
        async with board.watch():
            match_id, people = await world.seated()
            while match_id not in await board.seen_by(LobbyFilter(watcher)):
                await board.next_look()
            await world.get_ready(match_id, people)
            while (await board.seen_by(LobbyFilter(watcher)))[match_id].state != MATCH_STATE_RUNNING:
                await board.next_look()
            await log.inner.unlist(match_id)
            while match_id in await board.seen_by(LobbyFilter(watcher)):
                await board.next_look()
        await board.close()

    run(scenario, log=log)


def test_a_match_with_a_delay_is_folded_when_there_is_more_to_see_and_not_before() -> None:
    """The public sees more of a delayed match only when an event is old enough.

    Until then the board does not fold it again.
    """
    log = Counting()

    async def scenario(world: World) -> None:
        match_id, _ = await world.started(spectator_delay_seconds=60)
        board = world.service.board(SECONDS)
        async with board.watch():
            await looks(board, 2)()
            before = log.reads
            world.clock.ms += 30_000
            await looks(board, 5)()
            assert before == log.reads
            assert MATCH_STATE_GETTING_READY == (await board.seen_by(LobbyFilter(somebody("x"))))[match_id].state
            world.clock.ms += 30_000
            await looks(board, 2)()
            assert MATCH_STATE_RUNNING == (await board.seen_by(LobbyFilter(somebody("x"))))[match_id].state
            before = log.reads
            await looks(board, 5)()
            assert before == log.reads
        await board.close()

    run(scenario, log=log)


def test_who_is_behind_by_many_looks_misses_nothing() -> None:
    """A slow watcher gets every match that may have changed."""

    async def scenario(world: World) -> None:
        board = world.service.board(SECONDS)
        async with board.watch():
            behind = board.looks
            opened = {(await world.person(f"p{number}").open()).match_id for number in range(3)}
            while not opened <= (await board.seen_by(LobbyFilter(somebody("x")))).keys():
                await board.next_look()
            assert opened <= set(board.changed_since(behind))
            now = board.looks
            await looks(board, 2)()
            assert not opened & set(board.changed_since(now))
            await looks(board, MOST_LOOKS + 1)()
            assert opened <= set(board.changed_since(behind))
        await board.close()

    run(scenario)


def test_names_that_are_forgotten_are_not_shown() -> None:
    """The board drops cached names without an announcement."""

    async def scenario(world: World) -> None:
        match_id, _ = await world.seated()
        board = world.service.board(SECONDS)
        async with board.watch():
            assert "P0" == (await board.seen_by(LobbyFilter(somebody("x"))))[match_id].seats[0].name
            stored = await world.store.summary(match_id)
            nameless = ListedMatch.read(stored)
            nameless.summary.seats[0].name = ""
            world.log._lobby[match_id] = nameless.write()
            await world.service.lobby.forget()
            await looks(board, 2)()
            assert "" == (await board.seen_by(LobbyFilter(somebody("x"))))[match_id].seats[0].name
        await board.close()

    run(scenario)


def test_who_comes_when_the_last_has_just_left_is_told_what_happens() -> None:
    """The board's task ends with the last watcher and starts again with the next one, however soon."""

    async def scenario(world: World) -> None:
        board = world.service.board(SECONDS)
        for _ in range(5):
            async with board.watch():
                await board.next_look()
        async with board.watch():
            match_id = (await world.person("opener").open()).match_id
            while match_id not in await board.seen_by(LobbyFilter(somebody("x"))):
                await board.next_look()
        await board.close()

    run(scenario)
