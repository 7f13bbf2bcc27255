"""Logs that are restored or deleted behind the service's back: noticed, sealed once, never continued."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import grpc
import pytest
import redis.asyncio

from rollbook.match.chain import Entry, Position, genesis
from rollbook.match.commands import Declined, Why
from rollbook.match.events import LOG_LOST, Sealed
from rollbook.match.ledger import Ledger
from rollbook.rules.game import Watcher
from rollbook.server.failures import TailLost
from rollbook.server.feeds.feed import Feeds
from rollbook.server.out.frames import CaughtUpFrame, ConfirmedFrame, EndedFrame, EventsFrame, Frame
from rollbook.storage.embedded.server import find_server
from rollbook.storage.port import AppendResult, StoreUnavailable
from rollbook.storage.redis.keys import stream_key
from rollbook.storage.redis.log import RedisLog
from rollbook.v1 import match_pb2
from rollbook.v1.events_pb2 import ABORT_REASON_LOG_LOST
from rollbook.v1.feed_pb2 import END_REASON_MATCH_OVER
from tests.server.play.test_matches import NOW_MS, Client, Table
from tests.server.replica.keeping import HEAD_KEYS, Process, lost_tails
from tests.server.rpc.talking import World, refusal, some_choice
from tests.server.rpc.talking import run as run_world
from tests.storage.memory import MemoryLog
from tests.storage.servers import Server, running

PATIENCE_SECONDS = 60
Cut = Callable[[int], Awaitable[None]]
Act = Callable[[], Awaitable[None]]


@dataclass(frozen=True)
class Store:
    """A log, and functions that damage it behind the service's back."""

    log: Any
    cut: Cut
    """Keep only the first events, as a restored backup does."""
    delete: Act
    let_go: Act
    """Trim all entries; the store still has their number."""


def in_memory() -> Store:
    """A store in memory."""
    log = MemoryLog(lambda: NOW_MS)

    async def cut(keep: int) -> None:
        del log._streams["m"].entries[keep:]

    async def delete() -> None:
        del log._streams["m"]

    return Store(log, cut, delete, lambda: log.trim("m"))


@asynccontextmanager
async def on_a_server(server: Server) -> AsyncIterator[Store]:
    """A store on a server, with a separate client for the damage."""
    log = await RedisLog.connect(server.url)
    key = stream_key("m")
    client: Any
    async with redis.asyncio.Redis(port=server.port, protocol=2) as client:

        async def cut(keep: int) -> None:
            left = await client.xrange(key, count=keep)
            # In one transaction, as in a failover: watchers may read at any time.
            async with client.pipeline(transaction=True) as changes:
                changes.delete(key)
                for identity, fields in left:
                    changes.xadd(key, fields, id=identity)
                await changes.execute()

        async def delete() -> None:
            await client.delete(key)

        async def let_go() -> None:
            await client.xtrim(key, maxlen=0, approximate=False)

        await client.flushall()
        # Flushing also removed the store's number of partitions, so the log reconnects.
        await log.close()
        log = await RedisLog.connect(server.url)
        try:
            yield Store(log, cut, delete, let_go)
        finally:
            await log.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for all tests of this module."""
    with running(find_server(), tmp_path_factory.mktemp("valkey")) as found:
        yield found


Run = Callable[[Callable[[Store], Awaitable[None]]], None]


@pytest.fixture(params=["memory", "valkey"])
def run(request: pytest.FixtureRequest) -> Run:
    """Run a scenario on each kind of store in turn."""
    server = None if request.param == "memory" else request.getfixturevalue("server")

    def bounded(scenario: Callable[[Store], Awaitable[None]]) -> None:
        async def main() -> None:
            async with asyncio.timeout(PATIENCE_SECONDS):
                if server is None:
                    await scenario(in_memory())
                else:
                    async with on_a_server(server) as store:
                        await scenario(store)

        asyncio.run(main())

    return bounded


async def stored(log: Any) -> Ledger:
    """The ledger folded from the stored log."""
    return Ledger.fold("m", await log.read("m"))


async def played(store: Store) -> tuple[Table, Position]:
    """A match with some choices, and the last position that was delivered."""
    table = Table(store.log)
    await table.start()
    for number in range(3):
        await table.through(table.one, request=f"c{number}")
    return table, (await table.one.ledger("m")).head


async def assert_sealed_once(log: Any, at: int, lost: Position) -> None:
    """The seal follows the stored events and has the lost head as evidence; nothing follows the seal."""
    ledger = await stored(log)
    evidence = HEAD_KEYS.sign("m", lost.sequence, lost.link)
    assert Sealed(None, LOG_LOST, ledger.secret, evidence) == ledger.match.sealed
    assert at == ledger.head.sequence == await log.head("m")


def feeds_of(log: Any, process: Process | None = None) -> Feeds:
    """The feeds of a process of the service."""
    process = process or Process(log)
    return Feeds(log, process.replicas, lambda: NOW_MS)


def watch(feeds: Feeds, position: Position | None = None) -> AsyncIterator[Frame]:
    """A feed for the public."""
    return feeds.watch("m", position, lambda _: Watcher.PUBLIC)


async def catch_up(feed: AsyncIterator[Frame]) -> None:
    """Read on until the watcher has caught up."""
    async for frame in feed:
        if isinstance(frame, CaughtUpFrame):
            return


async def lost_of(feed: AsyncIterator[Frame]) -> TailLost:
    """Read a feed that must end with TailLost, and return that."""
    try:
        async for frame in feed:
            assert not isinstance(frame, EndedFrame)
    except TailLost as lost:
        return lost
    raise AssertionError("the feed ended without a word")


def test_a_cut_log_is_sealed_behind_what_is_stored(run: Run) -> None:
    """The first caller gets TailLost; from then on the match is aborted with the reason."""

    async def scenario(store: Store) -> None:
        table, told = await played(store)
        await store.cut(told.sequence - 2)
        with pytest.raises(TailLost) as lost:
            await table.one.ledger("m")
        assert (told.sequence, told.sequence - 2) == (lost.value.known, lost.value.stored)
        await assert_sealed_once(store.log, told.sequence - 1, told)
        sealed = (await table.one.ledger("m")).match.sealed
        assert sealed is not None
        assert "log_lost" == sealed.aborted
        with pytest.raises(Declined) as declined:
            await table.players[0].resign(0)
        assert Why.MATCH_SEALED == declined.value.reason
        await assert_sealed_once(store.log, told.sequence - 1, told)

    run(scenario)


def test_a_command_that_meets_a_cut_log_is_not_carried_out(run: Run) -> None:
    """A command decided from memory notices the loss at its append, and is refused."""

    async def scenario(store: Store) -> None:
        table, told = await played(store)
        await store.cut(told.sequence - 1)
        with pytest.raises(TailLost):
            await table.players[0].resign(0)
        await assert_sealed_once(store.log, told.sequence, told)

    run(scenario)


def test_a_log_that_went_on_otherwise_is_noticed_even_if_it_is_as_long_as_before(run: Run) -> None:
    """The link of the last event decides, not its number."""

    async def scenario(store: Store) -> None:
        table = Table(store.log)
        ledger = await table.start()
        before = ledger.head.sequence
        first, *others = ledger.game.legal(ledger.match.state)
        await table.through(table.one, first, request="first")
        told = (await table.one.ledger("m")).head
        await store.cut(before)
        forgetful = Process(store.log)
        seat = ledger.awaited_seat
        assert seat is not None
        await Client(forgetful, f"p{seat}").choose(others[0], ledger.head, "other", seat)
        assert told.sequence == await store.log.head("m")
        with pytest.raises(TailLost):
            await table.one.ledger("m")
        await assert_sealed_once(store.log, told.sequence + 1, told)

    run(scenario)


def test_nothing_is_appended_to_a_log_that_went_on_otherwise(run: Run) -> None:
    """A process that remembers another event of the same number notices at the append, before anything is written."""

    async def scenario(store: Store) -> None:
        table = Table(store.log)
        ledger = await table.start()
        before = ledger.head.sequence
        first, *others = ledger.game.legal(ledger.match.state)
        answer = await table.through(table.one, first, request="first")
        told = answer.ledger.head
        await store.cut(before)
        seat = ledger.awaited_seat
        assert seat is not None
        await Client(Process(store.log), f"p{seat}").choose(others[0], ledger.head, "other", seat)
        assert told.sequence == await store.log.head("m")
        with pytest.raises(TailLost):
            await table.players[0].resign(0)
        await assert_sealed_once(store.log, told.sequence + 1, told)

    run(scenario)


def test_several_processes_that_notice_at_once_seal_once(run: Run) -> None:
    """A conflict at the append means that another process has sealed."""

    async def scenario(store: Store) -> None:
        _, told = await played(store)
        processes = [Process(store.log) for _ in range(4)]
        for process in processes:
            await process.ledger("m")
        await store.cut(told.sequence - 3)
        results = await asyncio.gather(*[process.ledger("m") for process in processes], return_exceptions=True)
        assert [TailLost] * 4 == [type(result) for result in results]
        await assert_sealed_once(store.log, told.sequence - 2, told)

    run(scenario)


def test_a_deleted_log_is_lost_for_good_and_nothing_takes_its_place(run: Run) -> None:
    """There is nothing to seal; neither a command nor the opening request creates the match again."""

    async def scenario(store: Store) -> None:
        table, told = await played(store)
        await store.delete()
        for _ in range(2):
            with pytest.raises(TailLost) as lost:
                await table.one.ledger("m")
            assert (told.sequence, 0) == (lost.value.known, lost.value.stored)
            with pytest.raises(TailLost):
                await table.players[0].resign(0)
            with pytest.raises(TailLost):
                await table.players[0].open()
        assert 0 == await store.log.head("m")

    run(scenario)


def test_a_running_match_whose_entries_were_trimmed_away_is_lost(run: Run) -> None:
    """The head's number alone must not be continued."""

    async def scenario(store: Store) -> None:
        table, told = await played(store)
        await store.let_go()
        for _ in range(2):
            with pytest.raises(TailLost):
                await table.one.ledger("m")
        assert told.sequence == await store.log.head("m")

    run(scenario)


def test_a_match_that_is_over_may_be_let_go_of(run: Run) -> None:
    """A finished match is trimmed after archiving; its head stays, and nothing counts as lost."""

    async def scenario(store: Store) -> None:
        table, _ = await played(store)
        await table.players[0].resign(0)
        over = await table.one.ledger("m")
        assert over.match.sealed is not None
        await store.log.trim("m")
        assert over.head == (await table.one.ledger("m")).head

    run(scenario)


class Unwilling:
    """A store that refuses appends for a while."""

    def __init__(self, inner: Any) -> None:
        """Accept appends at first."""
        self.inner = inner
        self.willing = True

    def __getattr__(self, name: str) -> Any:
        """Delegate everything else."""
        return getattr(self.inner, name)

    async def append(self, match_id: str, expected: int, entries: Sequence[Entry], **how: Any) -> AppendResult:
        """Append, or raise StoreUnavailable while unwilling."""
        if not self.willing:
            raise StoreUnavailable("not now")
        result: AppendResult = await self.inner.append(match_id, expected, entries, **how)
        return result


def test_a_seal_that_the_store_did_not_take_is_made_up_for(run: Run) -> None:
    """Until the seal is written, nothing else is appended and every call is refused."""

    async def scenario(store: Store) -> None:
        log = Unwilling(store.log)
        table, told = await played(Store(log, store.cut, store.delete, store.let_go))
        await store.cut(told.sequence - 1)
        log.willing = False
        for _ in range(2):
            with pytest.raises(TailLost):
                await table.one.ledger("m")
        assert told.sequence - 1 == await log.head("m")
        log.willing = True
        with pytest.raises(TailLost):
            await table.one.ledger("m")
        await assert_sealed_once(log, told.sequence, told)

    run(scenario)


def test_it_is_counted_once_for_each_match() -> None:
    """Counting every call would make the alarm useless."""

    async def scenario() -> None:
        store = in_memory()
        counted: list[str] = []
        lost = lost_tails(store.log, lambda: counted.append("m"))
        table = Table(store.log)
        await table.start()
        process = Process(store.log, lost)
        await process.ledger("m")
        await store.delete()
        for _ in range(3):
            with pytest.raises(TailLost):
                await process.ledger("m")
        assert ["m"] == counted

    asyncio.run(scenario())


def test_watchers_of_a_cut_log_are_told_although_nothing_new_ever_comes(run: Run) -> None:
    """All watchers in every process are notified.

    The match is sealed once, and resuming from the lost position fails the same way.
    """

    async def scenario(store: Store) -> None:
        _, told = await played(store)
        processes = [feeds_of(store.log) for _ in range(2)]
        feeds = [watch(process) for process in processes for _ in range(3)]
        for feed in feeds:
            await catch_up(feed)
        await store.cut(told.sequence - 2)
        lost = await asyncio.gather(*[lost_of(feed) for feed in feeds])
        assert {told.sequence} == {each.known for each in lost}
        await assert_sealed_once(store.log, told.sequence - 1, told)
        started_again = feeds_of(store.log)
        for process in (*processes, started_again):
            assert told.sequence == (await lost_of(watch(process, told))).known
            await process.close()

    run(scenario)


def test_a_watcher_from_before_the_cut_goes_on_to_the_seal(run: Run) -> None:
    """The watcher's position is still on the log, so it receives the events up to the seal."""

    async def scenario(store: Store) -> None:
        _, told = await played(store)
        feeds = feeds_of(store.log)
        live = watch(feeds)
        await catch_up(live)
        await store.cut(told.sequence - 1)
        await lost_of(live)
        ledger = await stored(store.log)
        frames = [frame async for frame in watch(feeds, Position(0, genesis("m")))]
        assert isinstance(frames[0], ConfirmedFrame)
        assert told.sequence == sum(len(frame.events) for frame in frames if isinstance(frame, EventsFrame))
        assert EndedFrame(END_REASON_MATCH_OVER, ledger.head) == frames[-1]
        await feeds.close()

    run(scenario)


def test_watchers_of_a_deleted_log_are_told_and_it_stays_deleted(run: Run) -> None:
    """Watchers that come later to a process that caches the match receive the refusal as well."""

    async def scenario(store: Store) -> None:
        await played(store)
        feeds = feeds_of(store.log)
        live = watch(feeds)
        await catch_up(live)
        await store.delete()
        assert 0 == (await lost_of(live)).stored
        assert 0 == (await lost_of(watch(feeds))).stored
        assert 0 == await store.log.head("m")
        await feeds.close()

    run(scenario)


def test_what_a_watcher_was_told_binds_commands_and_the_other_way_round(run: Run) -> None:
    """Commands and feeds of a process share the memory of the furthest delivered position."""

    async def scenario(store: Store) -> None:
        _, told = await played(store)
        process = Process(store.log)
        feeds = feeds_of(store.log, process)
        live = watch(feeds)
        await catch_up(live)
        await store.cut(told.sequence - 1)
        with pytest.raises(TailLost):
            await process.ledger("m")
        await lost_of(live)
        await feeds.close()
        await assert_sealed_once(store.log, told.sequence, told)

    run(scenario)


def test_clients_are_told_data_loss_and_then_find_the_match_aborted() -> None:
    """The refusal has both heads as facts, and lists show the aborted match."""

    async def scenario(world: World) -> None:
        match_id, people = await world.started()
        person, seen = await world.awaited(match_id, people)
        choice, position = some_choice(seen.legal), seen.summary.position
        made = (await person.choose(match_id, choice, position)).made
        del world.log._streams[match_id].entries[made.last - 1 :]
        told = await refusal(person.choose(match_id, choice, position))
        assert (grpc.StatusCode.DATA_LOSS, "LOG_LOST") == (told.code, told.reason)
        assert {"known": str(made.last), "stored": str(made.last - 1)} == told.facts
        summary = (await person.look(match_id)).summary
        assert match_pb2.MATCH_STATE_ABORTED == summary.state
        assert ABORT_REASON_LOG_LOST == summary.aborted.reason
        (listed,) = (await person.call("ListMatches")).matches
        assert ABORT_REASON_LOG_LOST == listed.aborted.reason
        again = await refusal(person.choose(match_id, choice, position))
        assert "MATCH_ABORTED" == again.reason

    run_world(scenario)
