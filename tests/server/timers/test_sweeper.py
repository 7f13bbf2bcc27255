"""Turns that run out, seats that do not get ready, downtime: each handled once, however many replicas sweep."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from rollbook.match.clock import LONGEST_GAP_MS
from rollbook.match.events import Resumed, Sealed, Terms, TimedOut
from rollbook.match.ledger import Ledger
from rollbook.server.health.metrics import Metrics
from rollbook.server.lobby.index_rows import SWEEP
from rollbook.server.timers.store_clock import StoreClock
from rollbook.server.timers.sweeper import AGAIN_MS, LEASE_MS, SPARED_MS, Sweeper
from rollbook.storage.archive.port import ArchiveUnavailable
from rollbook.storage.port import StoreUnavailable
from tests.server.rpc.talking import Clock, World
from tests.server.rpc.talking import run as serve
from tests.server.timers.sweeping import MATCH, ODD, SECRET, Replicas, noted_reads, run
from tests.storage.memory import MemoryLog

HOUR_MS = 3_600_000


def test_an_expired_turn_is_ended_once_however_many_replicas_see_it() -> None:
    """Two replicas end the turn once, and not before its time by the store's clock."""

    async def scenario() -> None:
        replicas = Replicas()
        await replicas.open(ready=2)
        await replicas.sweep()
        await replicas.live(29_999)
        assert [] == await replicas.events(TimedOut)
        await replicas.live(1)
        assert 1 == len(await replicas.events(TimedOut))
        await replicas.sweep()
        assert 1 == len(await replicas.events(TimedOut))

    run(scenario)


def test_a_replica_whose_clock_is_fast_ends_no_turn_early() -> None:
    """The store compares its own clock with the time at which the turn may end."""

    async def scenario() -> None:
        replicas = Replicas(skew_ms=4_000)
        await replicas.open(ready=2)
        await replicas.sweep()
        await replicas.live(29_000)
        assert [] == await replicas.events(TimedOut)
        await replicas.live(1_000)
        assert 1 == len(await replicas.events(TimedOut))

    run(scenario)


def test_a_turn_begun_while_the_clock_of_the_service_was_an_hour_ahead_times_out() -> None:
    """Only the store's clock counts; the difference is measured for operators."""
    store = Clock()
    store.ms -= 3_600_000

    async def scenario(world: World) -> None:
        await world.service.clock.compare()
        await world.started(turn_seconds=30)
        sweeper, counted = world.service.sweeper(), world.service.metrics.registry.get_sample_value
        for _ in range(31):
            assert counted("rollbook_sweeps_total", {"kind": "timed_out"}) is None
            await sweeper.sweep()
            store.ms, world.clock.ms = store.ms + 1_000, world.clock.ms + 1_000
        assert 1 == counted("rollbook_sweeps_total", {"kind": "timed_out"})
        assert -3_600 == counted("rollbook_clock_difference_seconds")

    serve(scenario, log=MemoryLog(store))


def test_a_steady_clock_goes_on_although_the_clock_of_the_service_is_set() -> None:
    """The clock stays steady between two beats: an event from the future would block its match until that time."""

    async def scenario() -> None:
        set_ms = steady_ms = 0
        clock = StoreClock(MemoryLog(lambda: 1_000_000 + steady_ms), lambda: set_ms, lambda: steady_ms, Metrics())
        await clock.compare()
        set_ms, steady_ms = 3_600_000, 10
        assert 1_000_010 == clock()

    run(scenario)


@pytest.mark.parametrize("gap_ms", [3_000, 5_000, 60_000])
def test_after_any_gap_of_its_beats_the_sweeper_ends_no_turn_for_five_seconds(gap_ms: int) -> None:
    """Players who could not reach the service have that long to move; a gap of more than 5 s is also credited."""

    async def scenario() -> None:
        replicas = Replicas()
        await replicas.open(ready=2)
        await replicas.sweep()
        await replicas.live(29_000)
        replicas.now_ms += gap_ms
        await replicas.sweep()
        await replicas.live(4_000)
        assert [] == await replicas.events(TimedOut)
        await replicas.live(1_000)
        assert 1 == len(await replicas.events(TimedOut))
        assert (gap_ms > LONGEST_GAP_MS) == bool(await replicas.events(Resumed))

    run(scenario)


def test_one_replica_sweeps_and_another_takes_over_when_it_is_gone() -> None:
    """The takeover is fast enough that no downtime is recorded; the returning replica no longer sweeps."""

    async def scenario() -> None:
        replicas = Replicas()
        await replicas.open(ready=2)
        for _ in range(10):
            await replicas.beat(0, 1)
            assert [1, 0] == replicas.counted
        silent_ms = 0
        while replicas.counted[1] == 0:
            await replicas.beat(1)
            silent_ms += 1_000
        assert LEASE_MS == silent_ms < LONGEST_GAP_MS
        await replicas.beat(0, 1)
        assert [0, 1] == replicas.counted
        assert [] == await replicas.events(Resumed)

    run(scenario)


def test_a_turn_ends_in_time_although_the_replica_that_sweeps_is_killed() -> None:
    """The replica that took over ends it once."""

    async def scenario() -> None:
        replicas = Replicas()
        await replicas.open(ready=2)
        for _ in range(28):
            await replicas.beat(0, 1)
        for _ in range((LEASE_MS + SPARED_MS) // 1_000):
            assert [] == await replicas.events(TimedOut)
            await replicas.beat(1)
        assert 1 == len(await replicas.events(TimedOut))
        assert [] == await replicas.events(Resumed)

    run(scenario)


def test_downtime_is_pardoned_once_and_nobody_times_out_for_it() -> None:
    """After a gap in the beats, exactly one replica credits it to every match with a clock."""

    async def scenario() -> None:
        replicas = Replicas()
        await replicas.open(ready=2)
        await replicas.sweep()
        runs_out = (await replicas.ledger()).clock.runs_out_ms()
        assert runs_out is not None
        replicas.now_ms += 3_600_000
        await replicas.sweep()
        assert [Resumed(3_600_000)] == await replicas.events(Resumed)
        assert [] == await replicas.events(TimedOut)
        assert runs_out + 3_600_000 == (await replicas.ledger()).clock.runs_out_ms()

    run(scenario)


def test_a_seat_that_does_not_get_ready_in_time_aborts_the_match() -> None:
    """The reason names the seat, and the match leaves the lobby."""

    async def scenario() -> None:
        replicas = Replicas()
        await replicas.open(ready=1)
        await replicas.sweep()
        await replicas.live(19_999)
        assert [] == await replicas.events(Sealed)
        await replicas.live(1)
        assert [Sealed(None, "not_ready:1", SECRET)] == await replicas.events(Sealed)
        assert [True] == [listed.is_over for listed in await replicas.services[0].lobby.everything()]

    run(scenario)


def test_after_downtime_seats_have_five_seconds_to_get_ready() -> None:
    """The time of the seats ran out while the service was down."""

    async def scenario() -> None:
        replicas = Replicas()
        await replicas.open(ready=1)
        await replicas.sweep()
        replicas.now_ms += 3_600_000
        await replicas.sweep()
        await replicas.live(SPARED_MS - 1)
        assert [] == await replicas.events(Sealed)
        await replicas.live(1)
        assert [Sealed(None, "not_ready:1", SECRET)] == await replicas.events(Sealed)

    run(scenario)


def test_a_match_that_everybody_has_left_ends() -> None:
    """Turn after turn times out until the seats forfeit and the match is over."""

    async def scenario() -> None:
        replicas = Replicas()
        await replicas.open(ready=2)
        for _ in range(12):
            await replicas.live(30_000)
            if (await replicas.ledger()).match.sealed is not None:
                return
        raise AssertionError("the match never ended")

    run(scenario)


@pytest.mark.parametrize("failure", [ZeroDivisionError, ArchiveUnavailable])
def test_a_match_that_nobody_can_make_sense_of_costs_no_other_its_clock(
    failure: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A match that raises an unexpected error, or is in an unavailable archive, is skipped in every sweep."""

    async def scenario() -> None:
        replicas = Replicas()
        for match_id in (ODD, MATCH):
            await replicas.open(ready=2, match_id=match_id)
        for service in replicas.services:
            ledger = service.replicas.ledger

            async def odd(match_id: str, ledger: Callable[[str], Awaitable[Ledger]] = ledger) -> Ledger:
                if match_id == ODD:
                    raise failure
                return await ledger(match_id)

            monkeypatch.setattr(service.replicas, "ledger", odd)
        await replicas.sweep()
        await replicas.live(30_000)
        assert 1 == len(await replicas.events(TimedOut))

    run(scenario)


def test_a_match_without_a_clock_is_left_alone() -> None:
    """Players may take a week for a turn."""

    async def scenario() -> None:
        replicas = Replicas()
        await replicas.open(ready=2, terms=Terms())
        before = await replicas.log.head(MATCH)
        replicas.now_ms += 7 * 24 * 3_600_000
        await replicas.sweep()
        assert before == await replicas.log.head(MATCH)

    run(scenario)


def failing(log: MemoryLog, name: str, monkeypatch: pytest.MonkeyPatch, *, times: int = 10**6) -> Callable[[], None]:
    """Let the store refuse this call so often; return a function that repairs it."""
    sound: Any = getattr(log, name)
    left = [times]

    async def refuse(*arguments: Any, **terms: Any) -> Any:
        if left[0]:
            left[0] -= 1
            raise StoreUnavailable
        return await sound(*arguments, **terms)

    monkeypatch.setattr(log, name, refuse)
    return lambda: monkeypatch.setattr(log, name, sound)


@pytest.mark.parametrize("dies", [False, True])
def test_downtime_is_pardoned_although_the_store_fails_at_first(dies: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The gap is kept until every match was credited, also for a process started after another has died."""

    async def scenario() -> None:
        replicas = Replicas()
        for match_id in (ODD, MATCH):
            await replicas.open(ready=2, match_id=match_id)
        await replicas.sweep()
        replicas.now_ms += 3_600_000
        failing(replicas.log, "append", monkeypatch, times=1)
        with pytest.raises(StoreUnavailable):
            await replicas.sweepers[0].sweep()
        replicas.now_ms += 2_000
        if dies:
            replicas.services = [replicas.service(), replicas.service()]
            replicas.sweepers = [service.sweeper() for service in replicas.services]
        await replicas.sweep()
        await replicas.live(29_000)
        for match_id in (ODD, MATCH):
            assert [Resumed(3_602_000)] == await replicas.events(Resumed, match_id)
            assert [] == await replicas.events(TimedOut, match_id)

    run(scenario)


def test_a_match_that_was_pardoned_before_the_store_failed_is_pardoned_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other matches are credited in the next sweep."""

    async def scenario() -> None:
        replicas = Replicas()
        for match_id in (ODD, MATCH):
            await replicas.open(ready=2, match_id=match_id)
        await replicas.sweep()
        replicas.now_ms += 3_600_000
        sound = replicas.log.append
        pardoned: list[str] = []

        async def once(match_id: str, *arguments: Any, **terms: Any) -> Any:
            if pardoned:
                raise StoreUnavailable
            pardoned.append(match_id)
            return await sound(match_id, *arguments, **terms)

        monkeypatch.setattr(replicas.log, "append", once)
        with pytest.raises(StoreUnavailable):
            await replicas.sweepers[0].sweep()
        monkeypatch.setattr(replicas.log, "append", sound)
        await replicas.live(10_000)
        (first,) = pardoned
        for match_id in (ODD, MATCH):
            (resumed,) = await replicas.events(Resumed, match_id)
            assert Resumed(3_600_000 if match_id == first else 3_601_000) == resumed

    run(scenario)


@pytest.mark.parametrize("call", ["due", "read"])
def test_no_turn_ends_at_the_first_sweep_after_an_outage_of_a_part(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """While matches cannot be read the service counts as down, although its beats reach the store."""

    async def scenario() -> None:
        replicas = Replicas()
        await replicas.open(ready=2)
        await replicas.sweep()
        await replicas.live(27_000)
        mend = failing(replicas.log, call, monkeypatch)
        for _ in range(3):
            replicas.now_ms += 1_000
            for sweeper in replicas.sweepers:
                replicas.log._index[MATCH].due_ms = 0
                with pytest.raises(StoreUnavailable):
                    await sweeper.sweep()
        mend()
        await replicas.live(SPARED_MS)
        assert [] == await replicas.events(TimedOut)
        await replicas.live(1_000)
        assert 1 == len(await replicas.events(TimedOut))

    run(scenario)


def test_a_sweep_looks_only_at_what_is_due_or_new_in_the_lobby(monkeypatch: pytest.MonkeyPatch) -> None:
    """A match is read when its turn may be over, however many matches there are."""

    async def scenario() -> None:
        replicas = Replicas()
        matches = await replicas.open_eight()
        sweeper = replicas.sweepers[0]
        await sweeper.sweep()
        read = noted_reads(replicas.log, monkeypatch)
        for _ in range(20):
            replicas.now_ms += 1_000
            await sweeper.sweep()
        assert [] == read
        await replicas.open(ready=2)
        read.clear()
        await sweeper.sweep()
        assert {MATCH} == set(read)
        for _ in range(10):
            replicas.now_ms += 1_000
            await sweeper.sweep()
        assert {*matches, MATCH} == set(read)

    run(scenario)


def test_a_turn_that_is_shorter_than_the_one_before_it_ends_in_time() -> None:
    """A seat with its whole reserve may be followed by a seat without any."""

    async def scenario() -> None:
        replicas = Replicas()
        await replicas.open(ready=2, terms=Terms(turn_seconds=10, reserve_seconds=100, ready_seconds=20))
        await replicas.sweep()
        for seconds in (110, 110, 10, 10):
            before = len(await replicas.events(TimedOut))
            await replicas.live(seconds * 1_000 - 1)
            assert before == len(await replicas.events(TimedOut))
            await replicas.live(1)
            assert before + 1 == len(await replicas.events(TimedOut))

    run(scenario)


def test_matches_that_cannot_be_swept_are_counted_and_forgotten_with_the_lobby() -> None:
    """Every attempt counts, some seconds apart; a match that has left the lobby is forgotten."""

    async def scenario() -> None:
        replicas = Replicas()
        await replicas.open(ready=2, match_id=ODD)
        service = replicas.services[0]
        sweeper: Sweeper = replicas.sweepers[0]

        async def odd(match_id: str) -> Ledger:
            raise ZeroDivisionError(match_id)

        service.replicas.ledger = odd  # type: ignore[method-assign]
        for _ in range(2 * AGAIN_MS // 1_000):
            await sweeper.sweep()
            replicas.now_ms += 1_000
        failures = service.metrics.registry.get_sample_value("rollbook_loop_failures_total", {"loop": "sweeper"})
        assert 2 == failures
        await replicas.log.unlist(ODD)
        assert [] == await replicas.log.due(SWEEP, replicas.now_ms + HOUR_MS, 10)

    run(scenario)


def test_a_sweep_that_takes_long_ends_and_the_next_one_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep ends after a while, so that the sweeper sees new matches, however much there is to do at first."""

    async def scenario() -> None:
        replicas = Replicas()
        matches = await replicas.open_eight()
        replicas.services = [replicas.service(), replicas.service()]
        sweeper = replicas.services[0].sweeper()

        def take_long() -> None:
            replicas.now_ms += 1_000

        read = noted_reads(replicas.log, monkeypatch, take_long)
        await sweeper.sweep()
        assert 0 < len(set(read)) < len(matches)
        for _ in matches:
            await sweeper.sweep()
        assert set(matches) == set(read)
        assert [] == await replicas.events(Resumed, matches[0])

    run(scenario)
