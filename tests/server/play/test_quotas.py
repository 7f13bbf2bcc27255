"""Matches, seats and guests are counted in the store: two processes together admit as many as one would."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Iterable, Iterator
from typing import Any

import grpc
import pytest

from rollbook.identity.tokens import Role
from rollbook.storage.embedded.server import find_server
from rollbook.storage.port import UNDER_WAY_MS
from rollbook.storage.redis.log import RedisLog
from rollbook.v1.identity_pb2 import SignInRequest
from tests.server.pairs import PATIENCE_SECONDS, PLENTY, limits, run
from tests.server.rpc.talking import Person, Refused, World, refusal, refused
from tests.storage.servers import ALL_SLOTS, Server, running


@pytest.fixture(scope="module", params=["one server", "a cluster"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for all tests of this module; the cluster refuses commands that touch two slots."""
    slots = ALL_SLOTS if request.param == "a cluster" else range(0)
    with running(find_server(), tmp_path_factory.mktemp("store"), slots=slots) as found:
        yield found


async def opened(worlds: Iterable[World], name: str, number: int) -> Any:
    """Open a match at one of the processes; return the answer or the refusal."""
    chosen = list(worlds)
    person = chosen[number % len(chosen)].person(name)
    return await outcome(person.open(request_id=f"open-match-{number}"))


async def outcome(call: Awaitable[Any]) -> Any:
    """The answer, or the refusal."""
    try:
        return await call
    except grpc.aio.AioRpcError as error:
        return refused(error)


def told(outcomes: Iterable[Any]) -> set[tuple[str, str, str]]:
    """The distinct reasons and limits of the refusals."""
    return {(one.reason, one.facts["limit"], one.facts["of"]) for one in outcomes if isinstance(one, Refused)}


def done(outcomes: Iterable[Any]) -> list[Any]:
    """The answers that are no refusals."""
    return [one for one in outcomes if not isinstance(one, Refused)]


def a_minute_passes(store: Server) -> None:
    """Age all reservations so much that none can be in progress."""
    with store.client() as client:
        for key in client.scan_iter(b"*:book:*"):
            for match_id, until_ms in client.zrange(key, 0, -1, withscores=True):
                if until_ms > 0:
                    client.zadd(key, {match_id: until_ms - UNDER_WAY_MS - 1_000}, xx=True)


async def sit_down(world: World, names: Iterable[str], match_id: str) -> list[Person]:
    """Let these people take seats."""
    people = [world.person(name) for name in names]
    for seat, person in enumerate(people):
        await person.call("TakeSeat", match_id=match_id, seat=seat, request_id=f"take-seat-{match_id}"[:64])
    return people


def test_of_160_matches_that_one_opens_at_once_at_two_processes_5_have_free_seats(store: Server) -> None:
    """Counting by reading the lobby would admit too many when several are opened at once."""

    async def scenario(one: World, other: World) -> None:
        outcomes = await asyncio.gather(*[opened((one, other), "anna", number) for number in range(160)])
        assert 5 == len(done(outcomes))
        assert {("TOO_MANY_MATCHES", "5", "open_matches_per_subject")} == told(outcomes)
        assert 5 == len((await one.person("anybody").call("ListMatches")).matches)

    run(store, scenario)


def test_of_160_matches_that_one_opens_at_once_at_two_processes_50_are_not_over(store: Server) -> None:
    """Other subjects open theirs meanwhile; a repeated request is answered and counts once."""

    async def scenario(one: World, other: World) -> None:
        outcomes = await asyncio.gather(
            *[opened((one, other), "anna", number) for number in range(160)],
            *[opened((other, one), f"other-{number}", number) for number in range(8)],
        )
        assert 50 == len(done(outcomes[:160]))
        assert 8 == len(done(outcomes[160:]))
        assert {("TOO_MANY_MATCHES", "50", "matches_per_subject")} == told(outcomes)
        there = [number for number in range(160) if not isinstance(outcomes[number], Refused)]
        again = await asyncio.gather(*[opened((other, one), "anna", number) for number in there])
        assert {answer.match_id for answer in done(outcomes[:160])} == {answer.match_id for answer in done(again)}

    run(store, scenario, open_matches_per_subject=PLENTY)


@pytest.mark.parametrize(("most", "limit"), [(10, "waiting_seats_per_subject"), (100, "seats_per_subject")])
def test_of_seats_that_one_takes_at_once_at_two_processes_exactly_so_many_are_taken(
    store: Server, most: int, limit: str
) -> None:
    """10 in matches that have not started, and 100 in all."""

    async def scenario(one: World, other: World) -> None:
        outcomes = await asyncio.gather(*[opened((one, other), f"host-{number}", number) for number in range(130)])
        here, there = one.person("anna"), other.person("anna")
        taken = await asyncio.gather(
            *[
                outcome((here, there)[number % 2].call("TakeSeat", match_id=match.match_id, request_id="take-a-seat"))
                for number, match in enumerate(outcomes)
            ]
        )
        assert most == len(done(taken))
        assert {("TOO_MANY_SEATS", str(most), limit)} == told(taken)

    run(store, scenario, waiting_seats_per_subject=10 if most == 10 else PLENTY)


def test_of_all_matches_that_are_opened_at_once_at_two_processes_exactly_so_many_are_there(store: Server) -> None:
    """Different subjects open them; a refused subject has used up none of its own limits."""

    async def scenario(one: World, other: World) -> None:
        outcomes = await asyncio.gather(*[opened((one, other), f"guest-{number % 30}", number) for number in range(60)])
        assert 20 == len(done(outcomes))
        assert {("TOO_MANY_MATCHES", "20", "matches")} == told(outcomes)
        assert 20 == len((await one.person("anybody").call("ListMatches")).matches)
        await abort(one, [match.match_id for match in done(outcomes)])
        await one.service.quotas.recount()
        again = await asyncio.gather(*[opened((one, other), f"guest-{number}", 100 + number) for number in range(20)])
        assert 20 == len(done(again))

    run(store, scenario, matches=20, open_matches_per_subject=3)


async def abort(world: World, match_ids: Iterable[str]) -> None:
    """Abort these matches as an operator."""
    operator = world.person("operator", Role.OPERATOR)
    for match_id in match_ids:
        await operator.call("AbortMatch", match_id=match_id)


def test_what_ends_or_goes_on_makes_room_at_once(store: Server) -> None:
    """Closed seats, a started match and a finished match each free their place."""

    async def scenario(one: World, other: World) -> None:
        first = [await opened((one,), "anna", number) for number in range(2)]
        assert {"open_matches_per_subject"} == {of for _, _, of in told([await opened((other,), "anna", 9)])}
        match_ids = [match.match_id for match in first]
        for match_id in match_ids:
            await sit_down(other, ["bert", "carl"], match_id)
        third, fourth = [await opened((other,), "anna", number) for number in (9, 10)]
        late = outcome(other.person("bert").call("TakeSeat", match_id=third.match_id))
        assert {"waiting_seats_per_subject"} == {of for _, _, of in told([await late])}
        await abort(one, match_ids)
        await sit_down(other, ["bert", "carl"], third.match_id)
        await abort(one, [third.match_id, fourth.match_id])
        assert 2 == len(done([await opened((one,), "anna", number) for number in (20, 21)]))

    run(store, scenario, open_matches_per_subject=2, waiting_seats_per_subject=2)


def test_seats_that_were_left_or_not_got_are_not_held(store: Server) -> None:
    """A player who comes too late for a seat, or leaves it, may try another at once."""

    async def scenario(one: World, other: World) -> None:
        full = (await opened((one,), "host", 1)).match_id
        await sit_down(one, ["bert", "carl"], full)
        free = (await opened((one,), "host", 2)).match_id
        for number in range(5):
            anna = (one, other)[number % 2].person("anna")
            assert "SEATS_CLOSED" == (await refusal(anna.call("TakeSeat", match_id=full))).reason
            await anna.call("TakeSeat", match_id=free)
            await anna.call("LeaveSeat", match_id=free)
        other_free = (await opened((one,), "host", 3)).match_id
        await other.person("anna").call("TakeSeat", match_id=other_free)
        late = outcome(one.person("anna").call("TakeSeat", match_id=free))
        assert {("TOO_MANY_SEATS", "1", "seats_per_subject")} == told([await late])

    run(store, scenario, seats_per_subject=1)


DIES = """
import asyncio, os, signal, sys
from rollbook.identity.tokens import Role, Subject
from rollbook.storage.redis.log import RedisLog
from rollbook.v1.match_pb2 import OpenMatchRequest
from tests.server.pairs import PATIENCE_SECONDS, PLENTY, limits, run
from tests.server.rpc.talking import World

async def main(url, request_id):
    log = await RedisLog.connect(url)
    world = World(log=log)
    async def die(*given, **terms):
        os.kill(os.getpid(), signal.SIGKILL)
    log.append = die
    request = OpenMatchRequest(request_id=request_id, seats=2)
    request.options.cant_stop.SetInParent()
    await world.service.opener.open(Subject("rollbook", "anna", Role.PLAYER, (), "Anna", 1 << 40), request)

asyncio.run(main(*sys.argv[1:]))
"""


def test_a_place_that_a_killed_process_reserved_is_given_back_after_a_minute(store: Server) -> None:
    """The process dies between reservation and append: the place counts for a minute, as the match may still come."""

    async def scenario(one: World, other: World) -> None:
        for number in range(2):
            command = [sys.executable, "-c", DIES, store.url, f"never-opened-{number}"]
            killed = await asyncio.to_thread(subprocess.run, command, capture_output=True, check=False)
            assert -9 == killed.returncode, killed.stderr
        first = [await opened((one, other), "anna", number) for number in range(4)]
        assert 3 == len(done(first))
        others = [await opened((one, other), f"other-{number}", number) for number in range(2)]
        assert {"matches"} == {of for _, _, of in told([others[1]])}
        a_minute_passes(store)
        outcomes = await asyncio.gather(*[opened((one, other), "anna", 10 + number) for number in range(6)])
        assert [] == done(outcomes)
        await other.service.quotas.recount()
        outcomes = await asyncio.gather(*[opened((one, other), "anna", 20 + number) for number in range(6)])
        # One more place is kept for subjects with fewer matches.
        assert 1 == len(done(outcomes))
        assert {"matches"} <= {of for _, _, of in told(outcomes)}

    run(store, scenario, matches=6)


def test_what_a_killed_process_reserved_serves_the_same_request_again(store: Server) -> None:
    """The place names the match, so the repeated request is admitted although the book is full."""

    async def scenario(one: World, other: World) -> None:
        command = [sys.executable, "-c", DIES, store.url, "open-match-7"]
        killed = await asyncio.to_thread(subprocess.run, command, capture_output=True, check=False)
        assert -9 == killed.returncode, killed.stderr
        first = [await opened((one, other), "anna", number) for number in range(5)]
        assert 4 == len(done(first))
        assert [] == [one for one in [await opened((other,), "anna", 7)] if isinstance(one, Refused)]

    run(store, scenario)


def test_places_outlive_the_store_s_server(store: Server) -> None:
    """They are as durable as the matches that they count."""
    if store.scheme != "redis":
        pytest.skip("a cluster of one server takes long to find together again")

    async def before(one: World, other: World) -> None:
        outcomes = await asyncio.gather(*[opened((one, other), "anna", number) for number in range(4)])
        assert 4 == len(done(outcomes))

    run(store, before)
    store.kill()
    store.start_again()

    async def after() -> None:
        log = await RedisLog.connect(store.url)
        async with asyncio.timeout(PATIENCE_SECONDS), World(log=log, limits=limits()).serving() as world:
            outcomes = await asyncio.gather(*[opened((world,), "anna", 10 + number) for number in range(4)])
            assert 1 == len(done(outcomes))
        await log.close()

    asyncio.run(after())


def test_the_book_of_all_matches_is_mended_from_the_lobby(store: Server) -> None:
    """A book that was lost, for example in a failover, is rewritten by the sweeper."""

    async def scenario(one: World, other: World) -> None:
        assert 3 == len(done([await opened((one, other), f"guest-{number}", number) for number in range(3)]))
        with store.client() as client:
            for key in client.scan_iter(b"*:book:everybody:*"):
                client.delete(key)
        await other.service.sweeper().beat()
        outcomes = await asyncio.gather(*[opened((one, other), f"late-{number}", number) for number in range(6)])
        assert 2 == len(done(outcomes))

    run(store, scenario, matches=5)


def test_the_house_may_wait_at_as_many_tables_as_it_likes(store: Server) -> None:
    """The house keeps a match of every game open, which may be more than 5; other subjects cannot have its name."""

    async def scenario(one: World, other: World) -> None:
        outcomes = await asyncio.gather(*[opened((one, other), "house-anna", number) for number in range(12)])
        assert 11 == len(done(outcomes))
        assert {("TOO_MANY_MATCHES", "11", "matches_per_subject")} == told(outcomes)
        for match in done(outcomes):
            await one.person("house-bert").call("TakeSeat", match_id=match.match_id)

    run(store, scenario, matches_per_subject=11)


def test_guests_of_an_hour_are_counted_for_all_processes(store: Server) -> None:
    """Two processes together admit as many guests as one; other refusals have the time of the next try."""

    async def scenario(one: World, other: World) -> None:
        outcomes = await asyncio.gather(
            *[outcome((one, other)[number % 2].nobody().identity.SignIn(SignInRequest())) for number in range(60)]
        )
        assert 20 == len(done(outcomes))
        (reason,) = {answer.reason for answer in outcomes if isinstance(answer, Refused)}
        assert "TOO_MANY_GUESTS" == reason
        waits = [int(answer.facts["retry_after_ms"]) for answer in outcomes if isinstance(answer, Refused)]
        assert all(0 < wait <= 3_600_000 // 16 for wait in waits)

    run(store, scenario, guests_per_address_per_hour=30, guests_per_hour=20)


def test_nobody_reads_the_lobby_to_open_a_match_or_to_take_a_seat(store: Server) -> None:
    """The cost of these calls does not grow with the number of matches, below a limit and at it."""

    async def scenario(one: World, other: World) -> None:
        async def never() -> dict[str, bytes]:
            raise AssertionError("somebody reads everything")

        for world in (one, other):
            world.log.lobby = never
        outcomes = [await opened((one, other), "anna", number) for number in range(7)]
        assert 5 == len(done(outcomes))
        taken = [
            await outcome(other.person("bert").call("TakeSeat", match_id=match.match_id)) for match in done(outcomes)
        ]
        assert 3 == len(done(taken))

    run(store, scenario, waiting_seats_per_subject=3)


def test_the_store_does_not_tell_who_is_counted(store: Server) -> None:
    """Subjects and addresses are pseudonyms, which need the service key."""

    async def scenario(one: World, other: World) -> None:
        anna = one.person("anna")
        await other.person("bert").call("TakeSeat", match_id=(await anna.open()).match_id)
        await one.nobody().identity.SignIn(SignInRequest())
        with store.client() as client:
            names = b" ".join(key for kind in ("book", "bucket") for key in client.scan_iter(f"*:{kind}:*"))
        assert 8 == names.count(b"{p")
        assert [] == [word for word in (b"anna", b"bert", b"127.0.0.1") if word in names]

    # The guests' bucket expires once it is full again, here after six minutes.
    run(store, scenario, guests_per_hour=10)
