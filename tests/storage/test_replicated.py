"""With durability `replicated`, acknowledged and read entries are on the disks of replicas: no failover loses them."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rollbook.match.chain import Entry
from rollbook.storage.embedded.server import find_server
from rollbook.storage.port import Appended, AppendUnconfirmed, StoreUnavailable
from rollbook.storage.redis.log import RedisLog
from tests.storage.failovers import Copied, copied
from tests.storage.servers import OLDEST_REDIS, running

pytestmark = pytest.mark.asyncio

HURRIED_SECONDS = 1.0
"""Seconds for a log that is meant to wait in vain; other logs have the time that a busy disk needs."""


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copied]:
    """A master that requires a replica, and the replica."""
    with copied(tmp_path_factory.mktemp("pair"), settings={"min-replicas-to-write": "1"}) as found:
        yield found


async def replicated(store: Copied, **how: Any) -> RedisLog:
    """A log that waits for one replica."""
    return await RedisLog.connect(store.url, "replicated", **how)


async def test_an_answer_waits_for_the_replicas_disk(pair: Copied, match_id: str) -> None:
    """Without the replica's answer the outcome is unconfirmed; a later read finds the entry and confirms it."""
    log, hurried = await replicated(pair), await replicated(pair, append_seconds=HURRIED_SECONDS)
    assert Appended(1) == await log.append(match_id, 0, [Entry(b"one")])
    replica = pair.servers[1]
    replica.process.send_signal(signal.SIGSTOP)
    try:
        with pytest.raises(AppendUnconfirmed, match="0 of 1 replicas"):
            await hurried.append(match_id, 1, [Entry(b"two")])
        with pytest.raises(StoreUnavailable, match="0 of 1 replicas"):
            await hurried.read(match_id)
    finally:
        replica.process.send_signal(signal.SIGCONT)
    assert [Entry(b"one"), Entry(b"two")] == await log.read(match_id)
    await log.close()
    await hurried.close()


async def test_nothing_is_told_that_others_wrote_and_replicas_lack(pair: Copied, match_id: str) -> None:
    """The writer may not have waited: a reader may deliver the entry only once the replicas have it."""
    careless, log = await RedisLog.connect(pair.url), await replicated(pair)
    hurried = await replicated(pair, append_seconds=HURRIED_SECONDS)
    replica = pair.servers[1]
    replica.process.send_signal(signal.SIGSTOP)
    try:
        assert Appended(1) == await careless.append(match_id, 0, [Entry(b"one")])
        looks: list[Any] = [hurried.behind({match_id: 0}), hurried.read(match_id), hurried.head(match_id)]
        for told in await asyncio.gather(*looks, return_exceptions=True):
            assert isinstance(told, StoreUnavailable)
    finally:
        replica.process.send_signal(signal.SIGCONT)
    assert {match_id: [Entry(b"one")]} == await log.behind({match_id: 0})
    for one in (log, hurried, careless):
        await one.close()


async def test_too_few_replicas_are_refused_before_anything_is_written(pair: Copied, match_id: str) -> None:
    """The master itself refuses writes with too few replicas, so the outcome is known."""
    log = await replicated(pair)
    with pair.servers[0].client() as client:
        client.config_set("min-replicas-to-write", "2")
        try:
            with pytest.raises(StoreUnavailable, match="NOREPLICAS"):
                await log.append(match_id, 0, [Entry(b"one")])
        finally:
            client.config_set("min-replicas-to-write", "1")
    assert 0 == await log.head(match_id)
    assert Appended(1) == await log.append(match_id, 0, [Entry(b"one")])
    await log.close()


async def test_a_start_refuses_what_would_not_hold(pair: Copied) -> None:
    """A replica that is not waited for might be promoted, and missing replicas might go unnoticed."""
    with pytest.raises(StoreUnavailable, match="min-replicas-to-write is 1, and has to be 2"):
        await replicated(pair, replicas=2)
    with running(find_server(), pair.servers[0].directory.with_name("third")) as third, third.client() as client:
        client.execute_command("REPLICAOF", "127.0.0.1", pair.servers[0].port)
        await asyncio.to_thread(pair.until_followed, 2)
        with pytest.raises(
            StoreUnavailable, match=r"2 replicas that may take its place .* --replicas is 1.*--replicas 2"
        ):
            await replicated(pair)
        client.config_set("replica-priority", "0")
        await (await replicated(pair)).close()


async def test_a_server_that_cannot_say_is_refused_unless_memory_is_enough(tmp_path: Path, match_id: str) -> None:
    """Redis before 7.2 has no WAITAOF; it can only confirm the memory of its replicas."""
    with copied(tmp_path, settings={"min-replicas-to-write": "1"}, binary=OLDEST_REDIS) as store:
        with pytest.raises(StoreUnavailable, match=r"takes Redis 7.2.*replicated-memory"):
            await replicated(store)
        log = await RedisLog.connect(store.url, "replicated-memory")
        hurried = await RedisLog.connect(store.url, "replicated-memory", append_seconds=HURRIED_SECONDS)
        assert Appended(1) == await log.append(match_id, 0, [Entry(b"one")])
        store.servers[1].process.send_signal(signal.SIGSTOP)
        try:
            with pytest.raises(AppendUnconfirmed, match="0 of 1 replicas"):
                await hurried.append(match_id, 1, [Entry(b"two")])
        finally:
            store.servers[1].process.send_signal(signal.SIGCONT)
        assert [Entry(b"one"), Entry(b"two")] == await log.read(match_id)
        await log.close()
        await hurried.close()
