"""A lost, damaged or missing index of the lobby: answers become right again, and turns still end."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from rollbook.identity.tokens import Role
from rollbook.match.events import TimedOut
from rollbook.server.lobby.index_keeper import ROUND_SECONDS
from rollbook.server.lobby.index_rows import SWEEP, UNHELD
from rollbook.server.lobby.listed_match import ListedMatch
from rollbook.storage.embedded.server import find_server
from rollbook.storage.port import StoreUnavailable
from rollbook.storage.redis.keys import lobby_key, partition_of
from rollbook.v1 import match_pb2
from tests.server.pairs import run
from tests.server.rpc.talking import Person, World
from tests.server.timers.sweeping import MATCH, Replicas
from tests.server.timers.sweeping import run as sweep
from tests.storage.servers import ALL_SLOTS, Server, running


@pytest.fixture(scope="module", params=["one server", "a cluster"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for all tests of this module; the cluster refuses commands that touch two slots."""
    slots = ALL_SLOTS if request.param == "a cluster" else range(0)
    with running(find_server(), tmp_path_factory.mktemp("store"), slots=slots) as found:
        yield found


async def some_matches(one: World, other: World) -> None:
    """Open, private, running and ended matches, created by both processes."""
    await asyncio.gather(*[one.person(f"host-{number}").open() for number in range(4)])
    await one.person("host-9").open("raffzahn", 3, is_private=True)
    await other.started(turn_seconds=3_600, is_private=True)
    await one.started(spectator_delay_seconds=60)
    ended = (await other.person("host-8").open()).match_id
    await other.person("host-8").call("AbortMatch", match_id=ended)


async def pages(person: Person, **filters: Any) -> list[str]:
    """The ids of all pages that a person finds."""
    found: list[str] = []
    token = ""
    while True:
        page = await person.call("ListMatches", page_size=2, page_token=token, **filters)
        found += [match.match_id for match in page.matches]
        if not (token := page.next_page_token):
            return found


FILTERS: list[dict[str, Any]] = [
    {},
    {"mine": True},
    {"game": "cant_stop"},
    {"state": match_pb2.MATCH_STATE_OPEN},
    {"state": match_pb2.MATCH_STATE_RUNNING, "game": "cant_stop"},
    {"state": match_pb2.MATCH_STATE_GETTING_READY},
    {"state": match_pb2.MATCH_STATE_ABORTED},
    {"player": "P0"},
]


async def everything(world: World) -> list[list[str]]:
    """What different people find by different filters."""
    people = [world.person("p0"), world.person("stranger"), world.person("operator", role=Role.OPERATOR)]
    return [await pages(person, **filters) for person in people for filters in FILTERS]


def keys_of(store: Server, part: str) -> list[bytes]:
    """The keys of the index that have this in their names."""
    with store.client() as client:
        return [key for key in client.scan_iter(b"*:index:*") if part.encode() in key]


def change(store: Server, how: str) -> None:
    """Damage the index."""
    keys = keys_of(store, "made" if how == "unmade" else ":index:" if how == "lost" else how.split(maxsplit=1)[0])
    with store.client() as client:
        for key in keys:
            client.delete(key)
            if how.endswith("misused"):
                client.set(key, "something else")


async def a_round(world: World) -> None:
    """Compare the whole lobby with the index once."""
    for _ in range(ROUND_SECONDS):
        await world.service.index.settle()
        await world.service.index.mend_a_slice()


def test_lists_are_the_same_with_an_index_and_without(store: Server) -> None:
    """Players, strangers and operators get the same pages in the same order by every filter."""

    async def scenario(one: World, other: World) -> None:
        await some_matches(one, other)
        assert not await one.log.has_index()
        before = await everything(one)
        assert [7, 6, 8] == [len(found) for found in before[:: len(FILTERS)]]
        await one.service.index.settle()
        assert before == await everything(other)
        assert [] == await one.service.index.check()

    run(store, scenario)


@pytest.mark.parametrize(
    "row", [b"", b"\n\n\xff", b"{digest}", b"{digest}\nplace\nsweep\nlong\npublic//", b"\xff\n" * 9]
)
def test_a_row_that_was_scribbled_over_stops_nobody(store: Server, row: bytes) -> None:
    """Comparing and sweeping succeed with any content of a row, and one round restores the row."""

    async def scenario(one: World, other: World) -> None:
        await some_matches(one, other)
        await one.service.index.settle()
        count = 0
        with store.client() as client:
            for rows in keys_of(store, "rows"):
                for match_id, before in client.hgetall(rows).items():
                    client.hset(rows, match_id, row.replace(b"{digest}", before.split(b"\n")[0]))
                    count += 1
        assert count == len(await one.service.index.check())
        await one.log.strays()
        await a_round(other)
        assert [] == await one.service.index.check()

    run(store, scenario)


@pytest.mark.parametrize(
    "how", ["lost", "unmade", "list", "list misused", "due", "due misused", "rows", "rows misused"]
)
def test_an_index_that_is_damaged_is_mended(store: Server, how: str) -> None:
    """One round of the sweeper repairs it; matches may be opened and ended meanwhile."""

    async def scenario(one: World, other: World) -> None:
        await some_matches(one, other)
        await one.service.index.settle()
        before = await everything(one)
        change(store, how)
        late = (await other.person("late").open()).match_id
        await everything(other)
        await other.person("late").call("AbortMatch", match_id=late)
        await other.log.unlist(late)
        await a_round(one)
        other.service.lobby._believed_until = 0.0
        assert before == await everything(other)
        assert [] == await one.service.index.check()
        # Without its row, the script that unlists a match cannot find its places; lists skip them.
        assert (await one.log.strays()).keys() <= ({late} if how == "rows misused" else set())

    run(store, scenario)


def test_what_stands_in_a_list_and_nowhere_else_costs_nobody_a_line(store: Server) -> None:
    """An entry without a row is skipped, and removed by the next read."""

    async def scenario(one: World, other: World) -> None:
        await some_matches(one, other)
        await one.service.index.settle()
        before = await everything(one)
        with store.client() as client:
            for key in keys_of(store, "list:public//"):
                client.zadd(key, {b"%016x" % (1 << 45) + b"a" * 24: 0, b"no place": 0, b"0" * 16 + b"b" * 24: 0})
        assert before == await everything(other)
        odd = keys_of(store, "list:public//")[0]
        with store.client() as client:
            assert [b"no place"] == client.zrevrangebylex(odd, b"[zz", b"[n")

    run(store, scenario)


def test_a_store_of_an_older_version_gets_its_index_by_itself(store: Server) -> None:
    """An older lobby has no seat holders; players still find their matches."""

    async def scenario(one: World, other: World) -> None:
        await some_matches(one, other)
        before = await everything(one)
        with store.client() as client:
            for match_id, data in (await one.log.lobby()).items():
                listed = ListedMatch.read(data)
                older = ListedMatch(listed.summary, listed.opener, listed.players).write()
                client.hset(lobby_key(partition_of(match_id, one.log.parts)), match_id, older)
            for key in keys_of(store, ":index:"):
                client.delete(key)
        assert before == await everything(other)
        await other.service.sweeper().sweep()
        assert before == await everything(other)
        assert [2] == await one.log.counts([UNHELD])
        assert [] == await one.service.index.check()

    run(store, scenario)


def test_an_index_is_not_whole_before_all_of_it_is_made(store: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process may die while it builds the index; lists are read without it until one process has finished."""

    async def scenario(one: World, other: World) -> None:
        await some_matches(one, other)
        before = await everything(one)
        change(store, "lost")
        sound, left = one.log.reindex, count(3, -1)

        async def fail(*given: Any) -> None:
            if not next(left):
                raise StoreUnavailable
            await sound(*given)

        monkeypatch.setattr(one.log, "reindex", fail)
        with pytest.raises(StoreUnavailable):
            await one.service.index.settle()
        assert not await other.log.has_index()
        assert before == await everything(other)
        await other.service.index.settle()
        assert before == await everything(other)
        assert [] == await other.service.index.check()

    run(store, scenario)


DIES = """
import asyncio, os, signal, sys
from rollbook.storage.redis.log import RedisLog
from tests.server.rpc.talking import World

async def main(url, after):
    log = await RedisLog.connect(url)
    appended, append = 0, log.append
    async def counted(*given, **terms):
        nonlocal appended
        appended += 1
        if appended == int(after):
            asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGKILL)
        return await append(*given, **terms)
    log.append = counted
    async with World(log=log).serving() as world:
        async def open_and_end(number):
            person = world.person(f"host-{number}")
            while True:
                match = await person.open(request_id=f"{after}-{number}-{world.person('x').request_id()}")
                await person.call("TakeSeat", match_id=match.match_id)
                await person.call("AbortMatch", match_id=match.match_id)
        await asyncio.gather(*[open_and_end(number) for number in range(16)])

asyncio.run(main(*sys.argv[1:]))
"""


def test_the_index_fits_whenever_a_process_is_killed(store: Server) -> None:
    """Two writing processes are killed: the lobby and its index change in one script, so they still fit."""

    async def scenario(one: World, _other: World) -> None:
        await one.service.index.settle()
        commands = [[sys.executable, "-c", DIES, store.url, after] for after in ("60", "90")]
        killed = await asyncio.gather(
            *[asyncio.to_thread(subprocess.run, command, capture_output=True, check=False) for command in commands]
        )
        assert [-9, -9] == [process.returncode for process in killed], killed
        assert 16 < len(await one.log.lobby())
        assert ([], {}) == (await one.service.index.check(), await one.log.strays())

    run(store, scenario)


def test_a_turn_ends_although_the_agenda_has_lost_it() -> None:
    """The turn ends some seconds late, after the comparison; a wrong entry only causes an extra look."""

    async def scenario() -> None:
        replicas = Replicas()
        await replicas.open(ready=2)
        await replicas.sweep()
        indexed = replicas.log._index[MATCH]
        indexed.due_ms = replicas.now_ms + (1 << 50)
        await replicas.live(1_000)
        assert [(MATCH, replicas.now_ms + 29_000)] == await replicas.log.due(SWEEP, 1 << 50, 9)
        indexed = replicas.log._index[MATCH]
        indexed.due_ms = 0
        await replicas.live(28_999)
        assert [] == await replicas.events(TimedOut)
        await replicas.live(1)
        assert 1 == len(await replicas.events(TimedOut))

    sweep(scenario)
