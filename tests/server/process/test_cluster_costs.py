"""The number of commands that one service sends to a Cluster of three masters, as the masters count them."""

from __future__ import annotations

import asyncio
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest

from rollbook.server.timers.sweeper import CLUSTER_COUNT_MS
from rollbook.storage.redis.keys import CLUSTER_PARTITIONS, PARTITIONS, stream_key
from rollbook.storage.redis.log import RedisLog
from rollbook_clients.sdk import Match
from tests.clients.sdk.tables import pick, running, tables
from tests.server.serving import Service, started, until
from tests.storage.failovers import Clustered, clustered

REST_SECONDS: Final = 15.0
LISTS: Final = 10
SEED: Final = 24

MOST_AT_REST: Final = 80
MOST_FOR_A_LIST: Final = 130
MOST_FOR_A_MOVE: Final = 14

OF_THIS_COUNT: Final = {"info", "client|setinfo"}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clustered]:
    """Three masters without replicas."""
    with clustered(tmp_path_factory.mktemp("cluster"), replicas=0) as found:
        yield found


@contextmanager
def serving(cluster: Clustered, data: Path) -> Iterator[Service]:
    """One service over the Cluster."""
    words = ["serve", "--data", str(data), "--listen", "127.0.0.1:0", "--redis", cluster.url, "--web", "off"]
    with started([sys.executable, "-m", "rollbook", *words, "--archive", f"{data}-archive"]) as one:
        assert one.address
        yield one


def commands(cluster: Clustered) -> Counter[str]:
    """The commands that the masters have run, also those inside scripts."""
    found = Counter[str]()
    for server in cluster.servers:
        with server.client() as client:
            stats: dict[str, Any] = client.info("commandstats")
        found.update({name.removeprefix("cmdstat_"): said["calls"] for name, said in stats.items()})
    return Counter({name: calls for name, calls in found.items() if name not in OF_THIS_COUNT})


def keys(cluster: Clustered, pattern: str) -> set[bytes]:
    """The keys of all masters that match a pattern."""
    found = set[bytes]()
    for server in cluster.servers:
        with server.client() as client:
            found.update(client.scan_iter(pattern))
    return found


async def begin_with(cluster: Clustered, partitions: int) -> None:
    """Begin a store with this number of partitions."""
    await (await RedisLog.connect(cluster.url, partitions=partitions)).close()


async def play(matches: list[Match]) -> int:
    """Play a match to its end; returns the number of moves."""
    chance, moves = random.Random(SEED), count()

    async def one(match: Match) -> None:
        async for moment in match.play():
            if moment.legal:
                await match.choose(pick(moment.legal, chance))
                next(moves)

    await asyncio.gather(*map(one, matches))
    return next(moves)


def test_a_service_over_a_new_cluster_sends_few_commands(cluster: Clustered, tmp_path: Path) -> None:
    """At rest, for a list, and for a move; waiting longer than intended only lowers the first."""
    with serving(cluster, tmp_path / "data") as service:
        # Matches are counted at the first sweep and then once in CLUSTER_COUNT_MS, so that the wait has no count.
        until(lambda: commands(cluster)["zcard"], service)
        time.sleep(1)
        before, began = commands(cluster), time.monotonic()
        counted = before["zcard"] * 1_000 / CLUSTER_COUNT_MS
        time.sleep(REST_SECONDS)
        seconds = time.monotonic() - began
        rest = commands(cluster) - before
        rest["zcard"] = 0
        assert rest.total() / seconds + counted <= MOST_AT_REST, (rest, counted)
        assert CLUSTER_PARTITIONS == len(keys(cluster, "{p*}:marker"))

        def at_most(most: int, before: Counter[str], began: float, times: int) -> None:
            """Compare the commands since then, without what the service sends at rest."""
            idle = rest.total() * (time.monotonic() - began) / seconds
            found = commands(cluster) - before
            found["zcard"] = 0
            assert (found.total() - idle) / times <= most, (found, idle, times)

        async def scenario() -> None:
            async with tables(service.address, "Anna", "Ben") as both:
                assert [] == [one async for one in both[0].matches()]
                before, began = commands(cluster), time.monotonic()
                for _ in range(LISTS):
                    assert [] == [one async for one in both[0].matches()]
                at_most(MOST_FOR_A_LIST, before, began, LISTS)
                matches = await running(both)
                before, began = commands(cluster), time.monotonic()
                at_most(MOST_FOR_A_MOVE, before, began, await play(matches))

        asyncio.run(scenario())


def test_a_store_that_was_begun_with_256_partitions_keeps_them(cluster: Clustered, tmp_path: Path) -> None:
    """A service plays on it, and its keys have the tags of before."""
    for server in cluster.servers:
        with server.client() as client:
            client.flushall()
    asyncio.run(begin_with(cluster, PARTITIONS))
    with serving(cluster, tmp_path / "data") as service:

        async def scenario() -> None:
            async with tables(service.address, "Anna", "Ben") as both:
                matches = await running(both)
                assert {matches[0].id} == {one.match_id async for one in both[0].matches()}
                assert {stream_key(matches[0].id, PARTITIONS)} == keys(cluster, "{p*}:m:*")
                assert await play(matches)

        asyncio.run(scenario())
        assert PARTITIONS == len(keys(cluster, "{p*}:marker"))
