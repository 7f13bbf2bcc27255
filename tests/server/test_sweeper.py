"""Turns that run out, seats that do not get ready, downtime: done once, however many replicas look."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from rollbook.identity.references import REFERENCE_BYTES
from rollbook.identity.service_keys import SigningKey
from rollbook.identity.tokens import OWN_ISSUER, Role, TrustedIssuer, Verifier
from rollbook.match.chain import HeadKeys
from rollbook.match.codec.envelope import read_bytes
from rollbook.match.commands import GetReady, OpenMatch, Origin, TakeSeat
from rollbook.match.dice import commitment
from rollbook.match.events import Opened, Resumed, Sealed, Terms, TimedOut
from rollbook.match.ledger import Ledger
from rollbook.replay_file.key_lines import key_id
from rollbook.rules.catalogue import find
from rollbook.server.app import Given, Parts
from rollbook.server.metrics import Metrics
from rollbook.server.store_clock import StoreClock
from rollbook.server.sweeper import LEASE_MS, LONGEST_GAP_MS, SPARED_MS
from tests.server.talking import Clock, World
from tests.server.talking import run as serve
from tests.storage.memory import MemoryLog

SECRET = bytes(32)
MATCH = "abcdefghijklmnopqrstuvwx"
ODD = "aaaaaaaaaaaaaaaaaaaaaaaa"
TERMS = Terms(turn_seconds=30, reserve_seconds=0, ready_seconds=20)


class Replicas:
    """Two replicas over one store, one of whose clocks may be wrong."""

    def __init__(self, skew_ms: int = 0) -> None:
        """Begin with nothing in the store."""
        self.now_ms = 1_700_000_000_000
        self.log = MemoryLog(lambda: self.now_ms)
        self.services = [self._service(0), self._service(skew_ms)]
        self.sweepers = [service.sweeper() for service in self.services]
        self.requests = 0

    def _service(self, skew_ms: int) -> Parts:
        key = Ed25519PrivateKey.generate()
        kid = key_id(key.public_key())
        trusted = TrustedIssuer(OWN_ISSUER, {kid: key.public_key()}, frozenset(Role))
        return Parts(
            Given(
                log=self.log,
                head_keys=HeadKeys(key, kid, {kid: key.public_key()}),
                replay_key=SigningKey(key, {kid: key.public_key()}),
                service_key=bytes(32),
                verifier=Verifier([trusted], lambda: 0),
                clock_ms=lambda: self.now_ms + skew_ms,
            )
        )

    def by(self, player: str) -> Origin:
        """Where a command of this player comes from."""
        self.requests += 1
        return Origin(self.now_ms, player.encode().ljust(REFERENCE_BYTES), self.requests.to_bytes(16, "big"))

    async def open(self, *, ready: int, terms: Terms = TERMS, match_id: str = MATCH) -> None:
        """Open a match of two, seat everybody, and let so many get ready."""
        rules = find("cant_stop")
        opened = Opened(match_id, "cant_stop", 1, rules.settle({}, 2), ("", ""), commitment(SECRET), terms)
        matches = self.services[0].matches
        await matches.open(OpenMatch(self.by("p0"), opened, SECRET))
        for seat in range(2):
            await matches.carry_out(match_id, TakeSeat(self.by(f"p{seat}")))
        for seat in range(ready):
            closing = (await self.services[0].replicas.ledger(match_id)).closing
            assert closing is not None
            await matches.carry_out(match_id, GetReady(self.by(f"p{seat}"), closing.link))

    async def sweep(self) -> None:
        """Both at once."""
        await asyncio.gather(*[sweeper.sweep() for sweeper in self.sweepers])

    async def beat(self, *numbers: int) -> None:
        """A second goes by, and these replicas beat, as they do by themselves."""
        self.now_ms += 1_000
        await asyncio.gather(*[self.sweepers[number].beat() for number in numbers])

    @property
    def counted(self) -> list[float | None]:
        """How many running matches each replica says there are; only who sweeps counts them."""
        registries = [service.metrics.registry for service in self.services]
        return [registry.get_sample_value("rollbook_matches", {"state": "running"}) for registry in registries]

    async def live(self, ms: int) -> None:
        """Let so much time go by, with beats all along."""
        while ms > 0:
            self.now_ms += min(ms, 1_000)
            ms -= 1_000
            await self.sweep()

    async def ledger(self) -> Ledger:
        """The match as it is."""
        return await self.services[0].replicas.ledger(MATCH)

    async def events(self, kind: type) -> list[object]:
        """The events of a kind in the log."""
        ledger = await self.ledger()
        entries = await self.log.read(MATCH, 1, 10_000)
        read = [read_bytes(entry.event, entry.private, ledger.game).event for entry in entries]
        return [event for event in read if isinstance(event, kind)]


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    """Run a scenario to its end."""
    asyncio.run(scenario())  # type: ignore[arg-type]


def test_an_expired_turn_is_ended_once_however_many_replicas_see_it() -> None:
    """And not before its time, by the store's clock."""

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
    """Only the store's clock counts; the difference is measured, for an operator to see."""
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
    """Between two beats as well: a single event from the future would hold up its match for as long."""

    async def scenario() -> None:
        set_ms = steady_ms = 0
        clock = StoreClock(MemoryLog(lambda: 1_000_000 + steady_ms), lambda: set_ms, lambda: steady_ms, Metrics())
        await clock.compare()
        set_ms, steady_ms = 3_600_000, 10
        assert 1_000_010 == clock()

    run(scenario)


@pytest.mark.parametrize("gap_ms", [3_000, 5_000, 60_000])
def test_after_any_gap_of_its_beats_the_sweeper_ends_no_turn_for_five_seconds(gap_ms: int) -> None:
    """Whoever could not reach the service has that long to move; a gap of more than 5 s is nobody's besides."""

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
    """Soon enough that nothing counts as downtime; who comes back finds that it sweeps no more."""

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
    """Once, by the one that took over."""

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
    """After a gap in the beats, exactly one replica says so in every match that has a clock."""

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
    """By name; the match leaves the lobby."""

    async def scenario() -> None:
        replicas = Replicas()
        await replicas.open(ready=1)
        replicas.now_ms += 19_999
        await replicas.sweep()
        assert [] == await replicas.events(Sealed)
        replicas.now_ms += 1
        await replicas.sweep()
        assert [Sealed(None, "not_ready:1", SECRET)] == await replicas.events(Sealed)
        assert [True] == [listed.is_over for listed in await replicas.services[0].lobby.everything()]

    run(scenario)


def test_a_match_that_everybody_has_left_ends() -> None:
    """Turn after turn times out, until seats forfeit and the match is over."""

    async def scenario() -> None:
        replicas = Replicas()
        await replicas.open(ready=2)
        for _ in range(12):
            await replicas.live(30_000)
            if (await replicas.ledger()).match.sealed is not None:
                return
        raise AssertionError("the match never ended")

    run(scenario)


def test_a_match_that_nobody_can_make_sense_of_costs_no_other_its_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that raises what nobody foresaw is passed over, in every sweep."""

    async def scenario() -> None:
        replicas = Replicas()
        for match_id in (ODD, MATCH):
            await replicas.open(ready=2, match_id=match_id)
        for service in replicas.services:
            ledger = service.replicas.ledger

            async def odd(match_id: str, ledger: Callable[[str], Awaitable[Ledger]] = ledger) -> Ledger:
                if match_id == ODD:
                    raise ZeroDivisionError
                return await ledger(match_id)

            monkeypatch.setattr(service.replicas, "ledger", odd)
        await replicas.sweep()
        await replicas.live(30_000)
        assert 1 == len(await replicas.events(TimedOut))

    run(scenario)


def test_a_match_without_a_clock_is_left_alone() -> None:
    """Friends may take a week for a turn."""

    async def scenario() -> None:
        replicas = Replicas()
        await replicas.open(ready=2, terms=Terms())
        before = await replicas.log.head(MATCH)
        replicas.now_ms += 7 * 24 * 3_600_000
        await replicas.sweep()
        assert before == await replicas.log.head(MATCH)

    run(scenario)
