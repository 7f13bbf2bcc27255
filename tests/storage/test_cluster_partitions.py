"""The partitions of a Cluster: their number is that of the store, and a page of a list costs the same however long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final

import pytest
import pytest_asyncio

from rollbook.match.chain import Entry
from rollbook.storage.pools import Holder, Pool
from rollbook.storage.port import Appended, IndexRow, LobbyEntry, StoreUnavailable
from rollbook.storage.redis.here import RedisPresence
from rollbook.storage.redis.keys import (
    CLUSTER_PARTITIONS,
    PARTITIONS,
    PARTITIONS_KEY,
    lobby_key,
    marker_key,
    partition_of,
    stream_key,
)
from rollbook.storage.redis.log import RedisLog
from rollbook.storage.redis.now import RedisPools
from tests.storage.servers import Server

pytestmark = pytest.mark.asyncio

FEW: Final = 10
MANY: Final = 2_000
"""Enough that every partition has more matches than fit on a page."""
PAGE: Final = 50
MOST_GROWTH: Final = 1.3
LIST: Final = "public"


@pytest_asyncio.fixture
async def emptied(cluster: Server) -> AsyncIterator[Any]:
    """A client of an empty Cluster, which is emptied again for other tests."""
    with cluster.client() as client:
        client.flushall()
        yield client
        client.flushall()


async def open_matches(log: RedisLog, first: int, last: int) -> list[str]:
    """Open matches in a list; returns their ids."""
    names = [f"match-{number}" for number in range(first, last)]
    rows = [LobbyEntry(b"open", IndexRow(number, (LIST,), "sweep", number, 1_000)) for number in range(first, last)]
    opened = [log.append(name, 0, [Entry(b"opened")], lobby=row) for name, row in zip(names, rows, strict=True)]
    assert {Appended(1)} == set(await asyncio.gather(*opened))
    return names


async def test_a_new_cluster_has_16_partitions(cluster: Server, emptied: Any) -> None:
    """All keys have one of their tags, and match, lobby and index are changed together."""
    log = await RedisLog.connect(cluster.url)
    assert (b"%d" % CLUSTER_PARTITIONS, CLUSTER_PARTITIONS) == (emptied.get(PARTITIONS_KEY), log.parts)
    names = await open_matches(log, 0, MANY // 10)
    await log.marker.settle("", lambda _id: None)
    await use_pools(log, names[0])
    tags = {b"{p%d}" % partition for partition in range(CLUSTER_PARTITIONS)}
    used = {key[: key.index(b"}") + 1] for key in emptied.scan_iter("{*")}
    assert tags == used
    assert set(names) == (await log.lobby()).keys()
    assert names[: -PAGE - 1 : -1] == [name for _, name in await log.page([LIST], None, PAGE)]
    await log.close()


async def use_pools(log: RedisLog, match_id: str) -> None:
    """Write the keys of PlayNow and of presence."""
    await RedisPools(log).claim(Pool("a pool", 2, 1_000, 1_000, 1_000), Holder("somebody"), match_id)
    await RedisPools(log).pause("somebody", 1, 1, 1)
    assert {1} == await RedisPresence(log).update(match_id, "process", [1], 1_000)


@pytest.mark.usefixtures("emptied")
async def test_a_cluster_begun_with_256_partitions_is_read_and_written(cluster: Server, emptied: Any) -> None:
    """By a service that would begin a new one with 16: old matches go on, and new ones join them."""
    old = await RedisLog.connect(cluster.url, partitions=PARTITIONS)
    await old.marker.settle("", lambda _id: None)
    names = await open_matches(old, 0, FEW)
    await old.mark_index(whole=True)
    log = await RedisLog.connect(cluster.url)
    assert PARTITIONS == log.parts
    assert await log.has_index()
    assert Appended(2) == await log.append(names[0], 1, [Entry(b"more")])
    assert [Entry(b"opened"), Entry(b"more")] == await log.read(names[0])
    assert {names[0]: [Entry(b"more")]} == await log.behind(dict.fromkeys(names, 1))
    names += await open_matches(log, FEW, 2 * FEW)
    for each in (old, log):
        assert set(names) == (await each.lobby()).keys()
        assert names[::-1] == [name for _, name in await each.page([LIST], None, PAGE)]
        assert names == [name for name, _ in await each.due("sweep", MANY, MANY)]
    for name in names:
        assert emptied.exists(stream_key(name)), name
        assert emptied.hexists(lobby_key(partition_of(name)), name), name
    await log.prove()
    assert all(emptied.exists(marker_key(partition)) for partition in range(PARTITIONS))
    assert b"%d" % PARTITIONS == emptied.get(PARTITIONS_KEY)
    await old.close()
    await log.close()


async def test_an_unknown_number_of_partitions_is_refused(cluster: Server, emptied: Any) -> None:
    """A later release may begin stores with another number; their matches would not be found."""
    await (await RedisLog.connect(cluster.url)).close()
    emptied.set(PARTITIONS_KEY, 64)
    with pytest.raises(StoreUnavailable, match="begun with 64 partitions, and this service counts on 256 or 16"):
        await RedisLog.connect(cluster.url)


async def test_a_page_of_a_long_list_costs_about_as_much_as_one_of_a_short_list(cluster: Server, emptied: Any) -> None:
    """Each partition is asked for more than its share at once, so that it is seldom asked again."""
    log = await RedisLog.connect(cluster.url)
    costs: list[int] = []
    done = 0
    for number in (FEW, MANY):
        names = await open_matches(log, done, number)
        done = number
        before = commands(emptied)
        assert names[: -PAGE - 1 : -1] == [name for _, name in await log.page([LIST], None, PAGE)]
        costs.append(commands(emptied) - before)
    assert costs[1] <= MOST_GROWTH * costs[0], costs
    await log.close()


async def test_the_marks_of_the_index_are_read_in_turn(cluster: Server, emptied: Any) -> None:
    """Once all were found, each call reads one; a missing one is noticed after at most one call for each."""
    log = await RedisLog.connect(cluster.url)
    await log.mark_index(whole=True)
    assert await log.has_index()
    before = commands(emptied)
    assert await log.has_index()
    assert 1 == commands(emptied) - before
    emptied.delete(b"{p9}:index:made")
    assert not all([await log.has_index() for _ in range(CLUSTER_PARTITIONS)])
    assert not await log.has_index()
    other = await RedisLog.connect(cluster.url)
    await log.mark_index(whole=True)
    assert [True, True] == [await log.has_index(), await other.has_index()]
    await other.mark_index(whole=False)
    assert not await log.has_index()
    await log.close()
    await other.close()


def commands(client: Any) -> int:
    """The commands that a server has run, also those inside scripts, without INFO."""
    stats: dict[str, Any] = client.info("commandstats")
    return sum(said["calls"] for name, said in stats.items() if name != "cmdstat_info")
