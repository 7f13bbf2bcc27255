"""Presence: players of a match learn who has it open, at whatever process, and spectators learn nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import grpc
import pytest

from rollbook.server.lobby.pools import Periods
from rollbook.storage.embedded.server import find_server
from rollbook.storage.redis.here import RedisPresence
from tests.server.feeds.watching import Watch, kind
from tests.server.play.halls import Hall, run
from tests.server.rpc.talking import Person
from tests.storage.servers import Server, running

NEVER = Periods(touch=10**7)
"""Without renewals in the time of a test, so that only announcements remain."""

OFTEN = Periods(touch=200)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for all tests of this module."""
    with running(find_server(), tmp_path_factory.mktemp("store")) as found:
        yield found


async def beat(watch: Watch, here: list[bool]) -> None:
    """Read on to a heartbeat with these present seats."""
    while True:
        frame: Any = await watch.call.read()
        assert frame is not grpc.aio.EOF
        if kind(frame) == "heartbeat" and list(frame.heartbeat.here) == here:
            return


def at(hall: Hall, person: Person) -> Person:
    """The same person at another process."""
    return Person(hall, hall.channel, person.sub, hall.token(person.sub))


def test_players_learn_at_once_who_comes_and_goes(store: Server) -> None:
    """At two processes; a player with two feeds is present until both have ended."""

    async def scenario(one: Hall, other: Hall) -> None:
        match_id, (anna, ben) = await one.started()
        mine = one.watch(anna, match_id)
        await beat(mine, [True, False])
        first, second = other.watch(at(other, ben), match_id), one.watch(ben, match_id)
        await beat(mine, [True, True])
        await beat(first, [True, True])
        await beat(second, [True, True])
        second.leave()
        await beat(first, [True, True])
        first.leave()
        await beat(mine, [True, False])
        mine.leave()

    run(store, scenario, periods=NEVER)


def test_spectators_learn_nothing_and_public_feeds_are_not_presence(store: Server) -> None:
    """Their heartbeats are empty, and come only after silence."""

    async def scenario(one: Hall, other: Hall) -> None:
        match_id, (anna, ben) = await one.started()
        stranger = other.watch(other.person("stranger"), match_id)
        await stranger.until("caught_up")
        mine, public = one.watch(anna, match_id), one.watch(ben, match_id, public_only=True)
        await public.until("caught_up")
        await beat(mine, [True, False])
        for watch in (stranger, public):
            assert [] == list((await watch.beat()).here)
            assert all(kind(frame) != "heartbeat" for frame in watch.frames)
        for watch in (stranger, public, mine):
            watch.leave()

    run(store, scenario, periods=NEVER)


def test_a_process_that_died_is_absent_after_its_entries_lapse(store: Server) -> None:
    """Another process that follows the match notices it and tells its own players."""

    async def scenario(one: Hall, _other: Hall) -> None:
        match_id, (anna, _ben) = await one.started()
        mine = one.watch(anna, match_id)
        await RedisPresence(one.log).update(match_id, "died", {1}, 1_500)
        await beat(mine, [True, True])
        await beat(mine, [True, False])
        mine.leave()

    run(store, scenario, periods=OFTEN)


def test_bots_of_the_house_are_always_present(store: Server) -> None:
    """They need no feed for that."""

    async def scenario(one: Hall, _other: Hall) -> None:
        anna = one.person("anna")
        match_id = (await anna.open()).match_id
        await anna.call("TakeSeat", match_id=match_id)
        await anna.call("AddBot", match_id=match_id)
        mine = one.watch(anna, match_id)
        await beat(mine, [True, True])
        mine.leave()

    run(store, scenario, periods=NEVER, has_bots=True)


def test_a_service_that_stops_takes_its_players_along(store: Server) -> None:
    """The other process reads at once that they are gone."""

    async def scenario(one: Hall, other: Hall) -> None:
        match_id, (anna, ben) = await one.started()
        mine, theirs = one.watch(anna, match_id), other.watch(at(other, ben), match_id)
        await beat(mine, [True, True])
        await other.feeds.close()
        await beat(mine, [True, False])
        for watch in (mine, theirs):
            watch.leave()

    run(store, scenario, periods=NEVER)
