"""PlayNow over two processes of a service: people meet, at most one waits alone, and dead tables are not joined."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from rollbook.identity.tokens import OWN_ISSUER, Role, Subject
from rollbook.rules.catalogue import current
from rollbook.server.configuration.limit_table import Limits
from rollbook.server.lobby.pools import LIVE, SLOW, Periods
from rollbook.storage.embedded.server import find_server
from rollbook.storage.pools import Holder
from rollbook.storage.redis.now import RedisPools
from rollbook.v1.match_pb2 import (
    MATCH_STATE_ABORTED,
    MATCH_STATE_GETTING_READY,
    MATCH_STATE_OPEN,
    PACE_SLOW,
)
from tests.server.play.halls import SHORT, Hall, run
from tests.server.rpc.talking import refusal
from tests.storage.servers import Server, running

ROUNDS = int(os.environ.get("ROLLBOOK_PLAY_NOW_ROUNDS", "2"))
SEEKERS = int(os.environ.get("ROLLBOOK_PLAY_NOW_SEEKERS", "23"))
CRASHES = int(os.environ.get("ROLLBOOK_PLAY_NOW_CRASHES", "1"))
"""Of each kind; the environment asks for more."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for all tests of this module."""
    with running(find_server(), tmp_path_factory.mktemp("store")) as found:
        yield found


async def state(hall: Hall, match_id: str) -> Any:
    """The summary of a match, as a stranger sees it."""
    return (await hall.person("stranger").look(match_id)).summary


@pytest.mark.parametrize("game", sorted(current()))
def test_seekers_at_once_sit_together(store: Server, game: str) -> None:
    """At most seats - 1 are left over, no two tables are part-filled, and no subject sits twice."""
    seats = current()[game].seats[0]

    async def scenario(one: Hall, other: Hall) -> None:
        for turn in range(ROUNDS):
            names = [f"{turn}-{number}" for number in range(SEEKERS)]
            found = await asyncio.gather(
                *[(one, other)[number % 2].seek(name, game) for number, name in enumerate(names)]
            )
            tables = Counter(answer.match_id for _, answer in found)
            assert sum(answer.opened for _, answer in found) == len(tables)
            people = 0
            for match_id in tables:
                taken = [seat.name for seat in (await state(one, match_id)).seats if seat.taken]
                people += len(taken)
                assert len(set(taken)) == len(taken)
            assert people == SEEKERS
            partial = [match_id for match_id, places in tables.items() if places != seats]
            assert len(partial) == bool(SEEKERS % seats)
            for person, answer in found:
                if answer.match_id in partial:
                    await person.call("LeaveSeat", match_id=answer.match_id)
            assert all([MATCH_STATE_ABORTED == (await state(one, match_id)).state for match_id in partial])

    run(store, scenario, matches_per_subject=10**6)


def test_a_table_has_the_terms_of_its_pace_and_a_caller_gets_the_same_table_again(store: Server) -> None:
    """Also on a second device and at another process; after leaving there is another one."""

    async def scenario(one: Hall, other: Hall) -> None:
        anna, live = await one.seek("anna")
        slow = await anna.call("PlayNow", game="cant_stop", pace=PACE_SLOW)
        for answer, pace in ((live, LIVE), (slow, SLOW)):
            summary = await state(one, answer.match_id)
            assert (pace.turn, pace.reserve, pace.open, pace.ready) == (
                summary.turn_seconds,
                summary.reserve_seconds,
                summary.open_seconds,
                summary.ready_seconds,
            )
            assert (True, 0) == (summary.in_pool, summary.bots_at_ms)
        assert live.claim_until_ms > 0
        again = await other.person("anna").call("PlayNow", game="cant_stop")
        assert (live.match_id, False, 0) == (again.match_id, again.opened, again.claim_until_ms)
        await anna.call("LeaveSeat", match_id=live.match_id)
        assert MATCH_STATE_ABORTED == (await state(other, live.match_id)).state
        assert live.match_id != (await anna.call("PlayNow", game="cant_stop")).match_id

    run(store, scenario)


def test_a_request_that_opened_a_match_always_returns_it(store: Server) -> None:
    """Also when the pool has lost the table, which it then has again; another request with the id is refused."""

    async def scenario(one: Hall, other: Hall) -> None:
        anna = one.person("anna")
        asked = {"game": "cant_stop", "request_id": "play-now-1"}
        first = await anna.call("PlayNow", **asked)
        with store.client() as client:
            client.delete(*client.keys("*:now:*"))
        again = await other.person("anna").call("PlayNow", **asked)
        assert (first.match_id, True) == (again.match_id, again.opened)
        assert first.match_id == (await other.person("ben").call("PlayNow", game="cant_stop")).match_id
        wrong = await refusal(anna.call("PlayNow", game="raffzahn", request_id="play-now-1"))
        assert "REQUEST_ID_REUSED" == wrong.reason
        assert "GAME_UNKNOWN" == (await refusal(anna.call("PlayNow", game="chess"))).reason

    run(store, scenario)


def test_seats_that_are_claimed_are_kept(store: Server) -> None:
    """A stranger who found the table in the lobby waits; where a seat is free, TakeSeat makes the claim."""

    async def scenario(one: Hall, other: Hall) -> None:
        _, found = await one.seek("anna")
        claimed = await other.person("ben").call("PlayNow", game="cant_stop")
        assert found.match_id == claimed.match_id
        kept = await refusal(one.person("carla").call("TakeSeat", match_id=found.match_id))
        assert "SEATS_KEPT" == kept.reason
        assert 0 < int(kept.facts["retry_after_ms"]) <= 10_000
        await other.person("ben").call("TakeSeat", match_id=found.match_id)
        assert MATCH_STATE_GETTING_READY == (await state(one, found.match_id)).state

    run(store, scenario)


def test_a_table_whose_opener_died_is_dropped_and_its_request_opens_it_later(store: Server) -> None:
    """Event 1 does not come, so the next caller opens another table after a second; the first then meets them there."""

    async def scenario(one: Hall, other: Hall) -> None:
        dead = await killed(store, "play-now-1", "claimed")
        ben = await other.person("ben").call("PlayNow", game="cant_stop")
        assert (True, False) == (ben.opened, ben.match_id == dead)
        anna = await one.person("anna").call("PlayNow", game="cant_stop", request_id="play-now-1")
        assert (False, ben.match_id) == (anna.opened, anna.match_id)

    run(store, scenario)


def test_a_caller_gives_up_after_five_tables_that_were_gone(store: Server) -> None:
    """They leave the pool meanwhile, so the same request soon finds a better one."""

    async def scenario(one: Hall, _other: Hall) -> None:
        pools, anna = RedisPools(one.log), one.person("anna")
        pool = one.periods.pool("cant_stop", current()["cant_stop"].version, 2, one.periods.live)
        for number in range(6):
            await pools.sit(pool, [Holder(f"nobody{number}")], f"nothing-{number}")
        asked = {"game": "cant_stop", "request_id": "play-now-1"}
        assert "CONTENDED" == (await refusal(anna.call("PlayNow", **asked))).reason
        assert (await anna.call("PlayNow", **asked)).opened

    run(store, scenario, periods=Periods(opener=40))


@pytest.mark.parametrize("step", ["claimed", "opened", "answered"])
def test_after_a_crash_at_any_moment_the_same_request_returns_the_same_match(store: Server, step: str) -> None:
    """Kill -9 between script, event 1 and answer: the match is opened once, and others meet the caller there."""

    async def scenario(one: Hall, other: Hall) -> None:
        for number in range(CRASHES):
            request_id = f"play-now-{number}"
            expected = await killed(store, request_id, step)
            asked = {"game": "cant_stop", "request_id": request_id}
            first, second = (
                await one.person("anna").call("PlayNow", **asked),
                await other.person("anna").call("PlayNow", **asked),
            )
            assert (expected, True) == (first.match_id, first.opened) == (second.match_id, second.opened)
            assert 1 == await one.log.head(expected)
            assert expected == (await other.seek(f"ben-{number}"))[1].match_id
            with store.client() as client:
                client.flushall()

    run(store, scenario)


async def killed(store: Server, request_id: str, step: str) -> str:
    """Let a process die at this step of Anna's request; returns the id of the match that the request opens."""
    words = [sys.executable, "-m", "tests.server.play.dying_now", store.url, request_id, step]
    process = await asyncio.create_subprocess_exec(*words)
    assert -signal.SIGKILL == await process.wait()
    hall = Hall()
    return hall.service.players.opens(Subject(OWN_ISSUER, "anna", Role.PLAYER, (), "", 0), request_id)


def test_dead_tables_are_never_joined_and_their_people_lose_the_seat(store: Server) -> None:
    """The people at the table have no feed open; a person with one stays, also for longer."""

    async def scenario(one: Hall, other: Hall) -> None:
        dead = [(await one.seek(f"dead-{number}", people_only=True))[1].match_id for number in range(1)]
        anna, mine = await other.seek("anna", "raffzahn")
        feed = other.watch(anna, mine.match_id)
        await feed.until("caught_up")
        await asyncio.sleep(SHORT.seen_within / 1_000 + 0.1)
        assert (await other.seek("carla"))[1].match_id not in dead
        joined = await one.person("ben").call("PlayNow", game="raffzahn")
        assert mine.match_id == joined.match_id

        async def gone() -> bool:
            return bool(MATCH_STATE_ABORTED == (await state(one, dead[0])).state)

        await one.sweep_until(gone)
        assert MATCH_STATE_OPEN == (await state(one, mine.match_id)).state
        feed.leave()

    run(store, scenario, periods=SHORT)


def test_bots_join_who_waits_alone_but_nobody_who_wants_people(store: Server) -> None:
    """`bots_at_ms` is in the lobby entry; it is 0 while a person sits there who wants people only."""

    async def scenario(one: Hall, other: Hall) -> None:
        anna, found = await one.seek("anna", "wuerfelzoo")
        feed = one.watch(anna, found.match_id)
        await feed.until("caught_up")
        summary = await state(one, found.match_id)
        assert summary.opened_ms + SHORT.bots == summary.bots_at_ms == found.bots_at_ms
        ben, _ = await other.seek("ben", "cant_stop", people_only=True)
        alone = (await ben.call("PlayNow", game="cant_stop")).match_id
        carla = await one.person("carla").call("PlayNow", game="cant_stop")
        assert (alone, 0) == (carla.match_id, carla.bots_at_ms)

        async def closed() -> bool:
            return bool(MATCH_STATE_GETTING_READY == (await state(other, found.match_id)).state)

        await other.sweep_until(closed)
        seats = (await state(one, found.match_id)).seats
        assert seats[0].name == "Anna"
        assert all(seat.is_house for seat in seats[1:])
        assert len(seats) - 1 == len(one.invited + other.invited)
        assert MATCH_STATE_OPEN == (await state(one, alone)).state
        feed.leave()

    run(store, scenario, periods=SHORT, has_bots=True)


@pytest.mark.slow
def test_no_bot_joins_for_ten_minutes_where_people_only_are_wanted(store: Server) -> None:
    """By the store's clock, at a twentieth of all periods; the table stays open while its person is there."""

    async def scenario(one: Hall, other: Hall) -> None:
        anna, found = await one.seek("anna", people_only=True)
        feed = one.watch(anna, found.match_id)
        await feed.until("caught_up")
        opened_ms = (await state(one, found.match_id)).opened_ms

        async def is_over() -> bool:
            summary = await state(other, found.match_id)
            assert (MATCH_STATE_OPEN, 1, 0) == (
                summary.state,
                sum(seat.taken for seat in summary.seats),
                summary.bots_at_ms,
            )
            return bool(await other.log.now_ms() > opened_ms + 600_000 // 20)

        await other.sweep_until(is_over)
        assert not one.invited + other.invited
        feed.leave()

    run(store, scenario, periods=SHORT, has_bots=True)


def test_who_wants_people_only_and_leaves_lets_bots_come_again(store: Server) -> None:
    """At a table for three, where the other person does not mind."""

    async def scenario(one: Hall, other: Hall) -> None:
        _, found = await one.seek("anna", "raffzahn")
        ben, again = await other.seek("ben", "raffzahn", people_only=True)
        assert found.match_id == again.match_id
        assert 0 == (await state(one, found.match_id)).bots_at_ms
        await ben.call("LeaveSeat", match_id=found.match_id)
        assert found.bots_at_ms == (await state(one, found.match_id)).bots_at_ms > 0

    run(store, scenario, has_bots=True)


def test_the_opener_withdraws_a_table_only_alone(store: Server) -> None:
    """Bots are added, and the table is withdrawn, only while no other person sits there."""

    async def scenario(one: Hall, other: Hall) -> None:
        anna, found = await one.seek("anna", "raffzahn")
        assert (await anna.look(found.match_id)).is_opener
        bot = await anna.call("AddBot", match_id=found.match_id)
        await anna.call("FreeSeat", match_id=found.match_id, seat=bot.seat)
        for name in ("ben", "carla"):
            assert found.match_id == (await other.person(name).call("PlayNow", game="raffzahn")).match_id
        await other.person("ben").call("TakeSeat", match_id=found.match_id)
        assert not (await anna.look(found.match_id)).is_opener
        for method, reason in (("AbortMatch", "ROLE_MISSING"), ("AddBot", "NOT_OPENER")):
            assert reason == (await refusal(anna.call(method, match_id=found.match_id))).reason

    run(store, scenario, has_bots=True)


def test_the_absent_are_paused_for_longer_each_time(store: Server) -> None:
    """The person who was not ready in time; the other one is not."""

    async def scenario(one: Hall, other: Hall) -> None:
        for seconds in (3, 6):
            (anna, found), (ben, same) = await one.seek("anna"), await other.seek("ben")
            assert found.match_id == same.match_id
            closing = (await anna.look(found.match_id)).head.link
            await anna.call("Ready", match_id=found.match_id, closing_link=closing, entropy=bytes([2]) * 16)

            async def aborted(match_id: str = found.match_id) -> bool:
                return bool(MATCH_STATE_ABORTED == (await state(one, match_id)).state)

            await one.sweep_until(aborted)
            paused = await refusal(ben.call("PlayNow", game="cant_stop"))
            assert ("PLAY_NOW_PAUSED", seconds) == (paused.reason, round(int(paused.facts["retry_after_ms"]) / 1_000))
            await anna.call("PlayNow", game="cant_stop", request_id=f"play-now-{seconds}")
            with store.client() as client:
                client.delete(*client.keys("*:now:*"), *client.keys("*:now-paused:*"))

    run(store, scenario, periods=SHORT)


def test_calls_are_limited_by_subject_in_all_processes(store: Server) -> None:
    """The refusal has the time to wait."""

    async def scenario(one: Hall, other: Hall) -> None:
        here, there = one.person("anna"), other.person("anna")
        for number in range(4):
            await (here, there)[number % 2].call("PlayNow", game="cant_stop")
        limited = await refusal(here.call("PlayNow", game="cant_stop"))
        assert ("RATE_LIMITED", True) == (limited.reason, 0 < int(limited.facts["retry_after_ms"]) <= 15_000)

    run(store, scenario, play_now_per_minute=4)


def test_calls_are_limited_by_address_in_all_processes(store: Server) -> None:
    """An address that a proxy names counts for all its subjects together."""

    async def scenario(one: Hall, other: Hall) -> None:
        people = [(one, other)[number % 2].person(f"p{number}") for number in range(5)]
        for person in people:
            person.metadata = (*person.metadata, ("x-forwarded-for", "192.0.2.7"))
        for person in people[:4]:
            await person.call("PlayNow", game="cant_stop")
        assert "RATE_LIMITED" == (await refusal(people[4].call("PlayNow", game="cant_stop"))).reason
        await one.person("p4").call("PlayNow", game="cant_stop")

    run(store, scenario, play_now_per_address_per_minute=4)


@pytest.mark.parametrize("pupils", [20, pytest.param(200, marks=pytest.mark.slow)])
def test_a_school_behind_one_address_is_seated(store: Server, pupils: int) -> None:
    """At once, within the limits that hold by default: nobody is refused, and all sit with people."""

    async def scenario(one: Hall, other: Hall) -> None:
        async def seek(number: int) -> str:
            hall = (one, other)[number % 2]
            person = hall.person(f"p{number}")
            person.metadata = (*person.metadata, ("x-forwarded-for", "192.0.2.7"))
            found = await person.call("PlayNow", game="cant_stop")
            await person.call("TakeSeat", match_id=found.match_id)
            return str(found.match_id)

        tables = Counter(await asyncio.gather(*map(seek, range(pupils))))
        assert {2} == set(tables.values())

    limits = Limits()
    run(
        store,
        scenario,
        play_now_per_minute=limits.play_now_per_minute,
        play_now_per_address_per_minute=limits.play_now_per_address_per_minute,
    )
