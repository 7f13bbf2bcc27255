"""Taking seats, getting ready, resigning, and aborts by operators, over a real channel."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import pytest

from rollbook.identity.tokens import Role
from rollbook.match.commands import Declined, Why
from rollbook.storage.port import AppendResult, Conflict
from rollbook.v1 import match_pb2
from tests.server.rpc.talking import Person, World, entropy, refusal, refused, run, some_choice
from tests.storage.memory import MemoryLog

NEVER = "a" * 24


def test_sitting_down_getting_up_and_getting_ready_can_be_repeated() -> None:
    """A repeated request gets the same answer, even if the caller no longer has the seat, and in a private match."""

    async def scenario(world: World) -> None:
        opened = await world.person("opener").open(is_private=True)
        guest = world.person("guest")
        where = {"match_id": opened.match_id}
        sit = {**where, "invitation_code": opened.invitation_code, "request_id": "sit-down-1"}
        taken = await guest.call("TakeSeat", **sit)
        assert taken == await guest.call("TakeSeat", **sit)
        assert "ALREADY_SEATED" == (await refusal(guest.call("TakeSeat", **{**sit, "request_id": "sit-down-2"}))).reason
        left = await guest.call("LeaveSeat", **where, request_id="get-up-01")
        assert left == await guest.call("LeaveSeat", **where, request_id="get-up-01")
        assert taken == await guest.call("TakeSeat", **sit)
        assert "MATCH_NOT_FOUND" == (await refusal(guest.call("LeaveSeat", **where))).reason

    run(scenario)


def test_seats_are_refused_for_what_is_wrong_with_them() -> None:
    """Before and after the closing of the seats, with helpful facts."""

    async def scenario(world: World) -> None:
        one, other, third = world.person("one"), world.person("other"), world.person("third")
        match_id = (await one.open(seats=2)).match_id

        async def told(person: Person, method: str, **fields: Any) -> str:
            return (await refusal(person.call(method, match_id=match_id, **fields))).reason

        for method in ("LeaveSeat", "Ready", "Choose", "Resign"):
            assert "NOT_SEATED" == await told(one, method)
        await sit(one, match_id, 0)
        for method in ("Choose", "Resign"):
            assert "NOT_STARTED" == await told(one, method)
        assert "SEATS_NOT_CLOSED" == await told(one, "Ready")
        assert "SEAT_UNKNOWN" == await told(other, "TakeSeat", seat=2)
        assert "SEAT_UNKNOWN" == await told(other, "TakeSeat", seat=-1)
        taken = await refusal(other.call("TakeSeat", match_id=match_id, seat=0))
        assert ("SEAT_TAKEN", {"seat": "0", "free": "1"}) == (taken.reason, taken.facts)
        assert "ENTROPY_COMMITMENT_LENGTH" == await told(other, "TakeSeat", entropy_commitment=b"short")
        assert "NAME_REFUSED" == await told(other, "TakeSeat", name="a\u202eb")
        assert "ALREADY_SEATED" == await told(one, "TakeSeat")
        assert "NOT_YOUR_SEAT" == await told(one, "LeaveSeat", seat=1)
        assert "SEAT_UNKNOWN" == await told(one, "LeaveSeat", seat=7)
        await sit(other, match_id, 1)
        assert "SEATS_CLOSED" == await told(third, "TakeSeat")
        assert "SEATS_CLOSED" == await told(one, "LeaveSeat")
        assert "CLOSING_LINK_WRONG" == await told(one, "Ready", closing_link=b"x" * 32)
        closing = (await one.look(match_id)).head.link
        for length in (15, 65):
            assert "ENTROPY_LENGTH" == await told(one, "Ready", closing_link=closing, entropy=bytes(length))
        assert "ENTROPY_DOES_NOT_FIT" == await told(one, "Ready", closing_link=closing, entropy=b"x" * 16)
        await one.call("Ready", match_id=match_id, closing_link=closing)
        assert "ALREADY_READY" == await told(one, "Ready", closing_link=closing)

    run(scenario)


async def sit(person: Person, match_id: str, seat: int) -> None:
    """Take a seat without entropy."""
    assert seat == (await person.call("TakeSeat", match_id=match_id, seat=seat)).seat


def test_entropy_that_was_committed_to_has_to_be_revealed() -> None:
    """A seat cannot get ready without the entropy that it committed to."""

    async def scenario(world: World) -> None:
        match_id, people = await world.seated()
        closing = (await people[0].look(match_id)).head.link
        told = await refusal(people[0].call("Ready", match_id=match_id, closing_link=closing))
        assert (grpc.StatusCode.FAILED_PRECONDITION, "ENTROPY_MISSING") == (told.code, told.reason)
        await people[0].call("Ready", match_id=match_id, closing_link=closing, entropy=entropy(0))

    run(scenario)


def test_an_operator_ends_a_match_and_nobody_else_does() -> None:
    """Retries get the same answer; later refusals name the reason of the abort."""

    async def scenario(world: World) -> None:
        match_id, people = await world.started()
        told = await refusal(people[1].call("AbortMatch", match_id=match_id))
        assert ("ROLE_MISSING", {"role": "operator"}) == (told.reason, told.facts)
        boss = world.person("boss", Role.OPERATOR)
        assert "MATCH_NOT_FOUND" == (await refusal(boss.call("AbortMatch", match_id=NEVER))).reason
        aborted = await boss.call("AbortMatch", match_id=match_id, request_id="abort-it-1")
        assert aborted == await boss.call("AbortMatch", match_id=match_id, request_id="abort-it-1")
        assert "ROLE_MISSING" == (await refusal(boss.open())).reason
        for call in (boss.call("AbortMatch", match_id=match_id), people[0].call("Resign", match_id=match_id)):
            over = await refusal(call)
            assert ("MATCH_ABORTED", {"aborted": "by_operator"}) == (over.reason, over.facts)
        summary = (await people[0].look(match_id)).summary
        assert (match_pb2.MATCH_STATE_ABORTED, "P0") == (summary.state, summary.seats[0].name)
        assert [True] == [listed.is_over for listed in await world.service.lobby.everything()]

    run(scenario)


@pytest.mark.parametrize("is_private", [False, True])
@pytest.mark.parametrize("sits", [False, True])
def test_whoever_opened_a_match_withdraws_it_before_its_seats_close(is_private: bool, sits: bool) -> None:
    """With or without a seat; retries get the same answer, and other players need the role of an operator."""

    async def scenario(world: World) -> None:
        opener, guest, stranger = (world.person(name) for name in ("opener", "guest", "stranger"))
        opened = await opener.open(seats=3, is_private=is_private)
        where = {"match_id": opened.match_id}
        for person in (opener, guest) if sits else (guest,):
            await person.call("TakeSeat", **where, invitation_code=opened.invitation_code)
        told = await refusal(guest.call("AbortMatch", **where))
        assert (grpc.StatusCode.PERMISSION_DENIED, "ROLE_MISSING") == (told.code, told.reason)
        told = await refusal(stranger.call("AbortMatch", **where))
        assert ("MATCH_NOT_FOUND" if is_private else "ROLE_MISSING") == told.reason
        assert "REQUEST_ID_MALFORMED" == (await refusal(opener.call("AbortMatch", **where, request_id="x"))).reason
        ahead = {"sequence": 9, "link": bytes(32)}
        assert "POSITION_AHEAD" == (await refusal(opener.call("AbortMatch", **where, position=ahead))).reason
        withdrawn = await opener.call("AbortMatch", **where, request_id="withdraw")
        world.check_made(withdrawn.made)
        assert withdrawn == await opener.call("AbortMatch", **where, request_id="withdraw")
        for call in (opener.call("AbortMatch", **where), guest.call("LeaveSeat", **where)):
            over = await refusal(call)
            assert ("MATCH_ABORTED", {"aborted": "by_operator"}) == (over.reason, over.facts)
        assert match_pb2.MATCH_STATE_ABORTED == (await guest.look(opened.match_id)).summary.state

    run(scenario)


def test_nobody_withdraws_a_match_once_its_seats_are_closed() -> None:
    """The match cannot be withdrawn while seats get ready, because the other players have agreed to play."""

    async def scenario(world: World) -> None:
        match_id, people = await world.seated()
        told = await refusal(people[0].call("AbortMatch", match_id=match_id))
        assert (grpc.StatusCode.FAILED_PRECONDITION, "SEATS_CLOSED") == (told.code, told.reason)
        await world.get_ready(match_id, people)
        assert "SEATS_CLOSED" == (await refusal(people[0].call("AbortMatch", match_id=match_id))).reason

    run(scenario)


def test_a_withdrawal_that_comes_too_late_is_refused_although_its_process_has_not_heard_of_that() -> None:
    """The last seat was taken at another process, so the withdrawal is decided again on the current match."""

    async def scenario(world: World) -> None:
        opener, guests = world.person("opener"), [world.person("one"), world.person("other")]
        match_id = (await opener.open()).match_id
        other = world.process()
        caller = other.callers.of(Calling(opener))  # type: ignore[arg-type]
        sight = await other.sights.now(caller, match_id)
        for guest in guests:
            await guest.call("TakeSeat", match_id=match_id)
        asked = match_pb2.AbortMatchRequest(request_id="withdraw", match_id=match_id)
        with pytest.raises(Declined) as declined:
            await other.commands.abort(sight, asked)
        assert Why.SEATS_CLOSED is declined.value.reason

    run(scenario)


class Calling:
    """The parts of gRPC's context that identify the caller."""

    def __init__(self, person: Person) -> None:
        """A call by this person."""
        self.metadata = person.metadata

    def peer(self) -> str:
        """A loopback address."""
        return "ipv4:127.0.0.1:4711"

    def invocation_metadata(self) -> Any:
        """The metadata of the call."""
        return self.metadata


def test_whoever_resigned_does_nothing_more_and_the_last_player_wins() -> None:
    """A caretaker continues among three; with one player left the match is sealed."""

    async def scenario(world: World) -> None:
        match_id, people = await world.started(seats=3)
        await people[0].call("Resign", match_id=match_id)
        assert (await people[1].look(match_id)).summary.seats[0].forfeited
        for method in ("Choose", "Resign"):
            assert "SEAT_FORFEITED" == (await refusal(people[0].call(method, match_id=match_id))).reason
        await people[1].call("Resign", match_id=match_id)
        assert [3, 2, 1] == list((await people[2].look(match_id)).summary.places.places)
        assert "MATCH_SEALED" == (await refusal(people[2].call("Resign", match_id=match_id))).reason

    run(scenario)


def test_two_who_want_the_last_seat_get_one_seat_and_one_refusal() -> None:
    """Five players ask for two seats at the same time."""

    async def scenario(world: World) -> None:
        match_id = (await world.person("opener").open(seats=2)).match_id
        wanting = [world.person(f"w{number}") for number in range(5)]
        results = await asyncio.gather(
            *[person.call("TakeSeat", match_id=match_id) for person in wanting], return_exceptions=True
        )
        told = [refused(result).reason for result in results if isinstance(result, grpc.aio.AioRpcError)]
        assert ["SEATS_CLOSED"] * 3 == told

    run(scenario)


class Busy(MemoryLog):
    """A store in which another process is always faster."""

    busy = False

    async def append(self, match_id: str, expected: int, *what: Any, **how: Any) -> AppendResult:
        """Append, or conflict while busy."""
        return Conflict(expected + 1) if self.busy else await super().append(match_id, expected, *what, **how)


def test_a_command_that_is_always_late_is_refused_as_contended() -> None:
    """After three tries. A choice is refused at once, never decided again; the request id may be used again."""

    async def scenario(world: World) -> None:
        match_id, people = await world.started()
        person, look = await world.awaited(match_id, people)
        world.log.busy = True
        late = await refusal(person.choose(match_id, some_choice(look.legal), world.check_head(look.head)))
        assert (grpc.StatusCode.ABORTED, "POSITION_BEHIND") == (late.code, late.reason)
        told = await refusal(person.call("Resign", match_id=match_id, request_id="resign-01"))
        assert (grpc.StatusCode.ABORTED, "CONTENDED") == (told.code, told.reason)
        world.log.busy = False
        await person.call("Resign", match_id=match_id, request_id="resign-01")

    run(scenario, log=Busy())


class Overtaken(MemoryLog):
    """A store in which another process appends first, on request."""

    faster: Callable[[], Awaitable[Any]] | None = None

    async def append(self, match_id: str, expected: int, *what: Any, **how: Any) -> AppendResult:
        """Append after `faster` has appended."""
        faster, self.faster = self.faster, None
        if faster is not None:
            await faster()
        return await super().append(match_id, expected, *what, **how)


def test_who_is_overtaken_sits_on_the_next_seat_or_learns_that_there_is_none() -> None:
    """Taking a seat is decided again on the current match, and removes no other player's name."""

    async def scenario(world: World) -> None:
        match_id = (await world.person("opener").open(seats=3)).match_id
        here = [world.person(name) for name in ("ada", "ben")]
        async with world.serving(world.process()):
            there = [world.person(name) for name in ("cora", "dan")]
            world.log.faster = lambda: there[0].call("TakeSeat", match_id=match_id)
            assert 1 == (await here[0].call("TakeSeat", match_id=match_id)).seat
            assert ["Cora", "Ada", ""] == [seat.name for seat in (await here[0].look(match_id)).summary.seats]
            world.log.faster = lambda: there[1].call("TakeSeat", match_id=match_id)
            assert "SEATS_CLOSED" == (await refusal(here[1].call("TakeSeat", match_id=match_id))).reason

    run(scenario, log=Overtaken())


def test_a_choice_that_is_overtaken_by_its_own_retry_gets_the_same_answer() -> None:
    """The retry uses another process at another time, so its events would differ."""

    async def scenario(world: World) -> None:
        match_id, people = await world.started()
        person, match = await world.awaited(match_id, people)
        asked = {"choice": some_choice(match.legal), "position": match.summary.position, "request_id": "only-once"}
        first = None
        async with world.serving(world.process()):
            there = world.person(person.sub)

            async def retried() -> None:
                nonlocal first
                world.clock.ms += 5
                first = await there.choose(match_id, **asked)

            world.log.faster = retried
            assert await person.choose(match_id, **asked) == first

    run(scenario, log=Overtaken())
