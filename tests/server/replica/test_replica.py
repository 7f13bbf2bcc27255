"""A match in one process: folded once for all readers, and never changed while it is read."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from rollbook.match.chain import Entry, Position, genesis
from rollbook.match.commands import OpenMatch, Origin, Why
from rollbook.match.decide import Decision
from rollbook.match.ledger import Visible
from rollbook.server.failures import MatchUnknown, TailLost
from rollbook.server.replica.history import History
from rollbook.server.replica.replica import Replica
from rollbook.server.replica.replicas import Replicas
from rollbook.storage.port import AppendResult
from tests.match.played import Played
from tests.server.play.test_matches import NOW_MS, SECRET, opened
from tests.server.replica.keeping import Process, lost_tails
from tests.storage.memory import MemoryLog


def entries_of(decision: Decision) -> list[Entry]:
    """The entries that a decision appends."""
    return [Entry(logged.data, logged.private) for logged in decision.entries]


class Shelf:
    """A store with a match played by another process, and the replicas of this process."""

    def __init__(self, game: str = "allie_gator", log: Any = None) -> None:
        """Start the match."""
        self.log: Any = MemoryLog() if log is None else log
        self.played = Played(game, 3).start()
        self.replicas = Replicas(self.log, self.log, lost_tails(self.log), most_idle=2)
        self.stored = 0

    async def store(self) -> None:
        """Append the new events to the store."""
        new = self.played.log[self.stored :]
        await self.log.append("m", self.stored, [Entry(logged.data, logged.private) for logged in new])
        self.stored = len(self.played.log)

    async def choose(self, times: int = 1) -> None:
        """Make some choices through the other process."""
        for _ in range(times):
            self.played.append(self.played.choose())
        await self.store()

    def watch(self, replica: Replica) -> None:
        """Count as a watcher."""
        replica.watchers += 1


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    """Run a scenario for at most a minute."""

    async def bounded() -> None:
        async with asyncio.timeout(60):
            await scenario()

    asyncio.run(bounded())


@pytest.fixture
def folded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sequences of the events folded from the store, in order."""
    numbers: list[int] = []
    take = History.take

    def counting(history: History, logged: Any) -> None:
        numbers.append(logged.sequence)
        take(history, logged)

    monkeypatch.setattr(History, "take", counting)
    return numbers


def test_what_is_appended_here_is_not_folded_from_the_store(folded: list[int]) -> None:
    """The event extends the replica once it is durable; the tailer recognises it by its bytes."""

    async def scenario() -> None:
        shelf = Shelf()
        await shelf.store()
        with shelf.replicas.use("m") as replica:
            shelf.watch(replica)
            shelf.played.ledger = await replica.caught_up()
            before = replica.sequence
            assert list(range(1, before + 1)) == folded
            decision = shelf.played.choose()
            await replica.append(decision, None)
            assert decision.after is replica.ledger
            await replica.take_tail(before - 1, await shelf.log.read("m", before - 1))
            assert decision.after is await replica.caught_up()
            assert [logged.data for logged in decision.entries] == [
                event.logged.data for event in await replica.events_between(before + 1, replica.sequence)
            ]
        assert list(range(1, before + 1)) == folded

    run(scenario)


class ReadsFirst:
    """A store whose readers learn of an append before the appender does."""

    def __init__(self) -> None:
        """Begin empty."""
        self.inner = MemoryLog()
        self.heard: Callable[[int, Sequence[Entry]], Awaitable[None]] | None = None

    def __getattr__(self, name: str) -> Any:
        """Delegate everything else."""
        return getattr(self.inner, name)

    async def append(self, match_id: str, expected: int, entries: Sequence[Entry], **how: Any) -> AppendResult:
        """Append, and call `heard` before returning."""
        result = await self.inner.append(match_id, expected, entries, **how)
        if self.heard is not None:
            await self.heard(expected, await self.inner.read(match_id, expected))
        return result


def test_a_tailer_that_is_faster_than_the_answer_knows_what_is_being_appended(folded: list[int]) -> None:
    """They use separate connections, so either may come first; the event is folded only once."""

    async def scenario() -> None:
        log = ReadsFirst()
        shelf = Shelf(log=log)
        await shelf.store()
        with shelf.replicas.use("m") as replica:
            shelf.watch(replica)
            shelf.played.ledger = await replica.caught_up()
            before = replica.sequence
            log.heard = replica.take_tail
            decision = shelf.played.choose()
            await replica.append(decision, None)
            assert decision.after is replica.ledger
            assert replica.events is not None
            assert replica.sequence == len(replica.events)
        assert list(range(1, before + 1)) == folded

    run(scenario)


def test_an_event_that_is_known_with_other_bytes_is_a_loss() -> None:
    """At any place among the cached events; a failed replica is replaced and raises its failure."""

    async def scenario() -> None:
        shelf = Shelf()
        await shelf.store()
        with shelf.replicas.use("m") as replica:
            shelf.watch(replica)
            await replica.caught_up()
            entries = await shelf.log.read("m")
            entries[3] = Entry(entries[3].event + b"\0")
            await replica.take_tail(0, entries)
            assert isinstance(replica.failure, TailLost)
            with pytest.raises(TailLost):
                await replica.caught_up()
            with shelf.replicas.use("m") as other:
                assert other is not replica

    run(scenario)


def test_a_ledger_that_somebody_reads_stays_as_it_is() -> None:
    """Frames, looks and answers are built from it while the match continues."""

    async def scenario() -> None:
        shelf = Shelf()
        await shelf.store()
        ledger = await shelf.replicas.ledger("m")
        head, view = ledger.head, ledger.game.view(ledger.match.state, 0)
        await shelf.choose(5)
        newer = await shelf.replicas.ledger("m")
        assert newer.head == shelf.played.ledger.head
        assert (head, view) == (ledger.head, ledger.game.view(ledger.match.state, 0))

    run(scenario)


def held(replica: Replica) -> list[bytes]:
    """The bytes of the cached events."""
    return [event.logged.data for event in replica.events or ()]


def test_a_watched_replica_holds_all_events_and_others_none() -> None:
    """Only watched matches are cached; answers about the past are the same from cache and store."""

    async def scenario() -> None:
        shelf = Shelf()
        await shelf.store()
        await shelf.choose(12)
        with shelf.replicas.use("m") as replica:
            await replica.caught_up()
            assert not held(replica)
            middle = replica.sequence // 2

            async def past() -> tuple[list[Visible], list[Visible], bytes | None]:
                events = [event async for event in replica.past(middle)]
                return events, await replica.events_between(middle, middle + 3), await replica.link_at(middle)

            read = await past()
            shelf.watch(replica)
            await replica.caught_up()
            assert [logged.data for logged in shelf.played.log] == held(replica)
            assert read == await past()
            replica.remove_watcher()
            assert not held(replica)

    run(scenario)


def test_a_replica_in_use_is_never_let_go_of_and_idle_ones_are_bounded() -> None:
    """A thousand matches looked at once do not evict the watched one."""

    async def scenario() -> None:
        shelf = Shelf("cant_stop")
        await shelf.store()
        elsewhere = Process(shelf.log)
        for match_id in ("a", "b", "c"):
            await elsewhere.matches.open(OpenMatch(Origin(NOW_MS), opened(match_id), SECRET))
        with shelf.replicas.use("m") as watched:
            await watched.caught_up()
            for match_id in ("a", "b", "c"):
                await shelf.replicas.ledger(match_id)
            with shelf.replicas.use("m") as again:
                assert watched is again
            known = {match_id for match_id in ("m", "a", "b", "c") if shelf.replicas.known_ledger(match_id) is not None}
            assert {"m", "b", "c"} == known
        with pytest.raises(MatchUnknown):
            await shelf.replicas.ledger("nothing")
        assert shelf.replicas.known_ledger("nothing") is None

    run(scenario)


def test_a_position_is_looked_up_in_one_place() -> None:
    """Before event 1, in the past, at the head, after the visible end, and with another log's link."""

    async def scenario() -> None:
        shelf = Shelf()
        await shelf.store()
        log = shelf.played.log
        with shelf.replicas.use("m") as replica:
            await replica.caught_up()
            head = replica.sequence
            right = [Position(0, genesis("m")), *[Position(logged.sequence, logged.link) for logged in log]]
            assert [None] * len(right) == [await replica.check_position(position, head) for position in right]
            for position, seen, reason in (
                (Position(head + 1, bytes(32)), head, Why.POSITION_AHEAD),
                (right[-1], head - 1, Why.POSITION_AHEAD),
                (Position(0, bytes(32)), head, Why.POSITION_OTHER_LINK),
                (Position(3, bytes(32)), head, Why.POSITION_OTHER_LINK),
                (Position(head, bytes(32)), head, Why.POSITION_OTHER_LINK),
            ):
                misplaced = await replica.check_position(position, seen)
                assert misplaced is not None
                assert (reason, seen) == (misplaced.reason, misplaced.facts["head"])

    run(scenario)


def test_the_match_as_of_a_time_is_the_fold_of_what_had_happened_by_then() -> None:
    """From the store or from the cache; never earlier than what the public sees without delay."""

    async def scenario() -> None:
        shelf = Shelf()
        await shelf.store()
        await shelf.choose(6)
        for watchers in range(2):
            with shelf.replicas.use("m") as replica:
                replica.watchers = watchers
                await replica.caught_up()
                for logged in shelf.played.log[::5]:
                    past = await replica.as_of(logged.time_ms, 1)
                    assert past.time_ms == logged.time_ms
                    assert past.head.sequence >= logged.sequence
                assert 3 == (await replica.as_of(shelf.played.log[0].time_ms - 1, 3)).head.sequence

    run(scenario)
