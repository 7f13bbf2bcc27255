"""Limits per address, and what they leave to others: guests cost nothing, so one address is many subjects."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from ipaddress import ip_network
from typing import Any

import grpc
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from rollbook.identity.tokens import Issuer, Role, TrustedIssuer, Verifier
from rollbook.server.addresses import FORWARDED, Addresses
from rollbook.server.app import Parts
from rollbook.server.given import Given
from rollbook.storage.embedded.server import find_server
from rollbook.v1.identity_pb2 import SignInRequest
from tests.server.pairs import PLENTY, run_pair
from tests.server.play.test_openers import Hosting
from tests.server.rpc.talking import Person, Refused, World, refusal, refused
from tests.storage.servers import ALL_SLOTS, Server, running

HOSTILE = "203.0.113.7"
ELSEWHERE = "198.51.100.20"
PATIENCE_SECONDS = 300


class School(Hosting):
    """A service behind a proxy, which also trusts the issuer of a school."""

    by_address = False

    def process(self, keys: dict[str, Any] | None = None) -> Parts:
        """A process of the service over the same log."""
        parts = super().process(keys)
        self.school = Issuer(Ed25519PrivateKey.from_private_bytes(b"c" * 32), "school")
        fields = {name: getattr(parts.given, name) for name in Given.__slots__}
        own = {self.issuer.key_id: self.token_key.public_key()}
        theirs = {self.school.key_id: Ed25519PrivateKey.from_private_bytes(b"c" * 32).public_key()}
        trusted = [
            TrustedIssuer("rollbook", own, frozenset(Role)),
            TrustedIssuer("school", theirs, frozenset({Role.PLAYER}), self.by_address),
        ]
        return Parts(Given(**{**fields, "verifier": Verifier(trusted, self.clock.seconds)}))

    def pupil(self, sub: str, address: str) -> Person:
        """A subject of the school."""
        now = int(self.clock.seconds())
        token = self.school.mint(sub, Role.PLAYER, name=sub, issued_at=now, lifetime_seconds=10**6)
        person = Person(self, self.channel, sub, token)
        person.metadata += ((FORWARDED, address),)
        return person


@pytest.fixture(scope="module", params=["one server", "a cluster"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for all tests of this module; the cluster refuses commands that touch two slots."""
    slots = ALL_SLOTS if request.param == "a cluster" else range(0)
    with running(find_server(), tmp_path_factory.mktemp("store"), slots=slots) as found:
        yield found


def run(store: Server, scenario: Callable[[School, School], Awaitable[None]], **fields: int) -> None:
    """Run the scenario at two processes of a service behind a proxy, on an emptied store."""
    proxied = partial(School, addresses=Addresses([ip_network("127.0.0.0/8")]))
    run_pair(
        store, scenario, proxied, PATIENCE_SECONDS, strangers_at_once=PLENTY, subjects_per_address=PLENTY, **fields
    )


async def tried(call: Awaitable[Any]) -> Any:
    """The answer, or the refusal."""
    try:
        return await call
    except grpc.aio.AioRpcError as error:
        return refused(error)


def done(outcomes: list[Any]) -> list[Any]:
    """The answers that are no refusals."""
    return [each for each in outcomes if not isinstance(each, Refused)]


def told(outcomes: list[Any]) -> set[tuple[str, str, str]]:
    """The distinct reasons and limits of the refusals."""
    return {(each.reason, each.facts["limit"], each.facts["of"]) for each in outcomes if isinstance(each, Refused)}


async def sign_in(world: World, address: str) -> Any:
    """Sign in as a new guest from this address."""
    return await tried(world.nobody().identity.SignIn(SignInRequest(), metadata=((FORWARDED, address),)))


async def has_a_game(world: World, address: str) -> None:
    """A newcomer signs in, opens a match, takes a seat, adds a bot; the match can begin."""
    guest = await sign_in(world, address)
    assert not isinstance(guest, Refused)
    newcomer = world.nobody(guest.token)
    newcomer.metadata += ((FORWARDED, address),)
    match_id = (await newcomer.open()).match_id
    await newcomer.call("TakeSeat", match_id=match_id)
    assert (await newcomer.call("AddBot", match_id=match_id)).closed_seats


async def take_all(people: list[Person], opened: list[Any], seated: list[Any], bots: list[Any]) -> None:
    """Open as many matches as possible, sit there, and add as many bots as possible; the outcomes are collected."""
    for person in people:
        while not isinstance(one := await tried(person.open("raffzahn", 3)), Refused):
            opened.append(one)
            where = {"match_id": one.match_id}
            seated.append(await tried(person.call("TakeSeat", **where)))
            bots += [await tried(person.call("AddBot", **where, strategy=how)) for how in ("random", "heuristic")]
        opened.append(one)


def test_a_hundred_guests_of_one_address_leave_bots_tables_and_matches_to_others(store: Server) -> None:
    """The limits of the address hold in both processes together, in each of two rounds of the attack."""

    async def scenario(one: School, other: School) -> None:
        opened: list[Any] = []
        seated: list[Any] = []
        bots: list[Any] = []
        guests = await asyncio.gather(*[sign_in((one, other)[number % 2], HOSTILE) for number in range(100)])
        assert 100 == len(done(guests))
        people = [(one, other)[number % 2].at(HOSTILE, f"guest-{number}") for number in range(100)]
        await take_all(people, opened, seated, bots)
        bots_here = len(done(bots))
        assert 50 == bots_here
        assert ("TOO_MANY_BOTS", "50", "house_seats_per_address") in told(bots)
        assert ("TOO_MANY_BOTS", "8", "house_seats_per_subject") in told(bots)
        assert ("TOO_MANY_MATCHES", "40", "open_matches_per_address") in told(opened)
        listed = await _all_of(one)
        assert 40 == sum(not all(seat.taken for seat in match.seats) for match in listed)
        assert len(done(opened)) == len(listed) <= 300
        for world in (one, other):
            await has_a_game(world, ELSEWHERE)

    run(store, scenario)


async def _all_of(world: World) -> list[Any]:
    """All listed matches."""
    anybody, found, page = world.person("anybody"), [], ""
    while True:
        answer = await anybody.call("ListMatches", page_size=200, page_token=page)
        found += answer.matches
        if not (page := answer.next_page_token):
            return found


def test_running_matches_of_an_address_are_limited_and_a_stranger_elsewhere_plays(store: Server) -> None:
    """Two accomplices fill matches with themselves; neither more subjects nor other processes give them more."""

    async def scenario(one: School, other: School) -> None:
        async def run_some(number: int) -> list[Any]:
            host, mate = one.at(HOSTILE, f"host-{number}"), other.at(HOSTILE, f"mate-{number}")
            outcomes = []
            for _ in range(5):
                outcomes.append(await tried(host.open()))
                if not isinstance(outcomes[-1], Refused):
                    for person in (host, mate):
                        await person.call("TakeSeat", match_id=outcomes[-1].match_id)
            return outcomes

        outcomes = [each for some in await asyncio.gather(*map(run_some, range(10))) for each in some]
        assert 30 == len(done(outcomes))
        assert {("TOO_MANY_MATCHES", "30", "matches_per_address")} == told(outcomes)
        await has_a_game(other, ELSEWHERE)

    run(store, scenario, matches_per_address=30, open_matches_per_address=PLENTY)


def test_six_hostile_addresses_leave_the_last_fifth_of_all_matches_to_a_seventh(store: Server) -> None:
    """Each address opens as many as it may, by many subjects; only newcomers get the last places."""

    async def scenario(one: School, other: School) -> None:
        async def attack(place: int) -> list[Any]:
            people = [(one, other)[number % 2].at(f"203.0.113.{place}", f"g-{place}-{number}") for number in range(10)]
            return [await tried(person.open(is_private=True)) for _ in range(9) for person in people]

        outcomes = [each for some in await asyncio.gather(*map(attack, range(6))) for each in some]
        # 400 places for all, and behind them as many for each address as newcomers have.
        assert 400 == len(done(outcomes))
        assert {("TOO_MANY_MATCHES", "500", "matches")} == told(outcomes)
        await has_a_game(one, ELSEWHERE)
        await has_a_game(other, ELSEWHERE)

    run(store, scenario, matches=500, open_matches_per_subject=PLENTY, open_matches_per_address=PLENTY)


def test_the_last_bots_are_for_subjects_and_addresses_that_have_few(store: Server) -> None:
    """Six addresses take what there is for all; a seventh still gets a game."""

    async def scenario(one: School, other: School) -> None:
        for place in range(6):
            people = [one.at(f"203.0.113.{place}", f"g-{place}-{number}") for number in range(4)]
            bots: list[Any] = []
            await take_all(people, [], [], bots)
        # The sixth address gets the last 2 of 32 for all, and as a newcomer 3 of the last fifth.
        assert 35 == len(await one.service.quotas.house_seats(await one.log.now_ms()))
        assert ("TOO_MANY_BOTS", "40", "house_seats") in told(bots)
        await has_a_game(other, ELSEWHERE)

    run(store, scenario, house_seats=40, house_seats_per_address=6, house_seats_per_subject=6)


def test_the_last_guests_of_an_hour_are_for_addresses_with_few(store: Server) -> None:
    """An address with 20 guests in this hour gets none of the last fifth."""

    async def scenario(one: School, other: School) -> None:
        outcomes = [await sign_in((one, other)[number % 2], HOSTILE) for number in range(100)]
        assert 80 <= len(done(outcomes)) < 90
        assert {("TOO_MANY_GUESTS", "100", "guests_per_hour")} == told(outcomes)
        await has_a_game(one, ELSEWHERE)

    run(store, scenario, guests_per_hour=100)


def test_a_school_with_accounts_of_its_own_has_no_limit_per_address(store: Server) -> None:
    """Its issuer file has `by_address` false; guests of the same address keep theirs."""

    async def scenario(one: School, other: School) -> None:
        guests = [await tried(one.at(HOSTILE, f"guest-{number}").open()) for number in range(4)]
        assert {("TOO_MANY_MATCHES", "3", "open_matches_per_address")} == told(guests)
        pupils = [await tried(other.pupil(f"pupil-{number}", HOSTILE).open()) for number in range(20)]
        assert 20 == len(done(pupils))
        assert "TOO_MANY_MATCHES" == (await refusal(one.at(HOSTILE, "guest-5").open())).reason

    run(store, scenario, open_matches_per_address=3)


def test_the_books_of_addresses_make_room_and_do_not_tell_who_is_counted(store: Server) -> None:
    """A started, left or finished match frees its place; an IPv6 address counts as its /64."""

    async def scenario(one: School, other: School) -> None:
        anna, bert = one.at("2001:db8::1", "anna"), other.at("[2001:db8::2]:4711", "bert")
        first, second = [(await person.open()).match_id for person in (anna, bert)]
        assert "open_matches_per_address" == (await refusal(bert.open())).facts["of"]
        await anna.call("TakeSeat", match_id=first)
        await bert.call("TakeSeat", match_id=first)
        await bert.call("TakeSeat", match_id=second)
        full = await refusal(anna.call("TakeSeat", match_id=second))
        assert {"of": "waiting_seats_per_address", "limit": "3"} == full.facts
        third = (await anna.open()).match_id
        await bert.call("AbortMatch", match_id=second)
        await anna.call("TakeSeat", match_id=third)
        with store.client() as client:
            keys = list(client.scan_iter("*:book:*"))
            said = b" ".join([*keys, *(place for key in keys for place in client.zrange(key, 0, -1))])
        assert keys
        assert [] == [word for word in (b"anna", b"bert", b"2001") if word in said]

    run(store, scenario, open_matches_per_address=2, waiting_seats_per_address=3)
