"""What the opener of a match may do before its seats close: free a seat, and add bots of the house."""

from __future__ import annotations

import asyncio
from typing import Any

from rollbook.identity.tokens import Role
from rollbook.match.chain import entropy_commitment, entropy_of
from rollbook.server.access.house_bots import NAMES, STRATEGIES, HouseBot, secret_of
from rollbook.server.app import Parts
from rollbook.server.configuration.limit_table import Limits
from rollbook.server.given import Given
from rollbook.v1 import match_pb2
from rollbook.v1.events_pb2 import Event
from tests.server.rpc.talking import World, refusal, run


class Hosting(World):
    """A service with a house that only records where its bots sit."""

    def process(self, keys: dict[str, Any] | None = None) -> Parts:
        """A process of the service over the same log."""
        self.invited: list[tuple[str, HouseBot]] = []
        given = self.given(keys)
        fields = {name: getattr(given, name) for name in Given.__slots__}
        return Parts(Given(**{**fields, "invite": lambda match_id, bot: self.invited.append((match_id, bot))}))


def host(scenario: Any, **how: Any) -> None:
    """Run a scenario at a service with a house."""

    async def main() -> None:
        async with asyncio.timeout(60), Hosting(**how).serving() as world:
            await scenario(world)

    asyncio.run(main())


def test_whoever_opened_a_private_match_frees_its_seats() -> None:
    """A retry gets the same answer; other players may not free seats, and the removed player may return."""

    async def scenario(world: World) -> None:
        opener, guest = world.person("opener"), world.person("guest")
        opened = await opener.open(is_private=True)
        where = {"match_id": opened.match_id}
        sit = {**where, "invitation_code": opened.invitation_code}
        await guest.call("TakeSeat", **sit, seat=1)
        assert "NOT_OPENER" == (await refusal(guest.call("FreeSeat", **where, seat=1))).reason
        freed = await opener.call("FreeSeat", **where, seat=1, request_id="free-it-1")
        assert "seat_left" == Event.FromString(freed.made.events[0].event).WhichOneof("body")
        assert freed == await opener.call("FreeSeat", **where, seat=1, request_id="free-it-1")
        assert "SEAT_FREE" == (await refusal(opener.call("FreeSeat", **where, seat=1))).reason
        for seat in ({}, {"seat": 2}, {"seat": -1}):
            assert "SEAT_UNKNOWN" == (await refusal(opener.call("FreeSeat", **where, **seat))).reason
        await guest.call("TakeSeat", **sit)
        await opener.call("TakeSeat", **where, invitation_code=opened.invitation_code)
        assert "SEATS_CLOSED" == (await refusal(opener.call("FreeSeat", **where, seat=0))).reason

    run(scenario)


def test_whoever_opened_a_match_is_told_so_and_has_its_invitation_code_again() -> None:
    """The opener gets the code on a second device and after a restart, while seats are free; other players never do."""

    async def scenario(world: World) -> None:
        opener, guest = world.person("opener"), world.person("guest")
        opened = await opener.open(is_private=True)
        where = {"match_id": opened.match_id}
        await guest.call("TakeSeat", **where, invitation_code=opened.invitation_code)
        mine, seen = await opener.call("GetMatch", **where), await guest.call("GetMatch", **where)
        assert (True, opened.invitation_code) == (mine.is_opener, mine.invitation_code)
        assert (False, "") == (seen.is_opener, seen.invitation_code)
        await opener.call("TakeSeat", **where, invitation_code=opened.invitation_code)
        mine = await opener.call("GetMatch", **where)
        assert (False, "") == (mine.is_opener, mine.invitation_code)
        public = await opener.open()
        mine = await opener.call("GetMatch", match_id=public.match_id)
        assert (True, "") == (mine.is_opener, mine.invitation_code)

    run(scenario)


def test_of_a_public_match_no_seat_of_a_stranger_is_freed() -> None:
    """A player in a public match cannot be removed."""

    async def scenario(world: World) -> None:
        opener, stranger = world.person("opener"), world.person("stranger")
        match_id = (await opener.open()).match_id
        await stranger.call("TakeSeat", match_id=match_id)
        assert "MATCH_IS_PUBLIC" == (await refusal(opener.call("FreeSeat", match_id=match_id, seat=0))).reason
        operator = world.person("operator", Role.OPERATOR)
        assert "NOT_OPENER" == (await refusal(operator.call("FreeSeat", match_id=match_id, seat=0))).reason

    run(scenario)


def test_bots_of_the_house_sit_down_where_the_opener_wants_them() -> None:
    """Bots are marked, have their own names and entropy known to their process, and leave when the seat is freed."""

    async def scenario(world: Hosting) -> None:
        opener = world.person("opener")
        match_id = (await opener.open("allie_gator", 4)).match_id
        where = {"match_id": match_id}
        await opener.call("TakeSeat", **where, seat=3, name="Olga")
        first = await opener.call("AddBot", **where, seat=2, strategy="monte_carlo", request_id="add-bot-1")
        assert first == await opener.call("AddBot", **where, seat=2, strategy="monte_carlo", request_id="add-bot-1")
        second = await opener.call("AddBot", **where)
        assert [2, 0] == [first.seat, second.seat]
        taken = Event.FromString(first.made.events[0].event).seat_taken
        anna, tom = HouseBot("Uno", "monte_carlo"), HouseBot("Duo", "heuristic")
        assert entropy_commitment(entropy_of(secret_of(b"s" * 32, anna.sub), match_id)) == taken.entropy_commitment
        assert taken.house
        (listed,) = (await opener.call("ListMatches")).matches
        for summary in ((await opener.look(match_id)).summary, listed):
            seats = [(seat.name, seat.is_house, seat.strength) for seat in summary.seats]
            assert [("Duo", True, 2), ("", False, 0), ("Uno", True, 3), ("Olga", False, 0)] == seats
        assert [(match_id, anna), (match_id, anna), (match_id, tom)] == world.invited
        await opener.call("FreeSeat", **where, seat=2)
        assert not (await opener.look(match_id)).summary.seats[2].taken
        world.invited.clear()
        await world.service.bots.invite_again(world.clock.ms)
        assert [(match_id, tom)] == world.invited

    host(scenario)


def test_bots_are_refused_with_what_is_wrong() -> None:
    """An unknown strategy, a taken seat, another player's match, closed seats."""

    async def scenario(world: World) -> None:
        opener, guest = world.person("opener"), world.person("guest")
        match_id = (await opener.open("raffzahn", 3)).match_id
        where = {"match_id": match_id}
        assert "PERSON_NEEDED" == (await refusal(opener.call("AddBot", **where))).reason
        await opener.call("TakeSeat", **where, seat=2)
        unknown = await refusal(opener.call("AddBot", **where, strategy="perfect"))
        assert ("STRATEGY_UNKNOWN", ",".join(STRATEGIES)) == (unknown.reason, unknown.facts["allowed"])
        assert "NOT_OPENER" == (await refusal(guest.call("AddBot", **where))).reason
        await opener.call("AddBot", **where, strategy="random", request_id="add-bot-1")
        again = opener.call("AddBot", **where, strategy="heuristic", request_id="add-bot-1")
        assert "REQUEST_ID_REUSED" == (await refusal(again)).reason
        assert "SEAT_TAKEN" == (await refusal(opener.call("AddBot", **where, seat=0))).reason
        await guest.call("TakeSeat", **where)
        assert "SEATS_CLOSED" == (await refusal(opener.call("AddBot", **where))).reason

    host(scenario)


def test_without_a_house_there_are_no_bots() -> None:
    """The refusal explains that and suggests `rollbook bot`."""

    async def scenario(world: World) -> None:
        opener = world.person("opener")
        match_id = (await opener.open()).match_id
        told = await refusal(opener.call("AddBot", match_id=match_id))
        assert "NO_HOUSE" == told.reason
        assert "rollbook bot" in told.message

    run(scenario)


def test_bots_have_as_many_seats_as_the_operator_allows() -> None:
    """The limit covers all matches; a freed seat and a finished match make room."""

    async def scenario(world: World) -> None:
        opener = world.person("opener")
        matches = [(await opener.open("raffzahn", 4)).match_id for _ in range(3)]
        for match_id in matches:
            await opener.call("TakeSeat", match_id=match_id, seat=3)
        for match_id in matches[:2]:
            await opener.call("AddBot", match_id=match_id)
        full = await refusal(opener.call("AddBot", match_id=matches[2]))
        assert ("TOO_MANY_BOTS", "2") == (full.reason, full.facts["limit"])
        await opener.call("AbortMatch", match_id=matches[0])
        assert 0 == (await opener.call("AddBot", match_id=matches[2])).seat
        await opener.call("FreeSeat", match_id=matches[2], seat=0)
        world.clock.ms += 60_000
        assert 0 == (await opener.call("AddBot", match_id=matches[2], strategy="random")).seat

    host(scenario, limits=Limits(house_seats=2, requests_at_once=10**6))


def test_there_are_as_many_bots_as_any_table_has_seats() -> None:
    """All seats but the person's."""

    async def scenario(world: World) -> None:
        opener = world.person("opener")
        seats = len(NAMES)
        match_id = (await opener.open("raffzahn", seats)).match_id
        await opener.call("TakeSeat", match_id=match_id)
        for number in range(seats - 1):
            await opener.call("AddBot", match_id=match_id, strategy=STRATEGIES[number % len(STRATEGIES)])
        summary = (await opener.look(match_id)).summary
        assert match_pb2.MATCH_STATE_GETTING_READY == summary.state
        assert seats == len({seat.name for seat in summary.seats})

    host(scenario)
