"""The contract of the lobby index for every store: it matches the latest lobby entries, or is repaired."""

from __future__ import annotations

import asyncio
from typing import Final

import pytest

from rollbook.match.chain import Entry
from rollbook.storage.port import Appended, IndexRow, LobbyEntry, MatchStore
from rollbook.storage.redis.log import RedisLog

pytestmark = pytest.mark.asyncio

NOW: Final = 1_700_000_000_000
EVER: Final = 1 << 50


def row(opened_ms: int, *lists: str, agenda: str = "", due_ms: int = 0, longest_ms: int = EVER) -> IndexRow:
    """A row of the index."""
    return IndexRow(opened_ms, lists, agenda, due_ms, longest_ms)


async def listed(log: MatchStore, match_id: str, said: IndexRow, *, behind: int = 0, summary: bytes = b"open") -> None:
    """Append an entry with a lobby summary and this index row."""
    result = await log.append(match_id, behind, [Entry(b"%d" % behind)], lobby=LobbyEntry(summary, said))
    assert isinstance(result, Appended)


async def differing(log: MatchStore, prefix: str) -> set[str]:
    """The matches of a test whose index entry differs from the lobby."""
    found = {match_id for part in range(log.parts) for match_id in await log.differing(part, NOW)}
    return {match_id for match_id in found if match_id.startswith(prefix)}


async def test_pages_have_each_match_once_those_opened_last_first(
    log: MatchStore, other: MatchStore, match_id: str
) -> None:
    """From one list or several, after any place; matches opened at the same time are ordered by id."""
    names = [f"{match_id}-{number}" for number in range(9)]
    for number, name in enumerate(names):
        await listed((log, other)[number % 2], name, row(100 + number // 2, match_id, f"{match_id}/{number % 3}"))
    places = sorted(((100 + number // 2, name) for number, name in enumerate(names)), reverse=True)
    assert places == await log.page([match_id], None, 20)
    assert places == await log.page([match_id, f"{match_id}/0", f"{match_id}/1"], None, 20)
    assert places[:4] == await other.page([match_id, f"{match_id}/2"], None, 4)
    for at, place in enumerate(places):
        assert places[at + 1 : at + 3] == await log.page([match_id], place, 2)
    assert [place for place in places if int(place[1][-1]) % 3 == 1] == await log.page([f"{match_id}/1"], None, 20)
    assert [9, 3, 0] == await log.counts([match_id, f"{match_id}/1", f"{match_id}/none"])
    assert set() == await differing(log, match_id)


async def test_the_index_follows_the_lobby_in_the_same_append(log: MatchStore, match_id: str) -> None:
    """The match moves between lists and agendas; a refused append changes nothing, and an unlisted match is in none."""
    lists = [f"{match_id}/{name}" for name in "abc"]
    sweep, archive = f"{match_id}-sweep", f"{match_id}-archive"
    await listed(log, match_id, row(5, *lists[:2], agenda=sweep, due_ms=7))
    assert ([1, 1, 0], [(match_id, 7)]) == (await log.counts(lists), await log.due(sweep, 7, 9))
    refused = LobbyEntry(b"sealed", row(5, lists[2], agenda=archive))
    await log.append(match_id, 0, [Entry(b"late")], lobby=refused)
    assert ([1, 1, 0], []) == (await log.counts(lists), await log.due(archive, EVER, 9))
    await listed(log, match_id, row(5, *lists[1:], agenda=archive, due_ms=9), behind=1, summary=b"sealed")
    assert ([0, 1, 1], []) == (await log.counts(lists), await log.due(sweep, EVER, 9))
    assert [(match_id, 9)] == await log.due(archive, EVER, 9)
    assert set() == await differing(log, match_id)
    await log.unlist(match_id)
    assert ([0, 0, 0], []) == (await log.counts(lists), await log.due(archive, EVER, 9))
    assert set() == await differing(log, match_id)


async def test_what_is_due_comes_first_and_is_put_off_once(log: MatchStore, other: MatchStore, match_id: str) -> None:
    """A due time is not overwritten if it has changed since it was read."""
    for number in range(4):
        await listed(log, f"{match_id}-{number}", row(1, agenda=match_id, due_ms=10 - number))
    assert [(f"{match_id}-3", 7), (f"{match_id}-2", 8)] == await other.due(match_id, 9, 2)
    assert [(f"{match_id}-2", 8), (f"{match_id}-1", 9)] == await other.due(match_id, 9, 9, 8)
    await log.put_off(match_id, f"{match_id}-3", 7, 50)
    await other.put_off(match_id, f"{match_id}-3", 7, 60)
    assert (f"{match_id}-3", 50) == (await log.due(match_id, EVER, 9))[-1]
    await listed(log, f"{match_id}-2", row(1, agenda=match_id, due_ms=20), behind=1)
    await other.put_off(match_id, f"{match_id}-2", 8, 99)
    assert [(f"{match_id}-2", 20), (f"{match_id}-3", 50)] == (await log.due(match_id, EVER, 9))[2:]


async def test_what_the_index_says_wrong_is_found_and_mended(log: MatchStore, match_id: str) -> None:
    """A missing row, a row of another summary, a time too far ahead, and an entry that the lobby does not list."""
    plain, changed, late = (f"{match_id}-{name}" for name in ("plain", "changed", "late"))
    await log.append(plain, 0, [Entry(b"1")], lobby=LobbyEntry(b"open"))
    await listed(log, changed, row(1, f"{match_id}/before"))
    await log.append(changed, 1, [Entry(b"2")], lobby=LobbyEntry(b"closed"))
    await listed(log, late, row(1, match_id, agenda=match_id, due_ms=NOW + 60, longest_ms=50))
    assert {plain, changed, late} == await differing(log, match_id)
    said = {
        plain: (b"open", row(1, match_id)),
        changed: (b"closed", row(2, match_id)),
        late: (b"open", row(1, match_id, agenda=match_id, due_ms=NOW + 5, longest_ms=50)),
    }
    await log.reindex({match: (b"long ago", known) for match, (_, known) in said.items()}, NOW)
    assert {plain, changed, late} == await differing(log, match_id)
    await log.reindex(said, NOW)
    assert set() == await differing(log, match_id)
    assert [3, 0] == await log.counts([match_id, f"{match_id}/before"])
    assert [(late, NOW + 5)] == await log.due(match_id, EVER, 9)
    await log.put_off(match_id, late, NOW + 5, NOW + 40)
    await log.reindex(said, NOW)
    assert [(late, NOW + 40)] == await log.due(match_id, EVER, 9), "what was found out by a look stays"


async def test_of_many_that_change_matches_at_once_the_index_says_what_the_lobby_says(
    log: MatchStore, other: MatchStore, match_id: str
) -> None:
    """One script writes both, so they agree for any order of writers."""
    names = [f"{match_id}-{number}" for number in range(12)]

    async def change(number: int, name: str) -> None:
        said = LobbyEntry(b"by %d" % number, row(number, match_id, f"{match_id}/{number}"))
        for behind in range(3):
            await (log, other)[number % 2].append(name, behind, [Entry(b"by %d" % number)], lobby=said)

    await asyncio.gather(*[change(number, name) for name in names for number in range(4)])
    assert set() == await differing(log, match_id)
    said = await log.summaries(names)
    for number in range(4):
        there = {name for name, summary in said.items() if summary == b"by %d" % number}
        assert there == {name for _, name in await other.page([f"{match_id}/{number}"], None, 99)}


async def test_a_comparison_finds_strays_and_none_that_come_of_changes_meanwhile(
    log: MatchStore, other: MatchStore, match_id: str
) -> None:
    """Matches are listed, moved and unlisted meanwhile; only the entry added by hand is a stray."""
    if not isinstance(log, RedisLog) or not isinstance(other, RedisLog):
        pytest.skip("the contract does not have it")
    stray, rounds = f"{match_id}-stray", 0
    await listed(log, stray, row(1, f"{match_id}/0", agenda=match_id))
    (key,) = [key for key in await _keys(log) if match_id.encode() in key and b"/0" in key]
    await log.unlist(stray)
    await log.dispatch.ask(key, "ZADD", key, 0, b"0" * 16 + stray.encode(), appends=True)

    async def change(number: int) -> None:
        nonlocal rounds
        while True:
            name = f"{match_id}-{number}-{rounds}"
            for behind, agenda in enumerate((match_id, "")):
                said = row(1, *(f"{match_id}/{each}" for each in range(behind, 9 - behind)), agenda=agenda)
                await listed(log, name, said, behind=behind, summary=b"%d" % behind)
            await log.unlist(name)
            rounds += 1

    changes = [asyncio.create_task(change(number)) for number in range(4)]
    while rounds < 60:
        found = await other.strays()
        assert {stray: 1} == {name: count for name, count in found.items() if name.startswith(match_id)}
    for each in changes:
        each.cancel()
    await asyncio.gather(*changes, return_exceptions=True)


@pytest.mark.parametrize("kind", ["list", "due", "rows"])
async def test_what_is_in_the_place_of_the_index_keeps_nobody_from_appending(
    log: MatchStore, match_id: str, kind: str
) -> None:
    """A key holds another type: appends continue, queries are answered, and the index is rebuilt."""
    if not isinstance(log, RedisLog):
        pytest.skip("nobody else writes there")
    await listed(log, match_id, row(1, match_id, agenda=match_id))
    await log.mark_index(whole=True)
    keys = [key for key in await _keys(log) if (b":%b:" % kind.encode()) in key and match_id.encode() in key]
    keys = keys or [log._rows(log._partition(match_id))]
    for key in keys:
        await log.dispatch.ask(key, "SET", key, "something else", appends=True)
    await listed(log, match_id, row(1, match_id, agenda=match_id), behind=1, summary=b"closed")
    await log.page([match_id], None, 9)
    await log.due(match_id, EVER, 9)
    assert (kind == "rows") == await log.has_index()
    assert {match_id} == await differing(log, match_id)
    await log.reindex({match_id: (b"closed", row(1, match_id, agenda=match_id))}, NOW)
    assert set() == await differing(log, match_id)
    assert [(1, match_id)] == await log.page([match_id], None, 9)


async def _keys(log: RedisLog) -> list[bytes]:
    return [key async for keys in log._index_keys() for key in keys]
