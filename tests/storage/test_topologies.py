"""Stores of several servers: clusters whose slots move, and Sentinels that name the master."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from redis.crc import key_slot

from rollbook.match.chain import Entry
from rollbook.storage.embedded.server import find_server
from rollbook.storage.port import Appended, AppendUnconfirmed, Conflict, LobbyEntry, StoreUnavailable
from rollbook.storage.redis.keys import PARTITIONS_KEY, partition_of, stream_key
from rollbook.storage.redis.log import RedisLog
from tests.storage.servers import Server, running, sentinel_running
from tests.storage.waiting import wait

pytestmark = pytest.mark.asyncio

PATIENCE_SECONDS: Final = 30.0


def until(condition: Callable[[], bool]) -> None:
    """Poll until the condition holds."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def complete(client: Any) -> bool:
    """Whether a server of a cluster knows a server for every slot."""
    return b"cluster_state:ok" in client.execute_command("CLUSTER", "INFO")


class Pair:
    """A cluster of two servers, with the operations of an operator."""

    def __init__(self, servers: list[Server], clients: list[Any]) -> None:
        """Take two servers, each with half of the slots."""
        self.servers = servers
        self.clients = clients
        self.ids = [client.execute_command("CLUSTER", "MYID").decode() for client in clients]

    @property
    def url(self) -> str:
        """The URL of one host, which is enough."""
        return self.servers[0].url

    def owner(self, slot: int) -> int:
        """The index of the server that has a slot."""
        first, last, (_, port, *_), *_ = next(
            found for found in self.clients[0].execute_command("CLUSTER SLOTS") if found[0] <= slot <= found[1]
        )
        assert first <= slot <= last
        return [server.port for server in self.servers].index(port)

    def refused(self) -> int:
        """How many commands were refused because their keys are on two servers."""
        found = [client.info("errorstats").get("errorstat_TRYAGAIN", {"count": 0}) for client in self.clients]
        return sum(int(one["count"]) for one in found)

    def begin_to_move(self, slot: int) -> int:
        """Begin to move a slot; return the index of the new owner."""
        old = self.owner(slot)
        new = 1 - old
        self.clients[new].execute_command("CLUSTER", "SETSLOT", slot, "IMPORTING", self.ids[old])
        self.clients[old].execute_command("CLUSTER", "SETSLOT", slot, "MIGRATING", self.ids[new])
        return new

    def carry(self, new: int, *keys: bytes) -> None:
        """Migrate some keys."""
        port = self.servers[new].port
        self.clients[1 - new].execute_command("MIGRATE", "127.0.0.1", port, "", 0, 5_000, "KEYS", *keys)

    def finish_move(self, slot: int, new: int) -> None:
        """Migrate the remaining keys, and assign the slot to the new owner."""
        if left := self.clients[1 - new].execute_command("CLUSTER", "GETKEYSINSLOT", slot, 1_000):
            self.carry(new, *left)
        for client in (self.clients[new], self.clients[1 - new]):
            client.execute_command("CLUSTER", "SETSLOT", slot, "NODE", self.ids[new])


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Two servers with half of the slots each."""
    with ExitStack() as stack:
        servers = [
            stack.enter_context(running(find_server(), tmp_path_factory.mktemp("pair"), slots=slots))
            for slots in (range(8_192), range(8_192, 16_384))
        ]
        clients: list[Any] = [stack.enter_context(server.client()) for server in servers]
        clients[0].execute_command("CLUSTER", "MEET", "127.0.0.1", servers[1].port)
        for client in clients:
            until(partial(complete, client))
        yield Pair(servers, clients)


async def test_matches_are_spread_over_the_servers(pair: Pair, match_id: str) -> None:
    """Appends, waits and the lobby work across them, and one wait covers both."""
    log = await RedisLog.connect(pair.url)
    matches = [f"{match_id}-{number}" for number in range(30)]
    results = await asyncio.gather(*(log.append(match, 0, [Entry(b"1")], lobby=LobbyEntry(b"x")) for match in matches))
    assert [Appended(1)] * 30 == results
    assert {0, 1} == {pair.owner(key_slot(stream_key(match))) for match in matches}
    assert set(matches) <= (await log.lobby()).keys()
    seen = dict.fromkeys(matches, 1)
    for match in matches:
        waiting = asyncio.ensure_future(wait(log, seen, PATIENCE_SECONDS))
        await log.append(match, 1, [Entry(b"2")])
        assert {match: [Entry(b"2")]} == await waiting
        seen[match] = 2
    assert await log.now_ms() > 0
    await log.close()


async def test_a_slot_that_has_moved_is_followed(pair: Pair, match_id: str) -> None:
    """The log follows and remembers the redirection of its outdated map, and writes nothing twice."""
    log = await RedisLog.connect(pair.url)
    slot = key_slot(stream_key(match_id, log.parts))
    await log.append(match_id, 0, [Entry(b"one")])
    waiting = asyncio.ensure_future(wait(log, {match_id: 1}, PATIENCE_SECONDS))
    await asyncio.sleep(0.02)
    new = pair.begin_to_move(slot)
    pair.finish_move(slot, new)
    assert Appended(2) == await log.append(match_id, 1, [Entry(b"two")])
    assert Conflict(2) == await log.append(match_id, 1, [Entry(b"two")])
    assert {match_id: [Entry(b"two")]} == await waiting
    assert [Entry(b"one"), Entry(b"two")] == await log.read(match_id)
    await log.close()


async def test_a_slot_that_is_being_moved_is_asked_for_on_both_sides(pair: Pair, match_id: str) -> None:
    """A match that was migrated, one that was not, and one that is separated from its lobby meanwhile."""
    log = await RedisLog.connect(pair.url)
    partition = partition_of(match_id, log.parts)
    near = next(f"{match_id}-{n}" for n in range(10_000) if partition_of(f"{match_id}-{n}", log.parts) == partition)
    slot = key_slot(stream_key(match_id, log.parts))
    for match in (match_id, near):
        await log.append(match, 0, [Entry(b"one")], lobby=LobbyEntry(b"open"))
    new = pair.begin_to_move(slot)
    pair.carry(new, stream_key(match_id, log.parts))
    assert Appended(2) == await log.append(match_id, 1, [Entry(b"two")])
    assert Appended(2) == await log.append(near, 1, [Entry(b"two")])
    assert [Entry(b"one"), Entry(b"two")] == await log.read(match_id)
    assert {match_id: [Entry(b"two")]} == await wait(log, {match_id: 1}, PATIENCE_SECONDS)
    assert 2 == await log.head(near)
    with pytest.raises(StoreUnavailable):
        await log.append(match_id, 2, [Entry(b"three")], lobby=LobbyEntry(b"running"))
    assert 2 == await log.head(match_id)
    refused = pair.refused()
    appending = asyncio.ensure_future(log.append(match_id, 2, [Entry(b"three")], lobby=LobbyEntry(b"running")))
    await asyncio.to_thread(until, lambda: pair.refused() > refused)
    # It is retried, since nothing was written.
    pair.finish_move(slot, new)
    assert Appended(3) == await appending
    assert b"running" == (await log.lobby())[match_id]
    await log.close()


async def test_one_server_of_a_cluster_is_no_store(pair: Pair) -> None:
    """The message names the URL to use instead."""
    without = pair.servers[1 - pair.owner(key_slot(PARTITIONS_KEY))]
    with pytest.raises(StoreUnavailable, match=r"server of a cluster.*use redis\+cluster://"):
        await RedisLog.connect(without.url.replace("redis+cluster", "redis"))


@pytest.mark.slow
async def test_the_master_that_sentinel_names_is_used_and_followed(tmp_path: Path, match_id: str) -> None:
    """The log finds the new master by itself; unanswered appends are unconfirmed."""
    with ExitStack() as stack:
        quick = {"repl-diskless-sync-delay": "0"}
        servers = [stack.enter_context(running(find_server(), tmp_path / name, quick)) for name in ("old", "new")]
        replica = stack.enter_context(servers[1].client())
        replica.execute_command("REPLICAOF", "127.0.0.1", servers[0].port)
        until(lambda: replica.info("replication")["master_link_status"] == "up")
        watching = stack.enter_context(sentinel_running(find_server(), tmp_path, servers[0]))
        sentinel: Any = stack.enter_context(watching.client())
        sentinel.execute_command("SENTINEL", "DEBUG", "INFO-PERIOD", 100, "PING-PERIOD", 100)
        until(lambda: sentinel.execute_command("SENTINEL", "REPLICAS", "main") != [])
        log = await RedisLog.connect(f"{watching.url}/main", append_seconds=1.0)
        assert Appended(1) == await log.append(match_id, 0, [Entry(b"one")])
        assert [Entry(b"one")] == await log.read(match_id)
        until(lambda: replica.execute_command("XLEN", stream_key(match_id, log.parts)) == 1)
        servers[0].process.kill()
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                result = await log.append(match_id, 1, [Entry(b"two")])
            except (AppendUnconfirmed, StoreUnavailable):
                assert time.monotonic() < deadline
                await asyncio.sleep(0.02)
            else:
                break
        assert result in (Appended(2), Conflict(2))
        assert [Entry(b"one"), Entry(b"two")] == await log.read(match_id)
        assert 2 == replica.execute_command("XLEN", stream_key(match_id, log.parts))
        await log.close()


@pytest.mark.parametrize("ailing", [0, 1])
async def test_every_master_is_written_on_before_the_store_is_called_well(pair: Pair, ailing: int) -> None:
    """Otherwise half of the matches would be refused while the store counts as healthy."""
    log = await RedisLog.connect(pair.url)
    await log.prove()
    pair.clients[ailing].execute_command("CONFIG", "SET", "maxmemory", "1")
    with pytest.raises(StoreUnavailable, match="maxmemory"):
        await log.prove()
    pair.clients[ailing].execute_command("CONFIG", "SET", "maxmemory", "0")
    await log.prove()
    await log.close()
