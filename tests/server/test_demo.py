"""`rollbook serve --demo` as a newcomer finds it: a match of each game to look at, whatever becomes of the service."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from rollbook.rules.catalogue import current
from rollbook.server.demo import READY_SECONDS, SEATS, TURN_SECONDS, Demo
from rollbook.server.settings import SettingReason, SettingRefused, Settings
from rollbook.server.sweeper import Sweeper
from rollbook.v1.match_pb2 import (
    MATCH_STATE_ABORTED,
    MATCH_STATE_FINISHED,
    MATCH_STATE_GETTING_READY,
    MATCH_STATE_RUNNING,
    GetMatchResponse,
    ListMatchesRequest,
    MatchSummary,
)
from tests.cli.test_tail import assert_checks, tailing
from tests.server.strangers import CALL_SECONDS, Line, Stranger
from tests.server.talking import Person, World
from tests.server.talking import run as talk
from tests.server.test_whole_service import Serving, run

SEED = 5
POLL_SECONDS = 0.05
FAST_SECONDS = "0.01"
OVER = {MATCH_STATE_FINISHED, MATCH_STATE_ABORTED}


class Demonstrating(Serving):
    """`rollbook serve --demo` with bots that do not think for long."""

    def start(self) -> subprocess.Popen[bytes]:
        """Start it, by its variables."""
        env = os.environ | {"ROLLBOOK_DEMO": "true", "ROLLBOOK_DEMO_SECONDS": FAST_SECONDS}
        words = ["serve", "--data", str(self.data), "--listen", self.address]
        with (self.data.parent / "service.log").open("ab") as said:
            return subprocess.Popen([sys.executable, "-m", "rollbook", *words], stderr=said, env=env)


@asynccontextmanager
async def demonstrating(folder: Path) -> AsyncIterator[tuple[Demonstrating, Stranger]]:
    """A demo that is ended in the end, whatever happens, and a guest who looks at it."""
    service = Demonstrating(folder / "data")
    line = Line(service.address)
    try:
        guest = Stranger(line, "Guest", random.Random(SEED))
        await guest.sign_in()
        yield service, guest
    finally:
        await line.channel.close()
        if service.process.poll() is None:
            service.end()


async def listed(guest: Stranger) -> dict[str, MatchSummary]:
    """The matches that are open or running, by game; never two of one game."""
    request = ListMatchesRequest()
    stub = guest.line.matches.ListMatches
    answer = await guest.line.settled(lambda: stub(request, metadata=guest.metadata, timeout=CALL_SECONDS))
    alive = [summary for summary in answer.matches if summary.state not in OVER]
    found = {summary.game: summary for summary in alive}
    assert len(found) == len(alive)
    return found


async def until(guest: Stranger, condition: Callable[[dict[str, MatchSummary]], bool]) -> dict[str, MatchSummary]:
    """Look at the list until it is as it should become."""
    while True:
        found = await listed(guest)
        if condition(found):
            return found
        await asyncio.sleep(POLL_SECONDS)


def all_run(found: dict[str, MatchSummary]) -> bool:
    """Whether there is a running match of each game."""
    return set(current()) == {game for game, match in found.items() if match.state == MATCH_STATE_RUNNING}


def test_there_is_a_public_match_of_each_game_and_every_seat_brings_entropy(tmp_path: Path) -> None:
    """For whoever comes by, with dice that nobody fixed; the service ends cleanly while they are played."""

    async def scenario() -> None:
        async with demonstrating(tmp_path) as (service, guest):
            found = await until(guest, all_run)
            for match in found.values():
                assert [True] * 3 == [seat.brings_entropy for seat in match.seats]
                assert ["Anna (bot)", "Tom (bot)", "Willi (bot)"] == [seat.name for seat in match.seats]
                assert (False, False) == (match.is_private, match.dice_fixed)
            assert 0 == service.end()
            assert '"level": "error"' not in service.said()
            assert "Traceback" not in service.said()

    run(scenario)


@pytest.mark.parametrize("game", list(current()))
def test_a_match_of_the_demo_is_valid_and_the_next_one_follows(game: str, tmp_path: Path) -> None:
    """What `rollbook tail` prints of it passes check; when it is over, another one of the game is opened."""

    async def scenario() -> None:
        async with demonstrating(tmp_path) as (service, guest):
            first = (await until(guest, lambda found: game in found))[game].match_id
            async with tailing(tmp_path, first, "--service", service.address) as tail:
                assert 0 == await tail.ended(), tail.said
                await assert_checks(tail.printed)
                assert '"by":"caretaker"' not in "".join(tail.lines)
            await until(guest, lambda found: game in found and found[game].match_id != first)

    run(scenario)


def test_after_a_restart_the_demo_carries_on_with_its_matches(tmp_path: Path) -> None:
    """Killed or ended, it opens no further ones beside them, and each of them is still played to a valid end."""

    async def scenario() -> None:
        async with demonstrating(tmp_path) as (service, guest):
            before = await until(guest, all_run)
            kept = before["wuerfelzoo"].match_id
            async with tailing(tmp_path, kept, "--service", service.address) as tail:
                await tail.until_lines(20)
                service.kill_both()
                count = len(tail.lines)
                await tail.until_lines(count + 10)
                assert 0 == service.end()
                service.process = service.start()
                # Whenever it is looked at, there is no second match of a game.
                await until(guest, lambda _: tail.process.poll() is not None)
                assert 0 == await tail.ended(), tail.said
                await assert_checks(tail.printed)
            await until(guest, all_run)

    run(scenario)


@pytest.mark.parametrize("moment", range(4))
def test_a_demo_that_is_killed_as_it_begins_leaves_no_match_behind(moment: int, tmp_path: Path) -> None:
    """Seats that are half taken or half ready are filled by the same bots, with the entropy they committed to."""

    async def scenario() -> None:
        async with demonstrating(tmp_path) as (service, guest):
            await until(guest, lambda found: len(found) > moment)
            service.kill_service()
            await until(guest, all_run)
            assert 0 == service.end()
            assert "gives up" not in service.said()

    run(scenario)


def test_a_stranger_who_was_faster_at_a_seat_plays_with_the_bots() -> None:
    """They wait for the stranger, and play on when the stranger has given up."""

    async def scenario(world: World) -> None:
        match_id, stranger = await with_a_stranger(world)
        async with playing(world):
            await seen(stranger, match_id, lambda look: look.summary.state == MATCH_STATE_GETTING_READY)
            closing = (await world.service.matches.ledger(match_id)).closing
            assert closing is not None
            await stranger.call("Ready", match_id=match_id, closing_link=closing.link)
            await seen(stranger, match_id, lambda look: look.HasField("legal"))
            await stranger.call("Resign", match_id=match_id)
            over = await seen(stranger, match_id, lambda look: look.summary.state == MATCH_STATE_FINISHED)
            assert [True, False, False] == [seat.forfeited for seat in over.summary.seats]

    talk(scenario)


def test_a_stranger_who_does_nothing_does_not_stop_the_demo() -> None:
    """The match with the stranger is aborted when its time is out, and the bots open another one."""

    async def scenario(world: World) -> None:
        match_id, stranger = await with_a_stranger(world)
        async with playing(world):
            bots_wait = [False, True, True]
            await seen(stranger, match_id, lambda look: bots_wait == [seat.ready for seat in look.summary.seats])
            world.clock.ms += READY_SECONDS * 1_000
            await Sweeper(world.service).sweep()
            assert MATCH_STATE_ABORTED == (await stranger.look(match_id)).summary.state
            another = ""
            while not another:
                await asyncio.sleep(POLL_SECONDS)
                matches = (await stranger.call("ListMatches", game="cant_stop")).matches
                another = next((match.match_id for match in matches), "")
            assert match_id != another

    talk(scenario)


@asynccontextmanager
async def playing(world: World) -> AsyncIterator[None]:
    """House bots in this world, and quick ones."""
    demo = Demo(world.service, float(FAST_SECONDS))
    demo.start()
    try:
        yield
        await demo.drain()
    finally:
        await demo.close()


async def seen(stranger: Person, match_id: str, condition: Callable[[GetMatchResponse], bool]) -> GetMatchResponse:
    """Look at a match until it is as it should become."""
    while True:
        look: GetMatchResponse = await stranger.look(match_id)
        if condition(look):
            return look
        await asyncio.sleep(POLL_SECONDS)


async def with_a_stranger(world: World) -> tuple[str, Person]:
    """A match that the house has opened, on whose first seat a stranger sits."""
    house = world.person("house-anna")
    match_id = (await house.open("cant_stop", SEATS, turn_seconds=TURN_SECONDS, ready_seconds=READY_SECONDS)).match_id
    stranger = world.person("stranger")
    await stranger.call("TakeSeat", match_id=match_id)
    return match_id, stranger


def test_without_the_flag_there_are_no_bots() -> None:
    """Nobody plays in a service whose operator did not ask for it."""
    assert None is Settings.read().demo_seconds
    assert None is Settings.read(demo_seconds=1.0).demo_seconds
    assert 2.0 == Settings.read(demo=True).demo_seconds


@pytest.mark.parametrize("seconds", [0.0, -1.0, 31.0, float("nan"), float("inf")])
def test_a_pace_that_no_match_could_keep_is_refused(seconds: float) -> None:
    """A bot that never chooses would lose its turns to its clock."""
    with pytest.raises(SettingRefused) as refused:
        Settings.read(demo=True, demo_seconds=seconds)
    assert SettingReason.DEMO_SECONDS_OUT_OF_RANGE == refused.value.reason
