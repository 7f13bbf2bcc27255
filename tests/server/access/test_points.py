"""The cost of calls: points for the actual work, counted per subject and per address."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import pytest

from rollbook import GATEWAY
from rollbook.identity.tokens import Role
from rollbook.server.access import limits
from rollbook.server.addresses import FORWARDED, Addresses, read_network
from rollbook.server.app import Parts
from rollbook.server.configuration.limit_table import Limits
from rollbook.server.given import Given
from rollbook.server.lobby.match_access import is_gateway
from rollbook.storage.port import MatchIndex
from rollbook.v1.match_pb2 import PlayRequest
from rollbook.v1.refusals_pb2 import REFUSAL_REASON_NOT_SEATED
from tests.bench.service.stage import played_on
from tests.server.lobby.archives import Keeper, run
from tests.server.rpc.talking import Person, refusal

PLENTY = 10**6
EVENTS = 360
"""A match of this many events is expensive to read."""


def used(service: Parts, sub: str) -> float:
    """The points that a subject has used; the test clock does not advance, so none are refilled."""
    rates = service.rates
    return rates.at_once - rates.bucket(f"8:rollbook:{sub}", 0).left


async def long_match(world: Keeper, **fields: Any) -> tuple[str, int]:
    """Play a match until it has `EVENTS` events; return its id and the number of events."""
    match_id, people = await world.started(**fields)
    while (known := world.service.replicas.known_ledger(match_id)) is None or known.head.sequence < EVENTS:
        await played_on(world, match_id, people, 10)
    return match_id, known.head.sequence


@asynccontextmanager
async def fresh(world: Keeper) -> Any:
    """A process that has not loaded any match."""
    process = world.process()
    async with world.serving(process):
        yield process


def test_points_follow_the_events_that_a_call_reads_and_sends(tmp_path: Path) -> None:
    """The first call that reads a match pays for its events; later calls cost almost nothing."""

    async def scenario(world: Keeper) -> None:
        match_id, events = await long_match(world)
        read, sent = events / limits.EVENTS_A_POINT, events / limits.SENT_EVENTS_A_POINT
        async with fresh(world) as process:
            looks = [await world.person("looker").look(match_id) for _ in range(3)]
            assert events == looks[-1].head.sequence
            assert 3 + read == pytest.approx(used(process, "looker"))
            watch = world.watch(world.person("first"), match_id)
            await watch.until("caught_up")
            assert 2 + read + sent == pytest.approx(used(process, "first"))
            await world.watch(world.person("second"), match_id).until("caught_up")
            assert 2 + sent == pytest.approx(used(process, "second"))
        async with fresh(world) as process:
            await world.person("reader").look(match_id)
            assert await world.replay(world.person("reader"), match_id)
            assert 1 + read + 2 + read + sent == pytest.approx(used(process, "reader"))

    run(scenario, tmp_path)


def test_points_follow_the_matches_that_a_call_reads(tmp_path: Path) -> None:
    """WatchLobby pays for every match that it sends; a page costs at least its page size."""

    async def scenario(world: Keeper) -> None:
        for _ in range(12):
            await world.person("host").open()
        await world.lobby(world.person("lobby")).until("snapshot")
        assert limits.LOBBY_POINTS + 12 / limits.LOBBY_ROWS_A_POINT == pytest.approx(used(world.service, "lobby"))
        await world.person("lister").call("ListMatches", page_size=200)
        assert 1 + 200 / limits.ROWS_A_POINT == pytest.approx(used(world.service, "lister"))
        await world.person("finder").call("ListMatches", page_size=1, player="nobody")
        assert 1 + 1 / limits.ROWS_A_POINT == pytest.approx(used(world.service, "finder"))

    run(scenario, tmp_path, limits=Limits(open_matches_per_subject=PLENTY))


def test_a_page_costs_the_matches_that_it_passes_over(tmp_path: Path) -> None:
    """Otherwise a page without results would be the cheapest way to make the service read the whole lobby."""

    async def scenario(world: Keeper) -> None:
        host = world.person("host")
        for _ in range(60):
            await host.open(is_private=True)
        await world.person("operator", Role.OPERATOR).call("ListMatches", page_size=1, game="cant_stop", lost=True)
        assert 1 + 60 / limits.ROWS_A_POINT == pytest.approx(used(world.service, "operator"))

    run(scenario, tmp_path, limits=Limits(open_matches_per_subject=PLENTY, matches_per_subject=PLENTY))


def test_what_a_call_owes_is_paid_before_the_next_one(tmp_path: Path) -> None:
    """With a full bucket a caller can read a match of any length, and then has to wait."""

    async def scenario(world: Keeper) -> None:
        match_id, events = await long_match(world)
        async with fresh(world) as process:
            process.rates.per_second = process.rates.at_once = 1
            one = world.person("one")
            await one.look(match_id)
            owed = events / limits.EVENTS_A_POINT
            told = await refusal(one.look(match_id))
            assert "RATE_LIMITED" == told.reason
            wait_ms = int(told.facts["retry_after_ms"])
            assert (1 + owed) * 1_000 == pytest.approx(wait_ms, abs=1)
            await world.person("two").look(match_id)
            world.clock.ms += wait_ms - 1
            assert {"retry_after_ms": "1"} == (await refusal(one.look(match_id))).facts
            world.clock.ms += 1
            await one.look(match_id)

    run(scenario, tmp_path)


# One expensive call at a time


class Counting:
    """Counts how many calls read a page of the lobby at once."""

    def __init__(self, index: MatchIndex, monkeypatch: pytest.MonkeyPatch) -> None:
        """Count the page reads of this index."""
        self.most = self._inside = 0
        self.wanted = 1
        self.begun, self._all_inside = asyncio.Event(), asyncio.Event()
        self._read = index.page
        monkeypatch.setattr(index, "page", self.page)

    async def page(self, *what: Any) -> Any:
        """Wait until `wanted` calls are inside, then give other calls time to enter."""
        self.begun.set()
        self._inside += 1
        self.most = max(self.most, self._inside)
        if self._inside >= self.wanted:
            self._all_inside.set()
        await self._all_inside.wait()
        for _ in range(100):
            await asyncio.sleep(0)
        self._inside -= 1
        return await self._read(*what)


@pytest.mark.parametrize(
    ("subjects", "size", "most"), [(("one",) * 8, 200, 1), (("one", "two"), 200, 2), (("one",) * 2, 10, 2)]
)
def test_one_expensive_call_of_a_subject_runs_at_a_time(
    subjects: tuple[str, ...], size: int, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight pages of 200 run one after the other; another subject's calls and small pages do not wait."""

    async def scenario(world: Keeper) -> None:
        await world.person("host").open()
        await world.service.index.settle()
        counting = Counting(world.log.store, monkeypatch)
        counting.wanted = most
        pages = [world.person(sub).call("ListMatches", page_size=size) for sub in subjects]
        assert [1] * len(subjects) == [len(page.matches) for page in await asyncio.gather(*pages)]
        assert most == counting.most

    run(scenario, tmp_path)


def test_a_call_that_is_given_up_lets_the_next_one_have_its_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both for a waiting and for a running call: a cancelled call releases its turn."""

    async def scenario(world: Keeper) -> None:
        await world.person("host").open()
        await world.service.index.settle()
        counting = Counting(world.log.store, monkeypatch)
        counting.wanted = 2
        one = world.person("one")
        calls = [asyncio.ensure_future(one.call("ListMatches", page_size=200)) for _ in range(3)]
        await counting.begun.wait()
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        counting.wanted = 0
        assert 1 == len((await one.call("ListMatches", page_size=200)).matches)

    run(scenario, tmp_path)


# Addresses


class Proxied(Keeper):
    """A service that trusts its own machine as a proxy."""

    def given(self, keys: dict[str, Any] | None = None) -> Given:
        """Add the address settings."""
        given = super().given(keys)
        addresses = Addresses([read_network("127.0.0.0/8")], partial(is_gateway, given.verifier))
        return replace(given, addresses=addresses)


def proxied(scenario: Callable[[Proxied], Awaitable[None]], folder: Path, **how: Any) -> None:
    """Run the scenario behind the proxy."""

    async def main() -> None:
        async with (
            asyncio.timeout(60),
            Proxied(folder, limits=Limits(open_matches_per_subject=PLENTY, **how)).serving() as world,
        ):
            await scenario(world)

    asyncio.run(main())


def at(person: Person, address: str) -> Person:
    """Let the person call from this address."""
    person.metadata = (*person.metadata, (FORWARDED, address))
    return person


async def looks(person: Person, match_id: str) -> int:
    """How many looks are answered before one is refused."""
    for number in range(1_000):
        try:
            await person.look(match_id)
        except grpc.aio.AioRpcError:
            return number
    raise AssertionError("nothing was refused")


def test_an_address_may_use_ten_times_as_much_as_a_subject(tmp_path: Path) -> None:
    """The limit covers all subjects of an address; other addresses and the local machine are not affected."""

    async def scenario(world: Proxied) -> None:
        match_id = (await world.person("host").open()).match_id
        there, elsewhere = "203.0.113.7:4711", "203.0.113.8"
        assert [3] * 10 == [await looks(at(world.person(f"p{number}"), there), match_id) for number in range(10)]
        told = await refusal(at(world.person("p10"), "::ffff:203.0.113.7").look(match_id))
        assert ("RATE_LIMITED", {"retry_after_ms": "50"}) == (told.reason, told.facts)
        # A call refused for its address costs the subject nothing.
        assert 3 == await looks(at(world.person("p10"), elsewhere), match_id)
        assert [3] * 12 == [await looks(world.person(f"local-{number}"), match_id) for number in range(12)]
        world.clock.ms += 1_000
        assert 2 == await looks(at(world.person("p1"), there), match_id)
        assert 10 == Limits().subjects_per_address

    proxied(scenario, tmp_path, requests_per_second=2, requests_at_once=3)


def test_behind_a_page_the_address_of_the_visitor_counts(tmp_path: Path) -> None:
    """Visitors' addresses count for calls with a token and for the page's calls on behalf of others.

    The page's own calls are not counted.
    """

    async def scenario(world: Proxied) -> None:
        match_id = (await world.person("host").open()).match_id
        token = world.token("page", Role.GATEWAY)

        def visitor(person: Person, address: str) -> Person:
            person.metadata = (*person.metadata, (GATEWAY, f"Bearer {token}"), (FORWARDED, address))
            return person

        def page() -> Person:
            return world.nobody(token)

        assert 6 == await looks(visitor(page(), "203.0.113.7"), match_id)
        assert 0 == await looks(visitor(world.person("anna"), "203.0.113.7"), match_id)
        assert 3 == await looks(visitor(world.person("anna"), "203.0.113.8"), match_id)
        assert 3 == await looks(visitor(world.person("tom"), "203.0.113.8"), match_id)
        assert 0 == await looks(visitor(world.person("ida"), "203.0.113.8"), match_id)
        for _ in range(20):
            await page().look(match_id)

    proxied(scenario, tmp_path, requests_per_second=2, requests_at_once=3, subjects_per_address=2)


def test_a_choice_on_a_stream_is_counted_by_address_as_well(tmp_path: Path) -> None:
    """One Play call carries many choices."""

    async def scenario(world: Proxied) -> None:
        match_id = (await world.person("host").open()).match_id
        play = at(world.person("one"), "203.0.113.7").play()
        for number in range(4):
            request = PlayRequest(match_id=match_id, request_id=f"choice-{number}", refusals_seen=number)
            await play.write(request)
            assert REFUSAL_REASON_NOT_SEATED == (await play.read()).refused.detail.reason
        other = at(world.person("two"), "203.0.113.7")
        assert 0 == await looks(other, match_id)

    proxied(scenario, tmp_path, requests_per_second=2, requests_at_once=5, subjects_per_address=1)
