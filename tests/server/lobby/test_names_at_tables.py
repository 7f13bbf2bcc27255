"""Names at tables that several processes serve: every process returns every name, for any order of their appends."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import grpc
import pytest

from rollbook.storage.embedded.server import find_server
from tests.server.pairs import run
from tests.server.rpc.talking import Person, World, refused
from tests.storage.servers import Server, running

TABLES, SEATS = 8, 4


@pytest.fixture(scope="module")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for all tests of this module."""
    with running(find_server(), tmp_path_factory.mktemp("valkey")) as found:
        yield found


async def names(person: Person, match_id: str) -> list[str]:
    """The names at a table as this person receives them."""
    return [seat.name for seat in (await person.look(match_id)).summary.seats]


async def sit(person: Person, match_id: str, name: str) -> None:
    """Take any free seat; retry while the log is contended."""
    while True:
        try:
            await person.call("TakeSeat", match_id=match_id, name=name)
        except grpc.aio.AioRpcError as error:
            assert "CONTENDED" == refused(error).reason
        else:
            return


def test_whoever_sits_down_at_once_at_two_replicas_keeps_the_name(valkey: Server) -> None:
    """Seats are taken in all orders at both replicas; both return every name, in looks and in lists."""

    async def table(one: World, other: World, number: int) -> None:
        people = [(one, other)[seat % 2].person(f"guest-{number}-{seat}") for seat in range(SEATS)]
        match_id = (await people[number % 2].open(seats=SEATS)).match_id
        expected = [f"Guest {seat}" for seat in range(SEATS)]
        await asyncio.gather(*[sit(person, match_id, name) for person, name in zip(people, expected, strict=True)])
        for world in (one, other):
            anybody = world.person("anybody")
            assert expected == sorted(await names(anybody, match_id))
            listed = (await anybody.call("ListMatches", page_size=200)).matches
            (found,) = [match for match in listed if match.match_id == match_id]
            assert expected == sorted(seat.name for seat in found.seats)

    async def scenario(one: World, other: World) -> None:
        await asyncio.gather(*[table(one, other, number) for number in range(TABLES)])

    run(valkey, scenario)


def test_names_that_look_alike_are_told_apart_in_every_order(valkey: Server) -> None:
    """The later player gets a number at either replica, and lists find every one by the plain name."""

    async def scenario(one: World, other: World) -> None:
        people = [(one, other)[seat % 2].person(f"tom-{seat}") for seat in range(3)]
        match_id = (await people[0].open(seats=4)).match_id
        await asyncio.gather(*[sit(person, match_id, "Tom") for person in people])
        assert ["Tom", "Tom (2)", "Tom (3)", ""] == await names(one.person("anybody"), match_id)
        for world in (one, other):
            for player in ("Tom", "Tom (3)"):
                (found,) = (await world.person("anybody").call("ListMatches", player=player)).matches
                assert match_id == found.match_id
        await people[0].call("LeaveSeat", match_id=match_id)
        again = {"match_id": match_id, "name": "Tom", "request_id": "sit-down-again"}
        taken = await people[0].call("TakeSeat", **again)
        assert taken == await people[0].call("TakeSeat", **again)
        assert {"Tom", "Tom (2)", "Tom (3)", ""} == set(await names(other.person("anybody"), match_id))

    run(valkey, scenario)


def test_a_name_that_was_changed_elsewhere_is_not_put_back(valkey: Server) -> None:
    """A player leaves and returns under another name; a process that knew the old name appends next."""

    async def scenario(one: World, other: World) -> None:
        here, there, guest = one.person("anna"), other.person("bert"), one.person("guest")
        match_id = (await here.open(seats=3)).match_id
        await sit(here, match_id, "Anna")
        assert ["Anna", "", ""] == await names(there, match_id)
        await here.call("LeaveSeat", match_id=match_id)
        await sit(here, match_id, "Anastasia")
        await sit(there, match_id, "Bert")
        for person in (here, there, guest):
            assert ["Anastasia", "Bert", ""] == await names(person, match_id)

    run(valkey, scenario)
