"""Rematches: all players of a match meet in the same new match, and its seats are kept for them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from rollbook.match.chain import entropy_commitment
from rollbook.server.configuration.limit_table import Limits
from rollbook.server.lobby.rematches import KEPT_SECONDS, MOST_ABORTED
from rollbook.v1 import match_pb2
from tests.server.rpc.talking import Person, World, entropy, refusal, run

TERMS = ("game", "ruleset", "options", "turn_seconds", "reserve_seconds", "ready_seconds", "spectator_delay_seconds")


async def finished(world: World, **fields: Any) -> tuple[str, list[Person]]:
    """A match of two that has a result."""
    match_id, people = await world.started(**fields)
    await people[1].call("Resign", match_id=match_id)
    return match_id, people


async def rematch(person: Person, match_id: str, **fields: Any) -> Any:
    """Ask for the rematch of a match."""
    return await person.call("OpenMatch", rematch_of=match_id, **fields)


def test_whoever_asks_for_a_rematch_meets_the_same_table() -> None:
    """The first caller opens the rematch; game, options, clocks and seats equal those of the previous match."""

    async def scenario(world: World) -> None:
        cant_stop = {"free_fields": True}
        before, (one, two) = await finished(world, cant_stop=cant_stop, turn_seconds=30, reserve_seconds=60)
        first, second = await rematch(one, before), await rematch(two, before, seats=4, turn_seconds=5)
        assert first == second
        assert before != first.match_id
        old, new = (await one.look(before)).summary, (await one.look(first.match_id)).summary
        assert [getattr(old, name) for name in TERMS] == [getattr(new, name) for name in TERMS]
        assert (2, before) == (len(new.seats), new.rematch_of)
        for seat, person in enumerate((one, two)):
            commitment = entropy_commitment(entropy(seat))
            await person.call("TakeSeat", match_id=first.match_id, entropy_commitment=commitment)
        await world.get_ready(first.match_id, [one, two])
        await one.call("Resign", match_id=first.match_id)
        assert first.match_id != (await rematch(two, first.match_id)).match_id

    run(scenario)


def test_two_processes_that_are_asked_at_once_open_one_rematch() -> None:
    """The log decides which came first; the other process answers with the stored match."""

    async def scenario(world: World) -> None:
        before, (one, two) = await finished(world)
        async with world.serving(world.process()):
            other = Person(world, world.channel, two.sub, world.token(two.sub))
            answers = await asyncio.gather(*(rematch(person, before) for person in (one, other) for _ in range(4)))
        assert 1 == len({answer.SerializeToString() for answer in answers})
        assert [1] == [answer.made.first for answer in answers[:1]]

    run(scenario)


def test_only_who_sat_in_a_match_with_a_result_has_a_rematch() -> None:
    """Strangers cannot have one, and neither can players of a running or aborted match."""

    async def scenario(world: World) -> None:
        running, people = await world.started()
        assert "NOT_FINISHED" == (await refusal(rematch(people[0], running))).reason
        stranger = world.person("stranger")
        assert "NOT_SEATED" == (await refusal(rematch(stranger, running))).reason
        assert "MATCH_NOT_FOUND" == (await refusal(rematch(stranger, "a" * 24))).reason
        withdrawn = (await people[0].open()).match_id
        await people[0].call("TakeSeat", match_id=withdrawn)
        await people[0].call("AbortMatch", match_id=withdrawn)
        assert "NOT_FINISHED" == (await refusal(rematch(people[0], withdrawn))).reason

    run(scenario)


def test_the_seats_of_a_rematch_are_kept_for_five_minutes() -> None:
    """The refusal for strangers has the time at which the seats get free; after that any player may take them."""

    async def scenario(world: World) -> None:
        before, (one, two) = await finished(world)
        match_id = (await rematch(one, before)).match_id
        stranger = world.person("stranger")
        world.clock.ms += 60_000
        kept = await refusal(stranger.call("TakeSeat", match_id=match_id))
        assert ("SEATS_KEPT", {"retry_after_ms": "240000"}) == (kept.reason, kept.facts)
        await two.call("TakeSeat", match_id=match_id)
        world.clock.ms += 240_000 - 1
        assert "SEATS_KEPT" == (await refusal(stranger.call("TakeSeat", match_id=match_id))).reason
        world.clock.ms += 1
        assert 1 == (await stranger.call("TakeSeat", match_id=match_id)).seat
        assert 300 == KEPT_SECONDS

    run(scenario)


def test_a_rematch_of_a_private_match_is_private_and_its_players_need_no_code() -> None:
    """Strangers do not find the match, and invited players wait as well."""

    async def scenario(world: World) -> None:
        before, (one, two) = await finished(world, is_private=True)
        opened = await rematch(two, before)
        match_id, stranger = opened.match_id, world.person("stranger")
        assert opened.invitation_code == (await rematch(one, before)).invitation_code != ""
        assert "MATCH_NOT_FOUND" == (await refusal(stranger.look(match_id))).reason
        assert (await one.look(match_id)).summary.is_private
        invited = {"match_id": match_id, "invitation_code": opened.invitation_code}
        assert "SEATS_KEPT" == (await refusal(stranger.call("TakeSeat", **invited))).reason
        assert [0, 1] == [(await person.call("TakeSeat", match_id=match_id)).seat for person in (one, two)]

    run(scenario)


def test_behind_a_rematch_that_was_aborted_there_is_another_one() -> None:
    """The new id follows from the previous match and the aborted rematch, so all players meet in one match."""

    async def scenario(world: World) -> None:
        before, (one, two) = await finished(world)
        met = []
        for _ in range(MOST_ABORTED):
            match_id = (await rematch(one, before)).match_id
            assert match_id == (await rematch(two, before)).match_id
            met.append(match_id)
            await one.call("AbortMatch", match_id=match_id)
            assert match_pb2.MATCH_STATE_ABORTED == (await one.look(match_id)).summary.state
        assert MOST_ABORTED == len(set(met))
        assert "TOO_MANY_MATCHES" == (await refusal(rematch(one, before))).reason

    run(scenario)


@pytest.mark.parametrize("is_over", [False, True])
def test_a_summary_names_the_match_before_until_the_rematch_is_over(*, is_over: bool) -> None:
    """The reference is kept beside the log and is removed with it."""

    async def scenario(world: World) -> None:
        before, (one, _) = await finished(world)
        match_id = (await rematch(one, before)).match_id
        if is_over:
            await one.call("AbortMatch", match_id=match_id)
        expected = "" if is_over else before
        assert expected == (await one.look(match_id)).summary.rematch_of
        listed = (await one.call("ListMatches")).matches
        assert expected == {summary.match_id: summary.rematch_of for summary in listed}.get(match_id, "")

    run(scenario)


def test_a_rematch_is_left_alone_for_no_longer_than_the_operator_now_allows() -> None:
    """The match before may be from a time in which openers could set a year."""

    async def scenario(world: World) -> None:
        before, people = await finished(world, idle_seconds=86_400)
        strict = World(log=world.log, limits=Limits(idle_seconds=7_200))
        strict.clock = world.clock
        async with strict.serving():
            one = strict.person(people[0].sub)
            match_id = (await rematch(one, before)).match_id
            assert 7_200 == (await one.look(match_id)).summary.idle_seconds
            for seconds in (7_201, 31_536_000):
                told = await refusal(one.open(idle_seconds=seconds))
                facts = {"field": "idle_seconds", "allowed": "3600 to 7200"}
                assert ("EXPIRY_OUT_OF_RANGE", facts) == (told.reason, told.facts)
            await one.open(idle_seconds=7_200)

    run(scenario)
