"""The simulated store behind its network: losses, duplicates, and the cost of a failover."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from itertools import count

import pytest

from rollbook.match.chain import Entry
from rollbook.storage.port import Appended, AppendUnconfirmed, Conflict, Hole, LobbyEntry, StoreUnavailable
from tests.sim.clock import SimulatedLoop
from tests.sim.network import Network, Weather
from tests.sim.store import PATIENCE_SECONDS, Bystander, SimulatedLog, Store
from tests.storage.waiting import wait

Scenario = Callable[[Store, Weather, SimulatedLog], Awaitable[None]]


def play(scenario: Scenario) -> None:
    """Run the scenario on a new store."""

    async def main() -> None:
        weather = Weather()
        ticks = count(1_000)
        store = Store(lambda: next(ticks))
        await scenario(store, weather, SimulatedLog(store, Network(random.Random(1), weather), Bystander()))

    with asyncio.Runner(loop_factory=lambda: SimulatedLoop(random.Random(1))) as runner:
        runner.run(main())


def entries(*events: bytes) -> list[Entry]:
    """Entries without a private part."""
    return [Entry(event) for event in events]


def test_an_append_whose_answer_is_lost_may_have_happened() -> None:
    """The outcome of such an append is unknown, while a read without an answer simply fails."""

    async def scenario(store: Store, weather: Weather, log: SimulatedLog) -> None:
        weather.lost = 0.5
        stored = set()
        for number in range(40):
            try:
                await log.append(f"match{number}", 0, entries(b"one"))
            except AppendUnconfirmed:
                stored.add(f"match{number}" in store.log._streams)
        assert {True, False} == stored
        weather.lost = 1.0
        began = asyncio.get_running_loop().time()
        with pytest.raises(StoreUnavailable):
            await log.read("match0")
        assert PATIENCE_SECONDS == asyncio.get_running_loop().time() - began

    play(scenario)


def test_an_append_that_comes_twice_is_there_once() -> None:
    """The second copy is a conflict, and the client may receive either answer."""

    async def scenario(store: Store, weather: Weather, log: SimulatedLog) -> None:
        weather.doubled = 1.0
        heard = {type(await log.append(f"match{number}", 0, entries(b"one"))) for number in range(20)}
        assert {Appended, Conflict} == heard
        await asyncio.sleep(1.0)
        assert {1} == {len(stream.entries) for stream in store.log._streams.values()}

    play(scenario)


def test_a_failover_costs_what_the_replica_did_not_have() -> None:
    """`fail_over` returns the matches that lost something."""

    async def scenario(store: Store, _weather: Weather, log: SimulatedLog) -> None:
        await log.append("old", 0, entries(b"one"), lobby=LobbyEntry(b"open"))
        copy = store.copy()
        await log.append("old", 1, entries(b"two"), lobby=LobbyEntry(b""))
        await log.append("new", 0, entries(b"one"))
        assert ["old", "new"] == store.fail_over(copy)
        assert (1, 0) == (await log.head("old"), await log.head("new"))
        assert {"old": b"open"} == await log.lobby()

    play(scenario)


def test_a_hole_is_told_where_it_is() -> None:
    """Entries before it are readable, and a wait for several matches returns the others."""

    async def scenario(store: Store, _weather: Weather, log: SimulatedLog) -> None:
        for match_id in ("holed", "whole"):
            await log.append(match_id, 0, entries(b"one", b"two", b"three"))
        store.dig("holed", 2)
        assert entries(b"one") == await log.read("holed", 0, 1)
        with pytest.raises(Hole):
            await log.read("holed")
        assert entries(b"three") == await log.read("holed", 2)
        assert {"holed": [], "whole": entries(b"two", b"three")} == await wait(log, {"holed": 1, "whole": 1}, 1.0)
        store.dig("whole", 3)
        with pytest.raises(Hole):
            await log.read("whole")
        assert 3 == await log.head("whole")

    play(scenario)


def test_a_store_that_is_down_refuses_and_keeps_everything() -> None:
    """A store that is down refuses calls, and a restart loses no entry."""

    async def scenario(store: Store, _weather: Weather, log: SimulatedLog) -> None:
        await log.append("match", 0, entries(b"one"))
        store.is_up = False
        with pytest.raises(StoreUnavailable):
            await log.append("match", 1, entries(b"two"))
        store.is_up = True
        assert entries(b"one") == await log.read("match")

    play(scenario)
