"""The cost of a call grows neither with the number of matches nor with their length: counted, not timed.

The tests count commands and bytes of the store, and calls of Python functions in the whole process. Client and server
of the test do the same work however many matches there are.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any, Final

import pytest

from rollbook.identity.tokens import Role
from rollbook.server.configuration.limit_table import Limits
from rollbook.storage.embedded.server import find_server
from rollbook.storage.redis.connection import Wire
from rollbook.storage.redis.log import RedisLog
from rollbook.v1 import match_pb2
from tests.server.rpc.talking import Person, World, some_choice
from tests.storage.servers import ALL_SLOTS, Server, running

PLENTY: Final = 10**6
FEW, MANY = 30, 600
MOST: Final = 1.3
"""Allowed growth of each count where there is much more of everything."""

REPEATED: Final = 5
LATE: Final = 400
MOST_HEARD: Final = 150_000


@dataclass
class Counted:
    """The counts."""

    commands: int = 0
    sent: int = 0
    heard: int = 0
    calls: int = 0


COUNTED: Final = Counted()


@pytest.fixture(scope="module", params=["one server", "a cluster"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for all tests of this module, alone and as a cluster."""
    slots = ALL_SLOTS if request.param == "a cluster" else range(0)
    with running(find_server(), tmp_path_factory.mktemp("store"), slots=slots) as found:
        yield found


@pytest.fixture(autouse=True)
def counting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count commands, bytes sent to the store and bytes received from it."""
    converse = Wire.converse

    async def counted(self: Wire, commands: Any, fence: Any = None) -> list[Any]:
        answers = await converse(self, commands, fence)
        COUNTED.commands += len(commands)
        COUNTED.sent += sum(len(str(part)) for command in commands for part in command)
        COUNTED.heard += len(repr(answers))
        return answers

    monkeypatch.setattr(Wire, "converse", counted)


@asynccontextmanager
async def world_on(store: Server) -> AsyncIterator[World]:
    """A world on an emptied store, with an index."""
    with store.client() as client:
        client.flushall()
    log = await RedisLog.connect(store.url)
    limits = Limits(
        matches=PLENTY,
        matches_per_subject=PLENTY,
        open_matches_per_subject=PLENTY,
        seats_per_subject=PLENTY,
        waiting_seats_per_subject=PLENTY,
        requests_at_once=PLENTY,
    )
    try:
        async with World(log=log, limits=limits).serving() as world:
            await world.service.clock.compare()
            await world.service.index.settle()
            yield world
    finally:
        await log.close()


async def cost(call: Callable[[], Awaitable[Any]]) -> Counted:
    """The cost of a call as the median of several calls; no clock is used."""
    found = []
    for _ in range(REPEATED):
        before = Counted(**vars(COUNTED))
        sys.setprofile(_count)
        try:
            await call()
        finally:
            sys.setprofile(None)
        found.append(Counted(*(after - vars(before)[name] for name, after in vars(COUNTED).items())))
    return Counted(*(int(median(vars(one)[name] for one in found)) for name in vars(COUNTED)))


def _count(_frame: object, event: str, _argument: object) -> None:
    COUNTED.calls += event == "call"


def assert_alike(what: str, few: Counted, many: Counted, *, but: str = "") -> None:
    """Check that `many` costs about as much as `few`."""
    for name, value in vars(many).items():
        assert name == but or value <= MOST * vars(few)[name] + 2, (
            f"{what}: {name} grow from {vars(few)[name]} to {value}"
        )


async def fill(world: World, until: int, there: list[str]) -> None:
    """Open this many matches, some of them private, some running with a clock."""
    hosts = [world.person(f"host-{number}") for number in range(10)]
    while len(there) < until:
        opened = await asyncio.gather(*[host.open(is_private=host is hosts[0]) for host in hosts])
        there += [match.match_id for match in opened]
    started = await asyncio.gather(*[world.started(turn_seconds=3_600) for _ in range(until // 20)])
    there += [match_id for match_id, _ in started]


async def costs(world: World) -> dict[str, Counted]:
    """The current cost of each call."""
    guest, opened = world.person("guest"), list[str]()
    found = {}

    async def open_one() -> None:
        opened.append((await guest.open(ready_seconds=600)).match_id)

    async def sit(person: Person, match_id: str) -> None:
        await person.call("TakeSeat", match_id=match_id)

    found["OpenMatch"] = await cost(open_one)
    waiting = iter(list(opened))
    found["TakeSeat"] = await cost(lambda: sit(guest, next(waiting)))
    other, closed = world.person("other"), list(opened)
    for match_id in closed:
        await sit(other, match_id)
    links = {match_id: (await guest.look(match_id)).head.link for match_id in closed}
    ready = iter(closed)

    async def get_ready() -> None:
        match_id = next(ready)
        await guest.call("Ready", match_id=match_id, closing_link=links[match_id])

    found["Ready"] = await cost(get_ready)
    for match_id in closed:
        await other.call("Ready", match_id=match_id, closing_link=links[match_id])
    found["GetMatch"] = await cost(lambda: guest.look(closed[0]))
    running = iter(closed)

    async def choose() -> None:
        person, look = await world.awaited(next(running), [guest, other])
        await person.choose(look.summary.match_id, some_choice(look.legal), world.check_head(look.head))

    found["Choose"] = await cost(choose)
    stranger = world.person("stranger")
    state = match_pb2.MATCH_STATE_OPEN
    pages: dict[str, dict[str, Any]] = {
        "all": {},
        "a game": {"game": "cant_stop"},
        "a state": {"state": state},
        "a game and state": {"game": "cant_stop", "state": state},
        "nothing": {"game": "raffzahn"},
        "mine": {"mine": True},
        "a name": {"player": "Nobody"},
    }
    for name, filters in pages.items():
        found[f"a page of {name}"] = await cost(partial(stranger.call, "ListMatches", page_size=10, **filters))
    sweeper = world.service.sweeper()
    for _ in range(3):
        await sweeper.beat()
    found["a beat"] = await cost(sweeper.beat)
    for match_id in closed:
        await world.person("operator", Role.OPERATOR).call("AbortMatch", match_id=match_id)
    return found


def test_no_call_costs_more_where_there_are_many_matches(store: Server) -> None:
    """Store and process do no more work for players, lists and background tasks."""

    async def main() -> None:
        async with world_on(store) as world:
            there: list[str] = []
            await fill(world, FEW, there)
            few = await costs(world)
            await fill(world, MANY, there)
            many = await costs(world)
            for what, counted in many.items():
                # In a cluster each partition returns a few matches, if it has any.
                assert_alike(what, few[what], counted, but="" if store.scheme == "redis" else "heard")
                assert counted.heard < MOST_HEARD

    asyncio.run(main())


def test_a_choice_costs_the_same_early_and_late_in_a_match(store: Server) -> None:
    """The record of which request made which event is not copied per choice either."""

    async def main() -> None:
        async with world_on(store) as world:
            match_id, people = await world.started()

            async def choose() -> None:
                person, look = await world.awaited(match_id, people)
                await person.choose(match_id, some_choice(look.legal), world.check_head(look.head))

            early = await cost(choose)
            while (await people[0].look(match_id)).head.sequence < LATE:
                await choose()
            assert_alike("Choose", early, await cost(choose))

    asyncio.run(main())
