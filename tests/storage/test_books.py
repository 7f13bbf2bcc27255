"""The contract of books and buckets for every store: counts are exact."""

from __future__ import annotations

import asyncio
from typing import Final

import pytest

from rollbook.match.chain import Entry
from rollbook.storage.port import UNDER_WAY_MS, Announcement, Full, LobbyEntry, MatchStore, Quota, Reserved
from tests.sim.store import SimulatedLog

pytestmark = pytest.mark.asyncio

HOUR_MS: Final = 3_600_000


async def reserved(log: MatchStore, holder: str, match_id: str, quotas: list[Quota]) -> Reserved:
    """Reserve a place, which must succeed."""
    result = await log.reserve(holder, match_id, quotas)
    assert isinstance(result, Reserved)
    return result


async def test_of_many_that_reserve_at_once_as_many_succeed_as_there_is_room_for(
    log: MatchStore, other: MatchStore, match_id: str
) -> None:
    """Over two connections and in two books, of which the smaller one decides."""
    quotas = [Quota("seats", 20), Quota("waiting", 7)]
    wanted = [f"{match_id}-{number}" for number in range(40)]
    results = await asyncio.gather(
        *[(log, other)[number % 2].reserve(match_id, name, quotas) for number, name in enumerate(wanted)]
    )
    got = {name for name, result in zip(wanted, results, strict=True) if isinstance(result, Reserved)}
    assert 7 == len(got)
    assert {"waiting"} == {result.book for result in results if isinstance(result, Full)}
    for book in ("seats", "waiting"):
        assert got == set(await other.list_reserved(match_id, book))
    assert {} == await log.list_reserved(f"{match_id}-other", "seats")


async def test_a_match_that_has_its_place_keeps_it(log: MatchStore, other: MatchStore, match_id: str) -> None:
    """Repeated reservations succeed although the book is full, and each has a later end."""
    quotas = [Quota("seats", 1)]
    first = await reserved(log, match_id, "one", quotas)
    again = await reserved(other, match_id, "one", quotas)
    assert (True, False) == (first.is_new, again.is_new)
    assert first.until_ms < again.until_ms
    full = await log.reserve(match_id, "two", quotas)
    assert isinstance(full, Full)
    assert abs(again.until_ms - UNDER_WAY_MS - full.now_ms) < UNDER_WAY_MS
    assert {"one": again.until_ms} == await log.list_reserved(match_id, "seats")


async def test_a_place_is_taken_back_only_by_its_last_reservation(
    log: MatchStore, other: MatchStore, match_id: str
) -> None:
    """Another process may have reserved the place again and be about to use it."""
    quotas = [Quota("seats", 2), Quota("waiting", 2)]
    books = ["seats", "waiting"]
    first = await reserved(log, match_id, "one", quotas)
    second = await reserved(other, match_id, "one", quotas)
    await log.settle(match_id, books, "one", first.until_ms)
    await log.release(match_id, books, {"one": first.until_ms, "unknown": 7})
    assert {"one": second.until_ms} == await log.list_reserved(match_id, "seats")
    await other.settle(match_id, books, "one", second.until_ms)
    for book in books:
        (settled,) = (await log.list_reserved(match_id, book)).values()
        assert settled < 0
    third = await reserved(log, match_id, "one", quotas)
    assert third.until_ms > second.until_ms
    await log.release(match_id, books, {"one": settled})
    assert {"one": third.until_ms} == await log.list_reserved(match_id, "waiting")
    await log.release(match_id, books, {"one": third.until_ms})
    assert {} == await log.list_reserved(match_id, "seats")
    assert (await reserved(log, match_id, "one", quotas)).is_new


async def test_a_bucket_gives_as_many_as_it_holds_and_says_when_there_is_one_more(
    log: MatchStore, other: MatchStore, match_id: str
) -> None:
    """Concurrent draws over two connections share the bucket, which refills steadily."""
    waits = await asyncio.gather(*[(log, other)[number % 2].draw(match_id, 5, HOUR_MS) for number in range(12)])
    assert 5 == waits.count(0)
    assert all(0 < wait <= HOUR_MS // 5 for wait in waits if wait)
    assert 0 == await log.draw(f"{match_id}-other", 1, HOUR_MS)


async def test_a_bucket_fills_again(log: MatchStore, match_id: str) -> None:
    """The bucket refills one by one, by the store's clock."""
    assert [0, 0] == [await log.draw(match_id, 2, 400) for _ in range(2)]
    async with asyncio.timeout(20):
        while wait := await log.draw(match_id, 2, 400):
            assert wait <= 200
            await asyncio.sleep(wait / 1_000)


async def test_a_bucket_fills_in_its_time_although_the_clock_went_back(log: MatchStore, match_id: str) -> None:
    """A draw with a 2 h longer refill leaves the same state as a draw before the clock goes back 2 h."""
    for name, most, per_ms in ((match_id, 5, HOUR_MS), (f"{match_id}-short", 2, 400)):
        assert 0 == await log.draw(name, 1, 2 * HOUR_MS + per_ms)
        assert 0 < await log.draw(name, most, per_ms) <= per_ms // most
    async with asyncio.timeout(20):
        while wait := await log.draw(f"{match_id}-short", 2, 400):
            assert wait <= 200
            await asyncio.sleep(wait / 1_000)


async def test_what_is_kept_is_taken_once(log: MatchStore, other: MatchStore, match_id: str) -> None:
    """One of several concurrent callers gets it, over any connection; an expired value is gone."""
    await log.keep(match_id, b"one", HOUR_MS)
    await log.keep(match_id, b"another", HOUR_MS)
    taken = await asyncio.gather(*[(log, other)[number % 2].take(match_id) for number in range(6)])
    assert [b"another"] == [value for value in taken if value is not None]
    assert await other.take(f"{match_id}-never") is None
    await log.keep(match_id, b"one", 1)
    began_ms = await log.now_ms()
    async with asyncio.timeout(20):
        while await log.now_ms() <= began_ms + 1:  # noqa: ASYNC110 - a clock tells nobody that it goes on
            await asyncio.sleep(0.01)
    assert await other.take(match_id) is None


async def test_the_lobby_says_of_several_matches_what_it_says_of_each(log: MatchStore, match_id: str) -> None:
    """The lobby returns the summaries of all listed matches, and leaves unlisted ones out."""
    listed = [f"{match_id}-{number}" for number in range(3)]
    for name in listed:
        await log.append(name, 0, [Entry(b"one")], lobby=LobbyEntry(name.encode()))
    assert {} == await log.summaries([])
    assert {name: name.encode() for name in listed} == await log.summaries([*listed, "unknown"])
    for name in listed:
        await log.unlist(name)
    assert {} == await log.summaries(listed)


async def test_who_declines_a_rematch_is_known_for_a_while(log: MatchStore, other: MatchStore, match_id: str) -> None:
    """Over every connection, until the time is over by the store's clock; declining again restarts the time."""
    for player in (b"one", b"one", b"\x00 another"):
        await log.decline(match_id, player, 600)
    assert {b"one", b"\x00 another"} == await other.list_declined(match_id)
    assert set() == await log.list_declined(f"{match_id}-other")
    await log.decline(match_id, b"one", 1)
    async with asyncio.timeout(20):
        while await other.list_declined(match_id):  # noqa: ASYNC110 - a store tells nobody that a value has expired
            await asyncio.sleep(0.05)


async def test_who_declines_a_rematch_is_announced(log: MatchStore, other: MatchStore, match_id: str) -> None:
    """As an append with head 0, so that other processes look at the rematch."""
    if isinstance(log, SimulatedLog):
        pytest.skip("announcements may be lost, and the simulated store loses these")
    began, announced = asyncio.Event(), asyncio.Queue[Announcement]()
    listening = asyncio.create_task(other.listen(announced.put_nowait, began.set))
    await began.wait()
    await log.decline(match_id, b"one", 600)
    async with asyncio.timeout(20):
        assert Announcement(match_id, 0, is_lifecycle=True) == await announced.get()
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)
