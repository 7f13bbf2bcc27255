"""Abandoned matches end by themselves, once, by the store's clock, and not because of downtime."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from rollbook.match.commands import Declined, Expire, LeaveSeat, NotDue, Origin, TakeSeat, Why
from rollbook.match.events import EXPIRED, Sealed, Terms
from rollbook.server import app
from rollbook.server.app import Parts
from rollbook.server.configuration.limit_table import Limits
from rollbook.server.timers.sweeper import EXPIRY_SPARED_MS
from rollbook.storage.embedded.server import find_server
from rollbook.storage.port import Appended, AppendResult
from rollbook.v1 import match_pb2, replay_pb2
from rollbook.v1.events_pb2 import ABORT_REASON_EXPIRED, Event
from tests.server.lobby.archives import Keeper
from tests.server.lobby.archives import run as keep
from tests.server.replica import spoiling
from tests.server.replica.spoiling import SetLog, Spoiler
from tests.server.rpc.talking import World
from tests.server.rpc.talking import run as serve
from tests.server.timers.sweeping import MATCH, SECRET, Replicas, noted_reads, run
from tests.storage.servers import Server, running

OPEN = Terms(open_seconds=120, ready_seconds=20)
IDLE = Terms(idle_seconds=300, ready_seconds=20)
GONE = [Sealed(None, EXPIRED, SECRET)]


@pytest.fixture(scope="module")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A store whose clock the tests can set forward."""
    with running(find_server(), tmp_path_factory.mktemp("valkey")) as found:
        yield found


@pytest.mark.parametrize(
    ("terms", "seated", "ready", "ms"), [(OPEN, 0, 0, 120_000), (OPEN, 1, 0, 120_000), (IDLE, 2, 2, 300_000)]
)
def test_a_match_that_is_left_alone_expires_once(terms: Terms, seated: int, ready: int, ms: int) -> None:
    """With free seats, or running without a clock; exact to the millisecond, with two replicas sweeping."""

    async def scenario() -> None:
        replicas = Replicas()
        await replicas.open(terms=terms, seated=seated, ready=ready)
        await replicas.sweep()
        await replicas.live(ms - 1)
        assert [] == await replicas.events(Sealed)
        await replicas.live(1)
        assert GONE == await replicas.events(Sealed)
        assert [True] == [listed.is_over for listed in await replicas.services[0].lobby.everything()]

    run(scenario)


@pytest.mark.parametrize(
    ("terms", "ready"),
    [
        (Terms(open_seconds=60, idle_seconds=60), 0),
        (Terms(open_seconds=60, idle_seconds=60), 1),
        (Terms(open_seconds=60), 2),
        (Terms(open_seconds=60, idle_seconds=60, turn_seconds=1_209_600), 2),
    ],
)
def test_no_other_match_expires(terms: Terms, ready: int) -> None:
    """Matches that get ready, have a clock, or may be left alone for ever do not expire."""

    async def scenario() -> None:
        replicas = Replicas()
        await replicas.open(terms=terms, ready=ready)
        head = await replicas.log.head(MATCH)
        await replicas.live(200_000)
        assert head == await replicas.log.head(MATCH)

    run(scenario)


def test_whatever_happens_in_a_match_gives_it_its_time_again() -> None:
    """Events that do not change the lobby extend the time too; the match is read only when it may be due."""

    async def scenario() -> None:
        replicas = Replicas()
        await replicas.open(terms=IDLE, ready=2)
        await replicas.sweep()
        await replicas.live(200_000)
        ledger = await replicas.ledger()
        seat = ledger.awaited_seat
        assert seat is not None
        choice = ledger.game.caretaker(ledger.match.state)
        before = await replicas.log.lobby()
        await replicas.services[0].matches.carry_out(MATCH, replicas.choose(f"p{seat}", ledger.head, choice))
        assert before == await replicas.log.lobby()
        await replicas.live(299_999)
        assert [] == await replicas.events(Sealed)
        await replicas.live(1)
        assert GONE == await replicas.events(Sealed)

    run(scenario)


def test_nothing_is_read_of_a_match_before_it_may_be_due(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lobby index has the earliest time at which it may be due."""

    async def scenario() -> None:
        replicas = Replicas()
        await replicas.open(terms=OPEN, seated=1)
        await replicas.open(terms=IDLE, ready=2, match_id="b" * 24)
        replicas.services = [replicas.service(), replicas.service()]
        replicas.sweepers = [service.sweeper() for service in replicas.services]
        read = noted_reads(replicas.log, monkeypatch)
        await replicas.sweep()
        # A match that has started is read once, to see whether a person has made a choice.
        assert {"b" * 24} == set(read)
        read.clear()
        await replicas.live(119_999)
        assert [] == read
        await replicas.live(1)
        assert {MATCH} == set(read)

    run(scenario)


def test_clocks_that_are_wrong_end_no_match_early() -> None:
    """The store compares with its own clock, not with a time that a service sends."""

    async def scenario() -> None:
        replicas = Replicas(skew_ms=3_600_000)
        await replicas.open(terms=OPEN, seated=1)
        await replicas.sweep()
        await replicas.live(119_000)
        for service in replicas.services:
            with pytest.raises(NotDue):
                await service.matches.carry_out(MATCH, Expire(Origin(replicas.now_ms + 3_600_000)))
        assert [] == await replicas.events(Sealed)
        await replicas.live(1_000)
        assert GONE == await replicas.events(Sealed)

    run(scenario)


def test_whoever_does_something_at_the_last_moment_wins() -> None:
    """A process that has not seen the command cannot end the match: its append names an older event."""

    async def scenario() -> None:
        replicas = Replicas()
        await replicas.open(terms=OPEN, seated=1)
        one, other = (service.matches for service in replicas.services)
        await replicas.services[1].replicas.ledger(MATCH)
        replicas.now_ms += 120_000
        due = Expire(Origin(replicas.now_ms))
        await one.carry_out(MATCH, LeaveSeat(replicas.by("p0")))
        with pytest.raises(Declined) as declined:
            await other.carry_out(MATCH, due)
        assert Why.POSITION_BEHIND is declined.value.reason
        with pytest.raises(NotDue):
            await other.carry_out(MATCH, due)
        replicas.now_ms += 120_000
        sat = replicas.by("late")
        answers = await asyncio.gather(
            one.carry_out(MATCH, TakeSeat(sat)),
            other.carry_out(MATCH, Expire(Origin(replicas.now_ms))),
            return_exceptions=True,
        )
        assert 1 == sum(not isinstance(answer, BaseException) for answer in answers)
        head = await replicas.log.head(MATCH)
        assert 4 == head

    run(scenario)


def test_after_downtime_nothing_expires_for_a_minute() -> None:
    """Players who could not reach the service may return within that minute, which restarts the match's time."""

    async def scenario() -> None:
        replicas = Replicas()
        await replicas.open(terms=OPEN, seated=1)
        await replicas.open(terms=OPEN, seated=1, match_id="b" * 24)
        await replicas.sweep()
        replicas.now_ms += 36_000_000
        await replicas.sweep()
        await replicas.live(EXPIRY_SPARED_MS - 1)
        assert [] == await replicas.events(Sealed)
        await replicas.services[0].matches.carry_out("b" * 24, LeaveSeat(replicas.by("p0")))
        await replicas.live(1)
        assert GONE == await replicas.events(Sealed)
        assert [] == await replicas.events(Sealed, "b" * 24)

    run(scenario)


def test_of_two_processes_on_one_store_one_ends_a_match_that_is_left_alone(
    valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both replicas use a real store's script and clock at once."""
    won: list[int] = []
    append = SetLog.append

    async def note(log: SetLog, *arguments: Any, **terms: Any) -> AppendResult:
        result = await append(log, *arguments, **terms)
        if isinstance(result, Appended):
            won.append(result.head)
        return result

    monkeypatch.setattr(SetLog, "append", note)

    async def scenario(world: Spoiler) -> None:
        opener = world.person("opener")
        left = [(await opener.open(open_seconds=60)).match_id for _ in range(5)]
        started, _ = await world.started(idle_seconds=3_600)
        second = await SetLog.connect(valkey.url)
        won.clear()
        try:
            services = [world.service, World(log=second).service]
            sweepers = [service.sweeper() for service in services]
            for number in count():
                await asyncio.gather(*[sweeper.sweep() for sweeper in sweepers])
                for store in (world.log.store, second):
                    store.ahead_ms += 1_000
                over = [match_id for match_id in left if await sealed(services[0], match_id)]
                if over == left:
                    break
                assert number >= 45 or not over
            for match_id in left:
                for service in services:
                    assert 2 == (await service.replicas.ledger(match_id)).head.sequence
                    assert await sealed(service, match_id)
            assert len(left) == won.count(2)
            assert not await sealed(services[0], started)
        finally:
            await second.close()

    spoiling.run(valkey, scenario)


async def sealed(service: Parts, match_id: str) -> bool:
    """Whether the match is over according to this process."""
    return (await service.replicas.ledger(match_id)).match.sealed is not None


def test_everybody_hears_that_a_match_has_expired_and_its_file_is_exact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Watchers, lobby, lists and refusals have the reason, from the log and from the archive."""
    monkeypatch.setattr(app, "LOBBY_SECONDS", 0.01)

    async def scenario(keeper: Keeper) -> None:
        people = [keeper.person(name) for name in ("opener", "sitter", "watcher")]
        opener, sitter, watcher = people
        match_id = (await opener.open(open_seconds=60)).match_id
        await sitter.call("TakeSeat", match_id=match_id)
        watch, lobby = keeper.watch(watcher, match_id), keeper.lobby(watcher)
        await watch.until("caught_up")
        await lobby.until("snapshot")
        sweeper = keeper.service.sweeper()
        for _ in range(61):
            await sweeper.sweep()
            keeper.clock.ms += 1_000
        await watch.rest()
        assert ABORT_REASON_EXPIRED == Event.FromString(watch.told[-1]).sealed.aborted.reason
        while (changed := (await lobby.until("changed")).match).state != match_pb2.MATCH_STATE_ABORTED:
            pass
        assert (match_id, ABORT_REASON_EXPIRED) == (changed.match_id, changed.aborted.reason)
        lobby.leave()
        for archived in (False, True):
            if archived:
                await keeper.archivist.settle()
                await keeper.archivist.look()
                assert [] == await keeper.log.store.read(match_id)
            (listed,) = (await watcher.call("ListMatches")).matches
            assert (match_pb2.MATCH_STATE_ABORTED, ABORT_REASON_EXPIRED) == (listed.state, listed.aborted.reason)
            assert listed == (await opener.look(match_id)).summary
            data = await keeper.replay(sitter, match_id)
            assert replay_pb2.VERDICT_EXACT == (await keeper.audit(watcher, data)).verdict

    keep(scenario, tmp_path)


@pytest.mark.parametrize(
    ("limits", "expected"), [(Limits(), (3_600, 1_209_600)), (Limits(open_seconds=90, idle_seconds=0), (90, 0))]
)
def test_where_nothing_is_said_the_operators_times_hold(limits: Limits, expected: tuple[int, int]) -> None:
    """0 means never; terms of the opener override the operator's."""

    async def scenario(world: World) -> None:
        opener = world.person("opener")
        said_terms: tuple[dict[str, Any], ...] = ({}, {"open_seconds": 60, "idle_seconds": 3_600})
        terms = [(await opener.look((await opener.open(**said)).match_id)).summary for said in said_terms]
        assert [expected, (60, 3_600)] == [(summary.open_seconds, summary.idle_seconds) for summary in terms]

    serve(scenario, limits=limits)
