"""Durability `replicated` while replicas are attached, detached and reconfigured: no acknowledged write is lost."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, Final, NoReturn

import pytest
import redis.asyncio

from rollbook.match.chain import Entry
from rollbook.storage.port import REPLICAS_DIFFER, Appended, AppendUnconfirmed, StoreUnavailable
from rollbook.storage.redis.address import Kind, parse
from rollbook.storage.redis.attached import Attached
from rollbook.storage.redis.candidates import Candidates
from rollbook.storage.redis.confirmation import Confirmation, Lack
from rollbook.storage.redis.durability import Keeping
from rollbook.storage.redis.log import RedisLog
from rollbook.storage.redis.masters import ConnectionSettings, _of_one_host
from tests.ports import free_port
from tests.storage.failovers import PATIENCE_SECONDS, Clustered, Copied, clustered, copied, joined, until
from tests.storage.servers import OLDEST_REDIS
from tests.storage.writers import Crowd

pytestmark = pytest.mark.asyncio

HURRIED_SECONDS: Final = 1.0
"""The time for an answer where none is expected."""
PAUSE_SECONDS: Final = 0.05
WRITERS: Final = 8
ONE: Final = {"min-replicas-to-write": "1"}
NEVER: Final = {"replica-priority": "0"}


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Copied]:
    """A master and the replica that may be promoted."""
    with copied(tmp_path / "pair", settings=ONE) as found:
        yield found


@asynccontextmanager
async def connected(store: Copied | Clustered, durability: Any = "replicated", **how: Any) -> AsyncIterator[RedisLog]:
    """Connect a log that waits for one promotable replica; retry, since a busy disk may be slow."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            try:
                log = await RedisLog.connect(store.url, durability, **how)
                break
            except StoreUnavailable:
                await asyncio.sleep(PAUSE_SECONDS)
    try:
        yield log
    finally:
        await log.close()


async def test_a_replica_that_is_added_is_noticed_by_the_next_acknowledgement(pair: Copied, tmp_path: Path) -> None:
    """The first write is unconfirmed and later ones are not sent, until the number of replicas fits again."""
    async with connected(pair) as log, connected(pair) as other:
        assert Appended(1) == await log.append("m", 0, [Entry(b"one")])
        with joined(pair, tmp_path / "third") as third, third.client() as client:
            with pytest.raises(AppendUnconfirmed, match=r"2 replicas that may .*--replicas is 1") as doubt:
                await log.append("m", 1, [Entry(b"two")])
            assert REPLICAS_DIFFER == doubt.value.cause
            for refused in (log.append("m", 2, [Entry(b"three")]), log.head("m"), log.prove(), other.read("m")):
                with pytest.raises(StoreUnavailable) as caught:
                    await refused
                assert REPLICAS_DIFFER == caught.value.cause
            client.config_set("replica-priority", "0")
            assert [Entry(b"one"), Entry(b"two")] == await log.read("m")
            assert Appended(3) == await log.append("m", 2, [Entry(b"three")])
            client.config_set("replica-priority", "100")
            with pytest.raises(AppendUnconfirmed, match="2 replicas"):
                await log.append("m", 3, [Entry(b"four")])
        await asyncio.to_thread(pair.until_followed, 1)
        await log.prove()
        assert 4 == len(await log.read("m"))


async def test_an_added_replica_that_confirms_nothing_is_named_at_once(pair: Copied, tmp_path: Path) -> None:
    """One without a file of its own never has anything on its disk; what is wrong is that it was added."""
    async with connected(pair) as log:
        assert Appended(1) == await log.append("m", 0, [Entry(b"one")])
        with joined(pair, tmp_path / "third", {"appendonly": "no"}) as third:
            with pytest.raises(AppendUnconfirmed, match=f"2 replicas that may .*:{third.port}") as doubt:
                await log.append("m", 1, [Entry(b"two")])
            assert REPLICAS_DIFFER == doubt.value.cause


async def test_a_replica_that_is_never_promoted_takes_nobodys_place(pair: Copied, tmp_path: Path) -> None:
    """It has to confirm as well, but cannot replace the confirmation of a promotable replica."""
    async with connected(pair) as log, connected(pair, append_seconds=HURRIED_SECONDS) as hurried:
        with joined(pair, tmp_path / "third", NEVER) as third:
            assert Appended(1) == await log.append("m", 0, [Entry(b"one")])
            for stopped in (pair.servers[1], third):
                stopped.process.send_signal(signal.SIGSTOP)
                try:
                    with pytest.raises(AppendUnconfirmed, match=r"[01] of 2 replicas"):
                        await hurried.append("m", await log_length(pair), [Entry(b"another")])
                    with pytest.raises(StoreUnavailable, match=r"[01] of 2 replicas"):
                        await hurried.read("m")
                finally:
                    stopped.process.send_signal(signal.SIGCONT)
            assert 3 == len(await log.read("m"))
            pair.servers[1].kill()
            await asyncio.to_thread(pair.until_followed, 1)
            with pytest.raises(AppendUnconfirmed, match=r"0 replicas that may .*--replicas is 1") as doubt:
                await log.append("m", 3, [Entry(b"four")])
            assert REPLICAS_DIFFER == doubt.value.cause


async def log_length(store: Copied) -> int:
    """The length of the only log, read without waiting for a replica."""
    async with connected(store, "relaxed") as log:
        return await log.head("m")


async def test_a_replica_that_becomes_one_of_priority_0_does_not_count_any_more(pair: Copied) -> None:
    """The change applies to the next acknowledgement, also when the replica becomes promotable again."""
    async with connected(pair) as log:
        assert Appended(1) == await log.append("m", 0, [Entry(b"one")])
        with pair.servers[1].client() as client:
            client.config_set("replica-priority", "0")
            with pytest.raises(AppendUnconfirmed, match="0 replicas"):
                await log.append("m", 1, [Entry(b"two")])
            client.config_set("replica-priority", "1")
        assert Appended(3) == await log.append("m", 2, [Entry(b"three")])


async def proved_in_a_hurry(log: RedisLog) -> NoReturn:
    """Look again and again, each time with less patience than a confirmation needs; raises what a look raises."""
    while True:
        with suppress(TimeoutError):
            await asyncio.wait_for(log.prove(), HURRIED_SECONDS)


async def test_the_cause_is_named_although_no_look_waits_for_its_confirmation(pair: Copied) -> None:
    """A service gives up a look at its store before replicas have had their time; the next look names them."""
    async with connected(pair, append_seconds=PATIENCE_SECONDS) as log:
        with pair.servers[1].client() as client:
            client.config_set("replica-priority", "0")
        async with asyncio.timeout(PATIENCE_SECONDS):
            with pytest.raises(StoreUnavailable, match="0 replicas"):
                await proved_in_a_hurry(log)


async def test_a_replica_that_does_not_say_may_be_either(pair: Copied) -> None:
    """It might never be promoted, while the promotable replica is detached."""
    async with connected(pair) as log:
        with pair.servers[1].client() as client:
            client.execute_command("ACL", "SETUSER", "default", "-config")
            with pytest.raises(AppendUnconfirmed, match=r"do not report .*:\d+"):
                await log.append("m", 0, [Entry(b"one")])
            client.execute_command("ACL", "SETUSER", "default", "+config")
        assert [Entry(b"one")] == await log.read("m")


async def test_a_program_that_copies_the_data_is_no_replica(pair: Copied) -> None:
    """A backup by `--rdb` is listed while it runs, but can neither be asked nor be promoted."""
    with pair.master.client() as client:
        client.set("more than sockets hold", os.urandom(32 << 20))
        reader, writer = await asyncio.open_connection("127.0.0.1", pair.master.port)
        try:
            writer.write(b"REPLCONF rdb-only 1\r\n")
            assert b"+OK\r\n" == await reader.readline()
            writer.write(b"SYNC\r\n")
            await asyncio.to_thread(until, lambda: client.info("replication")["connected_slaves"] == 2)
            async with connected(pair) as log:
                assert Appended(1) == await log.append("m", 0, [Entry(b"one")])
        finally:
            writer.close()


async def test_a_cluster_promotes_replicas_of_any_priority(tmp_path: Path) -> None:
    """Only `cluster-replica-no-failover` prevents the promotion of a replica in a Cluster."""
    with clustered(tmp_path, ONE) as store:
        async with connected(store) as log:
            for setting, value, refused in (
                ("replica-priority", "0", nullcontext()),
                ("cluster-replica-no-failover", "yes", pytest.raises(StoreUnavailable, match="0 replicas")),
            ):
                for server in store.servers:
                    with server.client() as client:
                        client.config_set(setting, value)
                with refused:
                    await log.prove()


@pytest.mark.parametrize("binary", [None, OLDEST_REDIS])
async def test_many_write_at_once_and_each_is_confirmed(tmp_path: Path, binary: Path | None) -> None:
    """Each write is confirmed, even by the oldest server, whose WAIT includes concurrent writes of other clients."""
    durability: Any = "replicated" if binary is None else "replicated-memory"
    with (
        copied(tmp_path / "pair", settings=ONE, binary=binary) as store,
        joined(store, tmp_path / "third", NEVER, binary),
    ):
        async with connected(store, durability) as one, connected(store, durability) as two:
            crowds = [Crowd(one, two, WRITERS), Crowd(two, one, WRITERS, "others")]
            for crowd in crowds:
                crowd.start()
            for _ in range(3):
                await asyncio.gather(*(crowd.until_all_wrote() for crowd in crowds))
            for crowd in crowds:
                await crowd.stop()
                assert [] == await crowd.lost(one)


@pytest.mark.parametrize("kind", ["added", "kept from promotion"])
async def test_no_failover_loses_what_was_acknowledged_while_a_replica_was_added(
    pair: Copied, tmp_path: Path, kind: str
) -> None:
    """The promoted replica is the added one, or the one that did not confirm while one of priority 0 did."""
    async with (
        connected(pair, append_seconds=HURRIED_SECONDS) as writing,
        connected(pair, append_seconds=HURRIED_SECONDS) as reading,
    ):
        crowd = Crowd(writing, reading, WRITERS)
        crowd.start()
        await crowd.until_all_wrote()
        with joined(pair, tmp_path / "third", {} if kind == "added" else NEVER) as third:
            promoted = third if kind == "added" else pair.servers[1]
            if kind != "added":
                await crowd.until_all_wrote()
            promoted.process.send_signal(signal.SIGSTOP)
            await crowd.until_all_tried(3)
            await asyncio.to_thread(pair.fail_over_to, promoted)
            if kind != "added":
                # It is the master now, and the other one its only replica.
                with third.client() as client:
                    client.config_set("replica-priority", "100")
            await crowd.until_all_wrote()
            await crowd.stop()
            assert [] == await crowd.lost(reading)


async def test_many_acknowledgements_ask_at_once_while_replicas_come_and_go(pair: Copied) -> None:
    """Concurrent acknowledgements may close their connections to the same detached replica."""
    settings = ConnectionSettings(parse(pair.url), Keeping("replicated"), HURRIED_SECONDS)
    candidates = Candidates(Kind.SERVER, lambda host: _of_one_host(settings, host).reads)
    here, there, gone = [("127.0.0.1", port) for port in (pair.servers[0].port, pair.servers[1].port, free_port())]
    assert {here: True, there: True, gone: None} == await candidates.promotable([here, there, gone], PATIENCE_SECONDS)
    answers = await asyncio.gather(*(candidates.promotable([there], PATIENCE_SECONDS) for _ in range(3)))
    assert [{there: True}] * 3 == answers
    await candidates.close()


# What happens between the two halves of a confirmation: one waits for replicas, the other counts them and lists them.


class Between:
    """A connection that lets something happen after a confirmation has waited for replicas."""

    def __init__(self, client: Any, happen: Callable[[], None]) -> None:
        """Call `happen` once."""
        self._client = client
        self._happen: Callable[[], None] | None = happen

    async def converse(self, commands: Sequence[tuple[bytes | str | int, ...]]) -> list[Any]:
        """Send the waiting commands, call `happen`, then send the transaction."""
        answers = [await self._send(command) for command in commands[:2]]
        if self._happen is not None:
            happen, self._happen = self._happen, None
            await asyncio.to_thread(happen)
        return answers + [await self._send(command) for command in commands[2:]]

    async def _send(self, command: tuple[bytes | str | int, ...]) -> Any:
        await self._client.send_command(*command)
        return await self._client.read_response()


async def confirmed(store: Copied, happen: Callable[[], None], seconds: float = HURRIED_SECONDS) -> Lack | None:
    """The lack of a confirmation during which this happens, or None."""
    settings = ConnectionSettings(parse(store.url), Keeping("replicated"), HURRIED_SECONDS)
    candidates = Candidates(Kind.SERVER, lambda host: _of_one_host(settings, host).reads)
    confirmation = Confirmation("WAITAOF", 1, seconds, candidates)
    client = redis.asyncio.Connection(port=store.master.port, protocol=2)
    await client.connect()  # type: ignore[no-untyped-call]
    try:
        between = Between(client, happen)
        await between._send(("SET", "written", 1))
        return await confirmation.lack(between.converse)
    finally:
        await client.disconnect()
        await confirmation.close()


async def test_a_replica_that_is_attached_within_a_confirmation_is_seen(pair: Copied, tmp_path: Path) -> None:
    """The replica appears after the wait for the other disk and before the list is read."""
    with joined(pair, tmp_path / "third") as third, third.client() as client:
        client.execute_command("REPLICAOF", "NO", "ONE")
        await asyncio.to_thread(pair.until_followed, 1)

        def attach() -> None:
            client.execute_command("REPLICAOF", "127.0.0.1", pair.master.port)
            pair.until_followed(2)

        lack = await confirmed(pair, attach, PATIENCE_SECONDS)
        assert lack is not None
        assert REPLICAS_DIFFER == lack.cause


async def test_a_replica_that_is_detached_within_a_confirmation_does_not_count(pair: Copied) -> None:
    """It had the write but is no longer attached."""

    def detach() -> None:
        pair.servers[1].kill()
        pair.until_followed(0)

    lack = await confirmed(pair, detach)
    assert lack is not None
    assert REPLICAS_DIFFER == lack.cause


async def test_a_replica_that_is_replaced_within_a_confirmation_does_not_count(pair: Copied, tmp_path: Path) -> None:
    """The number of replicas fits all the time, but the new one has not confirmed the write."""
    with joined(pair, tmp_path / "third") as third, third.client() as client:
        client.execute_command("REPLICAOF", "NO", "ONE")
        await asyncio.to_thread(pair.until_followed, 1)

        def replace() -> None:
            pair.servers[1].kill()
            client.execute_command("REPLICAOF", "127.0.0.1", pair.master.port)
            pair.until_followed(1)
            third.process.send_signal(signal.SIGSTOP)

        lack = await confirmed(pair, replace)
        # Stopped early it has confirmed nothing; stopped later it does not answer the question for its priority.
        assert lack is not None
        assert "0 of 1 replicas" in lack.why or "do not report" in lack.why


@pytest.mark.parametrize(
    ("lines", "hosts", "online", "offsets"),
    [
        (["connected_slaves:0"], set(), 0, ()),
        (["connected_slaves:1", "slave0:ip=::1,port=1,state=online,offset=5,lag=0"], {("::1", 1)}, 1, (5,)),
        (["connected_slaves:1", "slave0:ip=a,port=1,state=wait_bgsave,offset=0,lag=0"], {("a", 1)}, 0, ()),
        # A connection that is not closed yet, and its replacement.
        (
            ["connected_slaves:2", "slave0:ip=a,port=1,state=online", "slave1:ip=a,port=1,state=online"],
            {("a", 1)},
            2,
            (0, 0),
        ),
        # A replica that the master counts and does not list.
        (["connected_slaves:2", "slave0:ip=a,port=1,state=online"], {("a", 1)}, 2, (0,)),
    ],
)
async def test_what_a_master_lists_is_read(
    lines: list[str], hosts: set[tuple[str, int]], online: int, offsets: tuple[int, ...]
) -> None:
    """Each replica counts once, each connection separately."""
    said = "\r\n".join(["# Replication", "role:master", *lines, "master_repl_offset:7", ""])
    attached = Attached.of(said.encode())
    assert (frozenset(hosts), online, offsets, 7) == (
        attached.hosts,
        attached.online,
        attached.offsets,
        attached.written,
    )
