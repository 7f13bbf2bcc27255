"""Durability `quorum`: one server of three may fail, and what a new master lacks is never passed over."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from rollbook.match.chain import Entry
from rollbook.storage.port import MATCHES_LOST, Appended, AppendUnconfirmed, Hole, StoreUnavailable, TooEarly
from rollbook.storage.redis.log import RedisLog
from tests.storage.failovers import Watched, cut_off, let_in, watched
from tests.storage.servers import Server
from tests.storage.writers import Crowd

pytestmark = pytest.mark.asyncio

WRITERS: Final = 8
HURRIED_SECONDS: Final = 1.0
"""The time for an answer where none is expected."""


@asynccontextmanager
async def connected(store: Watched, append_seconds: float = 5.0) -> AsyncIterator[RedisLog]:
    """A log with a quorum of three servers."""
    log = await RedisLog.connect(store.url, "quorum", replicas=2, append_seconds=append_seconds)
    try:
        yield log
    finally:
        await log.close()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Watched]:
    """Three servers, with three Sentinels."""
    with watched(tmp_path, 2, {"min-replicas-to-write": "1"}, sentinels=3) as found:
        yield found


def replicas(store: Watched) -> list[Server]:
    """The servers that are not the master."""
    master = store.master
    return [server for server in store.servers if server is not master]


async def written(log: RedisLog, match_id: str, after: int) -> None:
    """Append the next event, with a new attempt after one whose outcome is unknown."""
    entry = Entry(b"%d" % (after + 1))
    while True:
        try:
            result = await log.append(match_id, after, [entry])
        except (AppendUnconfirmed, StoreUnavailable):
            await asyncio.sleep(0.05)
            continue
        # A conflict means that an earlier attempt was written.
        assert not isinstance(result, TooEarly)
        assert result.head == after + 1
        if isinstance(result, Appended) or [entry] == await log.read(match_id, after):
            return


@pytest.mark.parametrize("how", ["killed", "stopped"])
async def test_play_goes_on_without_one_replica(store: Watched, match_id: str, how: str) -> None:
    """The master and the other replica are a majority; `replicated` would refuse every write."""
    async with connected(store) as log:
        assert Appended(1) == await log.append(match_id, 0, [Entry(b"1")])
        gone = replicas(store)[0]
        if how == "killed":
            gone.kill()
        else:
            gone.process.send_signal(signal.SIGSTOP)
        for number in range(1, 6):
            await written(log, match_id, number)
        assert 6 == await log.head(match_id)


async def test_a_minority_acknowledges_nothing(store: Watched, match_id: str) -> None:
    """Without both replicas a write is not acknowledged, and reads of it are not either."""
    async with connected(store) as log, connected(store, HURRIED_SECONDS) as hurried:
        assert Appended(1) == await log.append(match_id, 0, [Entry(b"1")])
        for server in replicas(store):
            server.process.send_signal(signal.SIGSTOP)
        with pytest.raises(AppendUnconfirmed, match="0 of 1 replicas that are needed"):
            await hurried.append(match_id, 1, [Entry(b"2")])
        with pytest.raises(StoreUnavailable, match="0 of 1 replicas that are needed"):
            await hurried.read(match_id)
        for server in replicas(store):
            server.process.send_signal(signal.SIGCONT)
        assert [Entry(b"1"), Entry(b"2")] == await log.read(match_id)


async def test_other_shapes_are_refused(store: Watched, match_id: str) -> None:
    """Different priorities, a replica that is never promoted, and one too many: refused, with what to do."""
    async with connected(store) as log:
        first: Any
        with replicas(store)[0].client() as first:
            first.config_set("replica-priority", "50")
            with pytest.raises(AppendUnconfirmed, match=r"different priorities .* 50.*same replica-priority"):
                await log.append(match_id, 0, [Entry(b"1")])
            with pytest.raises(StoreUnavailable, match="different priorities"):
                await log.append(match_id, 1, [Entry(b"2")])
            first.config_set("replica-priority", "0")
            with pytest.raises(StoreUnavailable, match=r"never take the master's place.*replica-priority 100"):
                await log.append(match_id, 1, [Entry(b"2")])
            first.config_set("replica-priority", "100")
        assert Appended(2) == await log.append(match_id, 1, [Entry(b"2")])
    with pytest.raises(ValueError, match="even number"):
        await RedisLog.connect(store.url, "quorum", replicas=3)
    with pytest.raises(ValueError, match="Sentinels"):
        await RedisLog.connect(store.servers[0].url, "quorum", replicas=2)


@pytest.mark.parametrize("way", ["killed", "stopped", "cut off", "coordinated"])
async def test_nothing_is_lost_when_the_master_is_replaced(store: Watched, way: str) -> None:
    """Writers and readers go on at the new master, and all that they were told is there."""
    async with connected(store, HURRIED_SECONDS) as log, connected(store, HURRIED_SECONDS) as reading:
        crowd = Crowd(log, reading, WRITERS)
        crowd.start()
        await crowd.until_all_wrote()
        old = store.master
        if way == "killed":
            old.kill()
        elif way == "stopped":
            old.process.send_signal(signal.SIGSTOP)
        elif way == "cut off":
            await asyncio.to_thread(cut_off, old)
        else:
            with store.sentinels[0].client() as client:
                client.execute_command("SENTINEL", "FAILOVER", "main", "COORDINATED")
        await asyncio.to_thread(store.until_replaced, old)
        # One of three servers is still away.
        await crowd.until_all_wrote()
        if way == "killed":
            old.start_again()
        elif way == "stopped":
            old.process.send_signal(signal.SIGCONT)
        elif way == "cut off":
            await asyncio.to_thread(let_in, old)
        await crowd.until_all_wrote()
        await crowd.stop()
        async with connected(store) as fresh:
            assert [] == await crowd.lost(fresh)
            assert {} == await fresh.losses.sequences()


async def test_a_new_master_that_lacks_events_is_not_written_to(store: Watched, match_id: str) -> None:
    """A replica with old data is promoted by hand: all processes refuse to append, and others are told the matches."""
    async with connected(store) as log, connected(store) as other:
        await written(log, "kept", 0)
        await written(log, match_id, 0)
        lagging, following = replicas(store)
        lagging.process.send_signal(signal.SIGSTOP)
        await written(log, match_id, 1)
        await asyncio.to_thread(store.promote_behind, lagging, following)
        with pytest.raises(StoreUnavailable, match=r"1 matches.*accept-loss") as refused:
            await _refused_for(log, match_id, MATCHES_LOST)
        assert MATCHES_LOST == refused.value.cause
        assert {match_id: 2} == await log.losses.sequences()
        # A process that remembers nothing, as after a restart.
        async with connected(store) as fresh:
            assert [Entry(b"1")] == await fresh.read("kept")
            with pytest.raises(StoreUnavailable, match="accept-loss"):
                await fresh.append("another", 0, [Entry(b"1")])
            with pytest.raises(Hole):
                await fresh.read(match_id)
            assert {match_id: []} == await fresh.behind({match_id: 0, "kept": 1})
            with pytest.raises(StoreUnavailable, match="accept-loss"):
                await fresh.prove()
            # A process that dies before it has ended the match leaves the rest to the next call.
            assert [match_id] == await fresh.losses.accept() == await fresh.losses.accept()
            await fresh.losses.settle(match_id)
            assert [] == await fresh.losses.accept()
            await written(fresh, "another", 0)
        # The others learn it with their next test write, which a service makes every second.
        await other.prove()
        await written(other, "a third", 0)
        with pytest.raises(StoreUnavailable, match="accept-loss"):
            await log.append("a fourth", 0, [Entry(b"1")])
        await log.prove()
        await written(log, "kept", 1)


async def _refused_for(log: RedisLog, match_id: str, cause: str) -> None:
    """Append until the refusal has this cause, and raise it."""
    while True:
        try:
            await log.append(match_id, 2, [Entry(b"3")])
        except (AppendUnconfirmed, StoreUnavailable) as failure:
            if failure.cause == cause and isinstance(failure, StoreUnavailable):
                raise
        await asyncio.sleep(0.05)
