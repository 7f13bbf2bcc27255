"""Lists page by page, and the limits per subject."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import grpc

from rollbook.server.configuration.limit_table import Limits
from rollbook.v1 import match_pb2
from tests.server.rpc.talking import Person, World, refusal, run


def test_pages_hold_every_match_once_whatever_happens_meanwhile() -> None:
    """The newest come first; a token is valid for its filters and its caller, for at least an hour."""

    async def scenario(world: World) -> None:
        one = world.person("one")
        opened = []
        for number in range(7):
            world.clock.ms += number % 2
            opened.append((await world.person(f"opener-{number}").open()).match_id)
        seen: list[str] = []
        token = ""
        while True:
            page = await one.call("ListMatches", page_size=2, page_token=token)
            seen += [match.match_id for match in page.matches]
            world.clock.ms += 3_600_000
            await world.person("two").open()
            token = page.next_page_token
            if not token:
                break
            for wrong in ({"game": "raffzahn"}, {"page_token": token[:-4] + "AAAA"}, {"page_token": "ä"}):
                bad = await refusal(one.call("ListMatches", **{"page_size": 2, "page_token": token, **wrong}))
                assert "PAGE_TOKEN_BAD" == bad.reason
        assert sorted(opened) == sorted(seen)
        assert "PAGE_TOKEN_BAD" == (await refusal(one.call("ListMatches", page_token=opened[0]))).reason
        assert "PAGE_SIZE_NEGATIVE" == (await refusal(one.call("ListMatches", page_size=-1))).reason
        assert "STATE_UNKNOWN" == (await refusal(one.call("ListMatches", state=99))).reason

    run(scenario)


def test_a_page_has_50_matches_or_as_many_as_are_asked_for_up_to_200() -> None:
    """Larger sizes are cut to 200."""

    async def scenario(world: World) -> None:
        one = world.person("one")
        for _ in range(201):
            await one.open()
        sizes = [len((await one.call("ListMatches", page_size=size)).matches) for size in (0, 1, 200, 201, 9_999)]
        assert [50, 1, 200, 200, 200] == sizes

    run(scenario, limits=Limits(matches_per_subject=201, open_matches_per_subject=201, requests_at_once=10**6))


def test_lists_are_filtered_by_game_state_and_seat() -> None:
    """Each match is listed in its current state, with the awaited seat."""

    async def scenario(world: World) -> None:
        running, people = await world.started()
        waiting = (await people[0].open("raffzahn", 3)).match_id

        async def listed(person: Person, **filters: Any) -> list[str]:
            return [match.match_id for match in (await person.call("ListMatches", **filters)).matches]

        assert [running] == await listed(people[1], mine=True)
        assert [running] == await listed(people[1], state=match_pb2.MATCH_STATE_RUNNING)
        assert [waiting] == await listed(people[1], state=match_pb2.MATCH_STATE_OPEN)
        assert [waiting] == await listed(people[1], game="raffzahn")
        assert [] == await listed(world.person("other"), mine=True)
        (summary,) = (await people[0].call("ListMatches", game="cant_stop")).matches
        assert (await people[0].look(running)).summary == summary

    run(scenario)


def test_limits_refuse_and_say_how_many() -> None:
    """Limits on matches and seats of a subject; a retry does not count again."""

    async def scenario(world: World) -> None:
        one = world.person("one")
        first = await one.open(request_id="open-it-1")
        many = await refusal(one.open())
        assert (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_MATCHES") == (many.code, many.reason)
        assert {"limit": "1", "of": "matches_per_subject"} == many.facts
        assert first == await one.open(request_id="open-it-1")
        second = await world.person("second").open()
        sat = await one.call("TakeSeat", match_id=first.match_id, request_id="sit-down-1")
        assert "TOO_MANY_SEATS" == (await refusal(one.call("TakeSeat", match_id=second.match_id))).reason
        assert sat == await one.call("TakeSeat", match_id=first.match_id, request_id="sit-down-1")

    run(scenario, limits=Limits(matches_per_subject=1, seats_per_subject=1))


def test_a_subject_that_calls_too_often_waits() -> None:
    """The refusal has the time to wait; other subjects are not affected."""

    async def scenario(world: World) -> None:
        one = world.person("one")
        opened = await world.person("opener").open()
        for _ in range(3):
            await one.look(opened.match_id)
        told = await refusal(one.look(opened.match_id))
        assert ("RATE_LIMITED", {"retry_after_ms": "500"}) == (told.reason, told.facts)
        await world.person("two").look(opened.match_id)
        world.clock.ms += 500
        await one.look(opened.match_id)

    run(scenario, limits=replace(Limits(), requests_per_second=2, requests_at_once=3))


def test_a_call_costs_what_it_weighs() -> None:
    """A look costs 1, opening 5, leaving 3, a page of n matches 1 + n/20 (of the requested size; 0 means 50)."""

    async def scenario(world: World) -> None:
        match_id = (await world.person("opener").open()).match_id

        async def left(name: str) -> int:
            looks = 0
            with suppress(grpc.aio.AioRpcError):
                while True:
                    await world.person(name).look(match_id)
                    looks += 1
            return looks

        assert 40 == await left("looker")
        mine = (await world.person("host").open()).match_id
        await world.person("guest").call("TakeSeat", match_id=mine)
        await world.person("guest").call("LeaveSeat", match_id=mine)
        assert 35 == await left("host")
        assert 32 == await left("guest")
        for size, weight in ((0, 4), (10, 2), (20, 2), (50, 4), (200, 11), (9_999, 11)):
            reader = world.person(f"reader-{size}")
            await reader.call("ListMatches", page_size=size)
            assert 40 - weight == await left(reader.sub)
        assert "PAGE_SIZE_NEGATIVE" == (await refusal(world.person("joker").call("ListMatches", page_size=-1))).reason
        assert 39 == await left("joker")
        poor = world.person("poor")
        await left("poor")
        told = await refusal(poor.open())
        assert ("RATE_LIMITED", {"retry_after_ms": "2500"}) == (told.reason, told.facts)
        world.clock.ms += 2_500
        await poor.open()

    run(scenario, limits=replace(Limits(), requests_per_second=2, requests_at_once=40))


def test_a_call_that_weighs_more_than_there_is_at_once_needs_a_full_bucket() -> None:
    """Otherwise low limits would make lists impossible."""

    async def scenario(world: World) -> None:
        one = world.person("one")
        await one.call("ListMatches")
        told = await refusal(one.call("ListMatches"))
        assert {"retry_after_ms": "1500"} == told.facts
        world.clock.ms += 1_500
        await one.call("ListMatches")

    run(scenario, limits=replace(Limits(), requests_per_second=2, requests_at_once=3))
