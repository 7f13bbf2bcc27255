"""Long work in slices: the event loop serves other calls in between."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rollbook.identity.tokens import Role
from rollbook.match.ledger import Visible
from rollbook.replay_file.container import write
from rollbook.server import slices
from rollbook.server.access import limits
from rollbook.server.configuration.limit_table import Limits
from rollbook.server.out.replay_export import written
from rollbook.server.rpc import feed
from tests.replays.replaying import KEYS, recorded
from tests.server.access.test_points import EVENTS, PLENTY, fresh, long_match, used
from tests.server.lobby.archives import Keeper, run

YIELDS_AFTER = slices.SLICE_SECONDS


@pytest.fixture
def rests(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often a slice rests, by the function that calls it; slices are of one step, and lobby frames of one match."""
    rest, counts = slices.Slices.rest, Counter[str]()

    async def count(self: slices.Slices) -> None:
        counts[sys._getframe(1).f_code.co_name] += 1
        await rest(self)

    monkeypatch.setattr(slices, "SLICE_SECONDS", 0.0)
    monkeypatch.setattr(slices.Slices, "rest", count)
    monkeypatch.setattr(feed, "SUMMARIES_A_FRAME", 1)
    return counts


async def look(world: Keeper, match_id: str) -> None:
    """Look at a match that the process has not loaded."""
    await world.person("one").look(match_id)


async def watch(world: Keeper, match_id: str) -> None:
    """Watch the match from its beginning."""
    await world.watch(world.person("one"), match_id).until("caught_up")


async def replay(world: Keeper, match_id: str) -> None:
    """Fetch the replay of the match."""
    await world.replay(world.person("one"), match_id)


async def listed(world: Keeper, match_id: str) -> None:
    """List all matches."""
    del match_id
    await world.person("one").call("ListMatches", page_size=200)


async def lobby(world: Keeper, match_id: str) -> None:
    """Watch the lobby."""
    del match_id
    await world.lobby(world.person("one")).until("snapshot")


@pytest.mark.parametrize(
    ("call", "delay", "least"),
    [
        *((look, 0, EVENTS / 20), (watch, 0, EVENTS / 20), (replay, 0, EVENTS), (listed, 0, 30), (lobby, 0, 30)),
        *((look, 60, EVENTS / 20), (watch, 60, EVENTS / 20)),
    ],
)
def test_long_work_leaves_the_loop_to_others_in_between(
    call: Callable[[Keeper, str], Awaitable[None]],
    delay: int,
    least: float,
    tmp_path: Path,
    rests: Counter[str],
) -> None:
    """The test yields after every step; a service yields after at most two milliseconds."""
    assert YIELDS_AFTER < 0.002

    async def scenario(world: Keeper) -> None:
        match_id, _ = await long_match(world, spectator_delay_seconds=delay)
        for _ in range(30):
            await world.person("host").open()
        world.clock.ms += delay * 2_000
        async with fresh(world):
            rests.clear()
            await call(world, match_id)
            assert rests.total() >= least

    run(scenario, tmp_path, limits=Limits(requests_at_once=PLENTY, open_matches_per_subject=PLENTY))


@pytest.mark.parametrize(
    ("call", "where", "least"), [(listed, "_read_all", 31), (lobby, "_snapshot", 31), (lobby, "_differing", 1)]
)
def test_each_part_of_a_list_is_made_in_slices(
    call: Callable[[Keeper, str], Awaitable[None]],
    where: str,
    least: int,
    tmp_path: Path,
    rests: Counter[str],
) -> None:
    """Entries that are decoded, parts of the lobby that are compared, and frames with one match each."""

    async def scenario(world: Keeper) -> None:
        for _ in range(31):
            await world.person("host").open()
        await world.service.index.settle()
        async with fresh(world):
            rests.clear()
            await call(world, "")
            assert rests[where] >= least

    run(scenario, tmp_path, limits=Limits(requests_at_once=PLENTY, open_matches_per_subject=PLENTY))


def test_a_call_rests_before_it_takes_over_the_turn(rests: Counter[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls of one subject that follow each other would otherwise block the loop like one long call."""
    monkeypatch.setattr(slices, "SLICE_SECONDS", 60.0)

    async def scenario() -> None:
        turns, inside = limits._Turns(), 0

        async def call() -> None:
            nonlocal inside
            async with turns.of("one"):
                inside += 1
                assert 1 == inside
                await asyncio.sleep(0)
                inside -= 1

        await asyncio.gather(*[call() for _ in range(8)])
        assert 7 == rests.total()
        await call()
        assert 7 == rests.total()

    asyncio.run(scenario())


def test_a_file_is_written_without_keeping_the_events_as_objects(
    tmp_path: Path, rests: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The garbage collector would look at all of them at once, and block the loop for as long."""
    rest, kept = slices.Slices.rest, 0

    def count() -> int:
        return sum(isinstance(one, Visible) for one in gc.get_objects())

    async def measure(self: slices.Slices) -> None:
        nonlocal kept
        await rest(self)
        if not rests.total() % 50:
            kept = max(kept, count())

    async def scenario(world: Keeper) -> None:
        match_id, _ = await long_match(world)
        async with fresh(world):
            await look(world, match_id)
            monkeypatch.setattr(slices.Slices, "rest", measure)
            rests.clear()
            before = count()
            await replay(world, match_id)
            assert rests.total() >= EVENTS
            assert kept - before < 10

    run(scenario, tmp_path, limits=Limits(requests_at_once=PLENTY))


class Halt:
    """Stops the work of a call at its n-th rest in a function, so that the call can be cancelled there."""

    def __init__(self, where: str, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
        """Count the rests from now on."""
        self._where = where
        self._left = number
        self.reached, self._ended = asyncio.Event(), asyncio.Event()
        monkeypatch.setattr(slices, "SLICE_SECONDS", 0.0)
        monkeypatch.setattr(slices.Slices, "rest", lambda _: self._rest(sys._getframe(1).f_code.co_name))

    async def _rest(self, where: str) -> None:
        self._left -= where == self._where
        if self._left:
            await asyncio.sleep(0)
            return
        self.reached.set()
        try:
            await asyncio.Event().wait()
        finally:
            self._ended.set()

    async def cancel(self, call: Awaitable[object]) -> None:
        """Cancel a call at that rest, and wait until the service has noticed."""
        task = asyncio.ensure_future(call)
        await self.reached.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await self._ended.wait()


def test_a_replay_that_is_cancelled_pays_for_the_events_it_has_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a caller could let the service read a long match again and again for next to nothing."""

    async def scenario(world: Keeper) -> None:
        match_id, events = await long_match(world)
        async with fresh(world) as process:
            await world.person("looker").look(match_id)
            await Halt("_folding", 300, monkeypatch).cancel(replay(world, match_id))
            sent = events / limits.SENT_EVENTS_A_POINT
            assert 2 + 300 / limits.EVENTS_A_POINT + sent == pytest.approx(used(process, "one"))

    run(scenario, tmp_path)


def test_a_page_that_is_cancelled_pays_for_the_matches_it_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The caller pays although it never received the page."""

    async def scenario(world: Keeper) -> None:
        for _ in range(60):
            await world.person("host").open(is_private=True)
        operator = world.person("operator", Role.OPERATOR)
        page = operator.call("ListMatches", page_size=1, game="cant_stop", lost=True)
        await Halt("_page", 40, monkeypatch).cancel(page)
        assert 1 + 40 / limits.ROWS_A_POINT == pytest.approx(used(world.service, "operator"))

    run(scenario, tmp_path, limits=Limits(open_matches_per_subject=PLENTY, matches_per_subject=PLENTY))


def test_hidden_outcomes_of_a_file_are_written_in_slices(rests: Counter[str]) -> None:
    """Writing a file with 1,000 hidden outcomes in slices gives the same bytes as writing it at once."""
    played = recorded("allie_gator", 2)
    hidden = next(iter(played.private.values()))
    many = replace(played, private=dict.fromkeys(range(1, 1_001), hidden))
    assert write(many, KEYS.replays) == asyncio.run(written(many, KEYS.replays))
    assert rests.total() >= 10
