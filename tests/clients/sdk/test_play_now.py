"""PlayNow by the SDK: one call sits down and gets ready; a table that comes to nothing is followed by another."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random

import pytest

from rollbook.storage.embedded.server import find_server
from rollbook.v1.match_pb2 import MATCH_STATE_RUNNING
from rollbook_clients.sdk import Match, Table, sync
from tests.clients.sdk.tables import SEED, pick, play, service, tables
from tests.server.play.halls import SHORT, Hall, run
from tests.storage.servers import Server, running

PUPILS = 24
"""A class and a half; the bench has 200."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for all tests of this module."""
    with running(find_server(), tmp_path_factory.mktemp("store")) as found:
        yield found


def test_pairs_who_press_at_once_meet_and_play(store: Server) -> None:
    """At two processes, without bots; each pair is at one table, and two of them play to the end."""

    async def scenario(one: Hall, other: Hall) -> None:
        async with AsyncExitStack() as stack:
            seekers: list[Table] = []
            for number in range(PUPILS):
                seekers += await stack.enter_async_context(tables((one, other)[number % 2], f"p{number}"))
            matches = await asyncio.gather(*(table.play_now("cant_stop") for table in seekers))
            assert {2} == set(Counter(match.id for match in matches).values())
            pair = [match for match in matches if match.id == matches[0].id]
            await asyncio.gather(*(play(match, Random(SEED)) for match in pair))

    run(store, scenario)


def test_who_is_ready_gets_another_table_after_one_that_was_aborted(store: Server) -> None:
    """The other person sat down and did not get ready; a third one comes, and both play."""

    async def scenario(one: Hall, other: Hall) -> None:
        async with tables(one, "anna", "absent", "carla") as (anna, absent, carla):
            absent_match = await absent.sit_now("cant_stop")
            seeking = asyncio.create_task(anna.play_now("cant_stop"))
            while not seeking.done():
                await other.sweep()
                if len(await listed(anna)) > 1:
                    break
                await asyncio.sleep(0.05)
            found = await carla.play_now("cant_stop")
            assert found.id == (await seeking).id != absent_match.id

    run(store, scenario, periods=SHORT)


async def listed(table: Table) -> list[str]:
    """The matches of the lobby and the ended ones."""
    return [summary.match_id async for summary in table.matches("cant_stop")]


def test_play_now_without_async_ends_with_bots(tmp_path: Path) -> None:
    """A whole service with a house: a lone caller plays within 20 seconds, which are the 15 and the getting ready."""
    random = Random(SEED)
    with service(tmp_path) as one, sync.connect(one.address, name="Anna") as table:
        match = table.play_now("allie_gator", name="Anna B.")
        summary = match.state().summary
        assert MATCH_STATE_RUNNING == summary.state
        assert ["Anna B.", True] == [summary.seats[0].name, summary.seats[1].is_house]
        for moment in match.play():
            if moment.legal:
                match.choose(pick(moment.legal, random))
                break


def test_a_match_says_whether_it_begins(store: Server) -> None:
    """False for a table that is withdrawn while one waits."""

    async def scenario(one: Hall, _other: Hall) -> None:
        async with tables(one, "anna") as (anna,):
            match: Match = await anna.sit_now("cant_stop", slow=True)
            waiting = asyncio.create_task(match.begins())
            await match.leave()
            assert not await waiting

    run(store, scenario)
