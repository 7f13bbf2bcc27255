"""Every limit of `Limits`, reached over the wire; none is left out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeAlias

import grpc
import pytest

from rollbook.server.addresses import FORWARDED
from rollbook.server.configuration.limit_table import Limits
from rollbook.server.out.replay_export import written
from rollbook.server.rpc import replay as replays
from rollbook.v1 import replay_pb2_grpc
from rollbook.v1.identity_pb2 import SignInRequest
from rollbook.v1.match_pb2 import PlayRequest
from tests.server.feeds.watching import Theatre
from tests.server.lobby.archives import Keeper, run
from tests.server.rpc.talking import Refused, refusal

Reach: TypeAlias = Callable[[Keeper], Awaitable[Refused]]


async def one_match_more_of_all(world: Theatre) -> Refused:
    """Open a third match, after two subjects have opened one each; returns the refusal."""
    for name in ("one", "two"):
        await world.person(name).open()
    return await refusal(world.person("three").open())


async def one_match_more_of_one(world: Theatre) -> Refused:
    """Open a third match of one subject, while another one may still open; returns the refusal."""
    one = world.person("one")
    for _ in range(2):
        await one.open()
    await world.person("two").open()
    return await refusal(one.open())


async def one_seat_more(world: Theatre) -> Refused:
    """Take a seat in a third match; returns the refusal."""
    one = world.person("one")
    matches = [(await world.person("opener").open()).match_id for _ in range(3)]
    for match_id in matches[:2]:
        await one.call("TakeSeat", match_id=match_id)
    return await refusal(one.call("TakeSeat", match_id=matches[2]))


async def one_call_more_at_once(world: Theatre) -> Refused:
    """Without a pause."""
    match_id, one = (await world.person("opener").open()).match_id, world.person("one")
    for _ in range(2):
        await one.look(match_id)
    return await refusal(one.look(match_id))


async def one_call_more_in_a_second(world: Theatre) -> Refused:
    """Points are refilled at the given rate and no faster."""
    match_id, one = (await world.person("opener").open()).match_id, world.person("one")
    for _ in range(Limits().requests_at_once):
        await one.look(match_id)
    world.clock.ms += 1_000
    for _ in range(2):
        await one.look(match_id)
    return await refusal(one.look(match_id))


async def one_subject_more_of_an_address(world: Theatre) -> Refused:
    """Each subject uses its own points; a call with a forwarded address counts for it also on the local machine."""
    match_id = (await world.person("opener").open()).match_id
    people = [world.person(name) for name in ("a", "b", "c")]
    for person in people:
        person.metadata = (*person.metadata, (FORWARDED, "203.0.113.7"))
    for person in people[:2]:
        for _ in range(Limits().requests_at_once):
            await person.look(match_id)
    return await refusal(people[2].look(match_id))


async def one_play_more(world: Theatre, *names: str) -> Refused:
    """Open a stream per name; the last one is refused."""
    match_id, _ = await world.started()
    for name in names[:-1]:
        play = world.person(name).play()
        await play.write(PlayRequest(match_id=match_id))
        assert (await play.read()).HasField("refused")
    return await refusal(world.person(names[-1]).play().read())


async def one_watch_more(world: Theatre, *names: str) -> Refused:
    """Watch the lobby once per name; the last watch is refused."""
    for name in names[:-1]:
        await world.lobby(world.person(name)).until("snapshot")
    return await refusal(world.lobby(world.person(names[-1])).next())


async def one_guest_more(world: Theatre) -> Refused:
    """Sign in a third guest from the same address; returns the refusal."""
    for _ in range(2):
        await world.nobody().identity.SignIn(SignInRequest())
    return await refusal(world.nobody().identity.SignIn(SignInRequest()))


async def a_guest_stays_too_long(world: Theatre) -> Refused:
    """Call with an expired token of a guest; returns the refusal."""
    token = (await world.nobody().identity.SignIn(SignInRequest())).token
    guest = world.nobody(token)
    await guest.call("ListMatches")
    world.clock.ms += 2_000
    return await refusal(guest.call("ListMatches"))


async def one_file_more(world: Keeper, *names: str) -> Refused:
    """No file is finished, but the refusal does not wait for one."""
    match_id, _ = await world.over()
    go_on = asyncio.Event()

    async def write_late(*about: Any) -> bytes:
        await go_on.wait()
        return await written(*about)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(replays, "written", write_late)
        people = [world.person(name) for name in names]
        try:
            return await first_refused([world.replay(person, match_id) for person in people])
        finally:
            go_on.set()


async def one_audit_more(world: Keeper, *names: str) -> Refused:
    """No upload has begun; a part that crosses a refusal would make grpcio report INTERNAL."""
    stub: Any = replay_pb2_grpc.ReplayServiceStub(world.channel)
    return await first_refused([stub.AuditReplay(metadata=world.person(name).metadata) for name in names])


async def one_stranger_more(world: Theatre, rests: int = 0) -> Refused:
    """From the single address of a test; points are refilled at the given rate and no faster."""
    nobody = world.nobody()
    for _ in range(rests and Limits().strangers_at_once):
        await nobody.call("ListGames")
    world.clock.ms += rests
    for _ in range(2):
        await nobody.call("ListGames")
    told = await refusal(nobody.call("ListGames"))
    unsigned = await refusal(nobody.call("ListMatches"))
    assert (told.reason, told.facts) == (unsigned.reason, unsigned.facts)
    return told


async def first_refused(calls: Iterable[Awaitable[Any]]) -> Refused:
    """The refusal of the one call that does not wait; the others are cancelled."""
    waiting = [asyncio.ensure_future(call) for call in calls]
    try:
        (done,), _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        return await refusal(done)
    finally:
        for call in waiting:
            call.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


def counted(limit: str) -> dict[str, str]:
    """The facts of a limit of two that is reported by name."""
    return {"limit": "2", "of": limit}


def waits(limit: str) -> dict[str, str]:
    """The facts of a limit of two an hour."""
    return {**counted(limit), "retry_after_ms": "1800000"}


EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED
REACHED: dict[str, tuple[Reach, str, dict[str, str]]] = {
    "matches": (one_match_more_of_all, "TOO_MANY_MATCHES", counted("matches")),
    "matches_per_subject": (one_match_more_of_one, "TOO_MANY_MATCHES", counted("matches_per_subject")),
    "open_matches_per_subject": (one_match_more_of_one, "TOO_MANY_MATCHES", counted("open_matches_per_subject")),
    "seats_per_subject": (one_seat_more, "TOO_MANY_SEATS", counted("seats_per_subject")),
    "waiting_seats_per_subject": (one_seat_more, "TOO_MANY_SEATS", counted("waiting_seats_per_subject")),
    "requests_per_second": (one_call_more_in_a_second, "RATE_LIMITED", {"retry_after_ms": "500"}),
    "requests_at_once": (one_call_more_at_once, "RATE_LIMITED", {"retry_after_ms": "5"}),
    "subjects_per_address": (one_subject_more_of_an_address, "RATE_LIMITED", {"retry_after_ms": "3"}),
    "plays_per_subject": (lambda world: one_play_more(world, "a", "a", "a"), "TOO_MANY_WATCHES", {"limit": "2"}),
    "plays": (lambda world: one_play_more(world, "a", "b", "c"), "TOO_MANY_WATCHES", {"limit": "2"}),
    "watches_per_subject": (lambda world: one_watch_more(world, "a", "a", "a"), "TOO_MANY_WATCHES", {"limit": "2"}),
    "watches": (lambda world: one_watch_more(world, "a", "b", "c"), "TOO_MANY_WATCHES", {"limit": "2"}),
    "guests_per_address_per_hour": (one_guest_more, "TOO_MANY_GUESTS", waits("guests_per_address_per_hour")),
    "guests_per_hour": (one_guest_more, "TOO_MANY_GUESTS", waits("guests_per_hour")),
    "replays_per_subject": (lambda world: one_file_more(world, "a", "a", "a"), "TOO_MANY_WATCHES", {"limit": "2"}),
    "replays": (lambda world: one_file_more(world, "a", "b", "c"), "TOO_MANY_WATCHES", {"limit": "2"}),
    "audits_per_subject": (lambda world: one_audit_more(world, "a", "a", "a"), "TOO_MANY_WATCHES", {"limit": "2"}),
    "audits": (lambda world: one_audit_more(world, "a", "b", "c"), "TOO_MANY_WATCHES", {"limit": "2"}),
    "audits_per_address": (lambda world: one_audit_more(world, "a", "b", "c"), "TOO_MANY_WATCHES", {"limit": "2"}),
    "strangers_at_once": (one_stranger_more, "RATE_LIMITED", {"retry_after_ms": "10"}),
    "strangers_per_second": (lambda world: one_stranger_more(world, 1_000), "RATE_LIMITED", {"retry_after_ms": "500"}),
    "guest_token_seconds": (a_guest_stays_too_long, "TOKEN_EXPIRED", {}),
}


def test_no_limit_is_without_a_test() -> None:
    """A new limit needs a way to reach it here. Other modules test the limits of connections, bots and addresses.

    `open_seconds`, `idle_seconds`, `first_choice_seconds` and `operator_token_seconds` are times; `test_expiry.py`,
    `test_unplayed.py` and `test_operators.py` test them. `test_openers.py`, `test_quotas_by_address.py` and
    `test_play_now.py` test the rest.
    """
    times = {"open_seconds", "idle_seconds", "first_choice_seconds", "operator_token_seconds"}
    bounds = {field.name for field in fields(Limits)} - times
    there = {"matches_per_address", "open_matches_per_address", "waiting_seats_per_address"}
    bots = {"house_seats", "house_seats_per_subject", "house_seats_per_address"}
    now = {"play_now_per_minute", "play_now_per_address_per_minute"}
    assert bounds == {*REACHED, "connections", *there, *bots, *now}


@pytest.mark.parametrize("name", REACHED)
def test_a_limit_of_two_refuses_the_third(name: str, tmp_path: Path) -> None:
    """The refusal has its reason, and the limit or the time to wait; everything below the limit is served."""
    reach, reason, facts = REACHED[name]

    async def scenario(world: Keeper) -> None:
        told = await reach(world)
        code = grpc.StatusCode.UNAUTHENTICATED if reason == "TOKEN_EXPIRED" else EXHAUSTED
        assert (code, reason, facts) == (told.code, told.reason, told.facts)

    run(scenario, tmp_path, limits=replace(Limits(), **{name: 2}))
