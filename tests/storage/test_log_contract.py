"""The contract of all stores, for memory, simulation, Valkey, a cluster and the oldest Redis."""

from __future__ import annotations

import asyncio
import sys
import uuid
from functools import partial
from itertools import count, islice
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
import redis

from rollbook.match.chain import Entry
from rollbook.storage.port import (
    MOST_BYTES,
    Announcement,
    Appended,
    Conflict,
    LobbyEntry,
    MatchStore,
    StoreUnavailable,
    TooEarly,
)
from rollbook.storage.redis.keys import partition_of, stream_key
from rollbook.storage.redis.log import RedisLog
from tests.sim.store import SimulatedLog
from tests.storage.conftest import Store
from tests.storage.memory import MemoryLog
from tests.storage.waiting import wait

pytestmark = pytest.mark.asyncio

SOON: Final = 0.05
"""A time-out in seconds that is meant to pass."""

LATE: Final = 60.0
"""A time-out in seconds that is not meant to pass."""


def entries(*events: bytes) -> list[Entry]:
    """Entries without a private part."""
    return [Entry(event) for event in events]


async def test_positions_count_from_one_without_a_gap(log: MatchStore, match_id: str) -> None:
    """An entry is found by its number, for any append that contained it."""
    assert 0 == await log.head(match_id)
    assert Appended(2) == await log.append(match_id, 0, entries(b"one", b"two"))
    assert Appended(3) == await log.append(match_id, 2, entries(b"three"))
    assert 3 == await log.head(match_id)
    assert entries(b"one", b"two", b"three") == await log.read(match_id)
    assert entries(b"three") == await log.read(match_id, after=2)


async def test_an_append_to_another_position_writes_nothing(log: MatchStore, match_id: str) -> None:
    """An append after the head would leave a gap, and one before it would rewrite delivered events."""
    await log.append(match_id, 0, entries(b"one", b"two"))
    for expected in (0, 1, 3, 7):
        assert Conflict(2) == await log.append(match_id, expected, entries(b"other", b"others"), lobby=LobbyEntry(b"x"))
    assert entries(b"one", b"two") == await log.read(match_id)
    assert match_id not in await log.lobby()


async def test_an_append_behind_another_event_writes_nothing(log: MatchStore, match_id: str) -> None:
    """A restored log may have the same length as before, so the bytes of its last entry are compared too."""
    await log.append(match_id, 0, entries(b"one", b"two"))
    for other in (b"one", b"tw", b"two "):
        assert Conflict(2) == await log.append(match_id, 2, entries(b"three"), behind=other, lobby=LobbyEntry(b"x"))
    assert entries(b"one", b"two") == await log.read(match_id)
    assert match_id not in await log.lobby()
    assert Conflict(2) == await log.append(match_id, 1, entries(b"three"), behind=b"two")
    assert Appended(3) == await log.append(match_id, 2, [Entry(b"three", b"hidden")], behind=b"two")
    assert Appended(4) == await log.append(match_id, 3, entries(b"four"), behind=b"three")


async def test_a_match_is_begun_once(log: MatchStore, match_id: str) -> None:
    """A second opening gets a conflict with the current head."""
    assert Appended(1) == await log.append(match_id, 0, entries(b"one"))
    assert Conflict(1) == await log.append(match_id, 0, entries(b"one"))


async def test_a_match_that_does_not_exist_has_nothing_to_append_behind(log: MatchStore, match_id: str) -> None:
    """A service that remembers a lost match cannot bring it back."""
    assert Conflict(0) == await log.append(match_id, 4, entries(b"five"))
    assert 0 == await log.head(match_id)
    assert [] == await log.read(match_id)


async def test_of_two_writers_to_one_position_exactly_one_wins(
    log: MatchStore, other: MatchStore, match_id: str
) -> None:
    """At every position one writer wins, and all readers see its entries."""
    written: list[Entry] = []
    for position in range(60):
        first, second = entries(b"a%d" % position), entries(b"b%d" % position)
        results = await asyncio.gather(
            log.append(match_id, position, first),
            other.append(match_id, position, second),
        )
        won = [isinstance(result, Appended) for result in results]
        assert [False, True] == sorted(won)
        assert Conflict(position + 1) in results
        written += first if won[0] else second
    assert written == await other.read(match_id)


async def test_a_crowd_of_one_process_has_one_winner(log: MatchStore, match_id: str) -> None:
    """Appends of one batch are still decided one by one."""
    crowd = [log.append(match_id, 0, entries(b"%d" % number, b"more")) for number in range(50)]
    results = await asyncio.gather(*crowd)
    assert 1 == results.count(Appended(2))
    assert 49 == results.count(Conflict(2))
    assert entries(b"%d" % results.index(Appended(2)), b"more") == await log.read(match_id)


WRITER = """
import asyncio, sys
from rollbook.storage.redis.log import RedisLog
from rollbook.match.chain import Entry
from rollbook.storage.port import Appended

async def main(url, match_id, name, positions):
    log = await RedisLog.connect(url)
    sys.stdout.write("ready\\n")
    sys.stdout.flush()
    sys.stdin.readline()
    won, head = [], 0
    while head < positions:
        result = await log.append(match_id, head, [Entry(f"{name}{head}".encode())])
        if isinstance(result, Appended):
            won.append(head + 1)
        head = result.head
    await log.close()
    sys.stdout.write(" ".join(map(str, won)) + "\\n")

asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))
"""


async def test_of_two_processes_exactly_one_wins_each_position(store: Store, log: MatchStore, match_id: str) -> None:
    """Two replicas that append to one match share its positions without a gap or a double."""
    if store.url is None:
        pytest.skip("a process has its memory to itself")
    positions = 150
    writers = [
        await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", WRITER, store.url, match_id, name, str(positions)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        for name in ("a", "b")
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert b"ready\n" == await writer.stdout.readline()
    won = [
        [int(position) for position in output.split()]
        for output, _ in await asyncio.gather(*(writer.communicate(b"go\n") for writer in writers))
    ]
    assert list(range(1, positions + 1)) == sorted([*won[0], *won[1]])
    winners = {position: name for name, positions_won in zip("ab", won, strict=True) for position in positions_won}
    assert entries(*(f"{winners[n + 1]}{n}".encode() for n in range(positions))) == await log.read(match_id)


async def test_an_append_is_all_or_nothing_however_many_entries_it_has(
    log: MatchStore, other: MatchStore, match_id: str
) -> None:
    """A reader never sees a part of it."""
    many = entries(*(b"%d" % number for number in range(2_000)))
    writing = asyncio.ensure_future(log.append(match_id, 0, many))
    seen = {await other.head(match_id)}
    while not writing.done():
        await asyncio.sleep(0)
        seen.add(await other.head(match_id))
    assert seen <= {0, 2_000}
    assert Appended(2_000) == await writing


async def test_long_matches_are_read_page_by_page(log: MatchStore, match_id: str) -> None:
    """The pages together are the whole match, also if its length is a multiple of the page size."""
    many = entries(*(b"%d" % number for number in range(30)))
    await log.append(match_id, 0, many)
    for limit in (1, 7, 10, 30, 31):
        pages: list[Entry] = []
        while page := await log.read(match_id, after=len(pages), limit=limit):
            assert len(page) <= limit
            pages += page
        assert many == pages
    assert [] == await log.read(match_id, after=30)
    assert [] == await log.read(match_id, after=31)
    assert [] == await log.read(match_id, limit=0)


async def test_what_is_hidden_stays_beside_its_event(log: MatchStore, match_id: str) -> None:
    """Some entries have a private part, and some do not."""
    mixed = [Entry(b"drawn", b"the queen"), Entry(b"chosen"), Entry(b"drawn", b"\x00")]
    await log.append(match_id, 0, mixed)
    assert mixed == await log.read(match_id)
    assert {match_id: mixed} == await wait(log, {match_id: 0}, LATE)


async def test_bytes_come_back_as_they_went_in(log: MatchStore, match_id: str) -> None:
    """Events may contain any bytes, and an empty event is an event."""
    every_byte = bytes(range(256))
    wild = [
        Entry(every_byte, every_byte[::-1]),
        Entry(b"\r\n*3\r\n$-1\r\n", b"\xff\xfe"),
        Entry(b""),
        Entry(b"", b"\x00"),
    ]
    await log.append(match_id, 0, wild, lobby=LobbyEntry(every_byte))
    assert wild == await log.read(match_id)
    assert every_byte == (await log.lobby())[match_id]
    await log.append(match_id, 4, entries(b"end"), lobby=LobbyEntry(b""))


async def test_a_match_may_be_called_anything(log: MatchStore) -> None:
    """The store accepts any id."""
    for name in ("{p0}", "a}b{c", "with space", "ärger", "0-1", "x" * 300):
        match_id = f"{name}{uuid.uuid4().hex}"
        assert Appended(1) == await log.append(match_id, 0, entries(b"one"), lobby=LobbyEntry(b"open"))
        assert {match_id: entries(b"one")} == await wait(log, {match_id: 0}, LATE)
        assert b"open" == (await log.lobby())[match_id]
        await log.append(match_id, 1, entries(b"two"), lobby=LobbyEntry(b""))


async def test_big_entries_are_kept_whole(log: MatchStore, match_id: str) -> None:
    """Entries larger than any network buffer are stored completely."""
    big = [Entry(b"\x00\xff" * 500_000, b"p" * 300_000), Entry(b"small")]
    assert Appended(2) == await log.append(match_id, 0, big)
    assert big == await log.read(match_id)


async def test_what_can_never_be_right_is_refused_before_it_is_sent(log: MatchStore, match_id: str) -> None:
    """No entries, too many bytes, a negative position, or an empty id."""
    heavy = [Entry(b"x" * (MOST_BYTES // 2), b"y" * (MOST_BYTES // 2)), Entry(b"z")]
    with pytest.raises(ValueError, match="at least one entry"):
        await log.append(match_id, 0, [])
    with pytest.raises(ValueError, match="at most"):
        await log.append(match_id, 0, heavy)
    with pytest.raises(ValueError, match="begin at 1"):
        await log.append(match_id, -1, entries(b"zero"))
    with pytest.raises(ValueError, match="has an id"):
        await log.append("", 0, entries(b"one"))
    assert 0 == await log.head(match_id)


async def test_waiting_ends_as_soon_as_something_is_there(log: MatchStore, other: MatchStore, match_id: str) -> None:
    """Whether another replica writes it, or this one."""
    for writer, position in ((other, 0), (log, 1), (other, 2)):
        waiting = asyncio.ensure_future(wait(log, {match_id: position}, LATE))
        await asyncio.sleep(0)
        await writer.append(match_id, position, entries(b"%d" % position))
        assert {match_id: entries(b"%d" % position)} == await waiting


async def test_waiting_for_what_is_there_already_does_not_wait(log: MatchStore, match_id: str) -> None:
    """Catching up and following live use the same call, so nothing is missed between them."""
    await log.append(match_id, 0, entries(b"one", b"two", b"three"))
    assert {match_id: entries(b"two", b"three")} == await wait(log, {match_id: 1}, LATE)
    assert {match_id: entries(b"three")} == await wait(log, {match_id: 2}, 0)


async def test_waiting_times_out_with_nothing(log: MatchStore, match_id: str) -> None:
    """For an idle match, an unknown match, and no match."""
    await log.append(match_id, 0, entries(b"one"))
    for timeout_seconds in (SOON, 0, -1):
        assert {} == await wait(log, {match_id: 1}, timeout_seconds)
        assert {} == await wait(log, {match_id: 1, "nobody": 0}, timeout_seconds)
        assert {} == await wait(log, {}, timeout_seconds)
    assert {} == await wait(log, {match_id: 9}, SOON)


async def test_one_wait_follows_many_matches(log: MatchStore, other: MatchStore, match_id: str) -> None:
    """Each match from its own position, in any partition; every entry comes once and in order."""
    matches = [f"{match_id}-{number}" for number in range(40)]
    for match in matches:
        await log.append(match, 0, entries(b"1"))
    seen = dict.fromkeys(matches, 1)
    told: dict[str, list[bytes]] = {match: [] for match in matches}

    async def follow() -> None:
        while any(head < 4 for head in seen.values()):
            found = await wait(log, seen, LATE)
            assert found
            for match, new in found.items():
                told[match] += [entry.event for entry in new]
                seen[match] += len(new)

    async def play() -> None:
        for position in (1, 2, 3):
            for match in matches[:: 1 if position % 2 else -1]:
                await other.append(match, position, entries(b"%d" % (position + 1)))

    await asyncio.gather(follow(), play())
    assert {match: [b"2", b"3", b"4"] for match in matches} == told


async def test_a_wait_that_was_given_up_takes_nothing_along(log: MatchStore, match_id: str) -> None:
    """A cancelled wait loses nothing: the next one begins after the last result."""
    await log.append(match_id, 0, entries(b"one"))
    for _ in range(5):
        waiting = asyncio.ensure_future(wait(log, {match_id: 1, f"{match_id}-other": 0}, LATE))
        await asyncio.sleep(0.002)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    await log.append(match_id, 1, entries(b"two"))
    assert {match_id: entries(b"one", b"two")} == await wait(log, {match_id: 0}, LATE)
    assert {match_id: entries(b"two")} == await wait(log, {match_id: 1, f"{match_id}-other": 0}, LATE)
    assert {} == await wait(log, {match_id: 2, f"{match_id}-other": 0}, SOON)


async def test_every_append_is_announced_to_all_who_listen(log: MatchStore, other: MatchStore, match_id: str) -> None:
    """The appender receives the announcement too, but only after its own answer; a conflict is not announced."""
    answered: list[int] = []
    heard: dict[MatchStore, list[Announcement]] = {log: [], other: []}
    late: list[Announcement] = []

    def hear(where: MatchStore, said: Announcement) -> None:
        if said.match_id == match_id:
            heard[where].append(said)
            if where is log and said.head not in answered:
                late.append(said)

    began = {each: asyncio.Event() for each in heard}
    listening = [asyncio.create_task(each.listen(partial(hear, each), began[each].set)) for each in heard]
    for each in began.values():
        await each.wait()
    for position in range(4):
        lobby = LobbyEntry(b"open") if position in {0, 2} else None
        assert Appended(position + 1) == await log.append(match_id, position, entries(b"e"), lobby=lobby)
        answered.append(position + 1)
        assert Conflict(position + 1) == await log.append(match_id, position, entries(b"other"), lobby=LobbyEntry(b"x"))
    said = [Announcement(match_id, head, head in {1, 3}) for head in (1, 2, 3, 4)]
    async with asyncio.timeout(LATE):
        while sorted(heard[log]) != said or sorted(heard[other]) != said:  # noqa: ASYNC110 - nothing says so
            await asyncio.sleep(0.002)
    assert [] == late
    for task in listening:
        task.cancel()
    await asyncio.gather(*listening, return_exceptions=True)


async def test_several_may_wait_at_the_same_time(log: MatchStore, match_id: str) -> None:
    """None of them takes another's entries away."""
    waiting = [asyncio.ensure_future(wait(log, {match_id: 0}, LATE)) for _ in range(4)]
    waiting.append(asyncio.ensure_future(wait(log, {match_id: 0, f"{match_id}-other": 0}, LATE)))
    await asyncio.sleep(0)
    await log.append(match_id, 0, entries(b"one"))
    assert [{match_id: entries(b"one")}] * 5 == await asyncio.gather(*waiting)


async def test_the_lobby_lists_what_appends_say(log: MatchStore, other: MatchStore, match_id: str) -> None:
    """An append can set, replace or remove the entry; other appends leave it unchanged."""
    await log.append(match_id, 0, entries(b"opened"), lobby=LobbyEntry(b"open"))
    assert b"open" == (await other.lobby())[match_id]
    await log.append(match_id, 1, entries(b"taken"))
    assert b"open" == (await other.lobby())[match_id]
    await log.append(match_id, 2, entries(b"started"), lobby=LobbyEntry(b"running"))
    assert b"running" == (await other.lobby())[match_id]
    assert Conflict(3) == await log.append(match_id, 2, entries(b"late"), lobby=LobbyEntry(b"wrong"))
    assert b"running" == (await other.lobby())[match_id]
    await log.append(match_id, 3, entries(b"sealed"), lobby=LobbyEntry(b""))
    assert match_id not in await other.lobby()
    assert Appended(5) == await log.append(match_id, 4, entries(b"again"), lobby=LobbyEntry(b""))


async def test_a_match_that_the_lobby_lists_is_not_begun_again(store: Store, match_id: str) -> None:
    """A listed match whose log is lost is not opened again, with or without a summary.

    A match that has left the lobby may be.
    """
    log = await store.connect()
    assert await log.summary(match_id) is None
    await log.append(match_id, 0, entries(b"opened"), lobby=LobbyEntry(b"open"))
    assert b"open" == await log.summary(match_id)
    await lose(store, log, match_id)
    assert 0 == await log.head(match_id)
    for lobby in (None, LobbyEntry(b"again"), LobbyEntry(b"")):
        assert Conflict(0) == await log.append(match_id, 0, entries(b"opened"), lobby=lobby)
    assert b"open" == await log.summary(match_id)
    assert 0 == await log.head(match_id)
    sealed = f"{match_id}-sealed"
    await log.append(sealed, 0, entries(b"opened"), lobby=LobbyEntry(b"open"))
    await log.append(sealed, 1, entries(b"sealed"), lobby=LobbyEntry(b""))
    await lose(store, log, sealed)
    assert await log.summary(sealed) is None
    assert Appended(1) == await log.append(sealed, 0, entries(b"opened"))
    await log.close()


async def lose(store: Store, log: RedisLog | MemoryLog | SimulatedLog, match_id: str) -> None:
    """Delete the log of a match behind the service's back."""
    if isinstance(log, SimulatedLog):
        log.store.delete(match_id)
        return
    if isinstance(log, MemoryLog):
        del log._streams[match_id]
        return
    client: Any
    with redis.Redis(port=urlsplit(store.url or "").port or 0, protocol=2) as client:
        assert 1 == client.delete(stream_key(match_id, log.parts))


async def test_an_append_may_have_to_wait_for_the_stores_own_clock(
    log: MatchStore, other: MatchStore, match_id: str
) -> None:
    """A replica with a fast clock cannot end a turn early; a conflict is reported before TooEarly."""
    now_ms = await log.now_ms()
    assert abs(now_ms - await other.now_ms()) < 60_000
    early = await log.append(match_id, 0, entries(b"timed out"), not_before_ms=now_ms + 3_600_000)
    assert isinstance(early, TooEarly)
    assert now_ms <= early.now_ms < now_ms + 3_600_000
    assert 0 == await log.head(match_id)
    assert Appended(1) == await log.append(match_id, 0, entries(b"timed out"), not_before_ms=early.now_ms)
    assert Conflict(1) == await log.append(match_id, 0, entries(b"late"), not_before_ms=now_ms + 3_600_000)


async def test_an_archived_match_refuses_a_stale_append(store: Store, match_id: str) -> None:
    """The entries of the match are gone, but the match can neither be continued nor opened again."""
    log = await store.connect()
    await log.append(match_id, 0, entries(b"one", b"two", b"sealed"))
    await log.trim(match_id)
    await log.trim(match_id)
    assert 3 == await log.head(match_id)
    assert [] == await log.read(match_id)
    assert {} == await wait(log, {match_id: 0}, SOON)
    for expected in (0, 1, 2, 4):
        assert Conflict(3) == await log.append(match_id, expected, entries(b"stale"))
    await log.trim(f"{match_id}-nobody")
    assert 0 == await log.head(f"{match_id}-nobody")
    await log.close()


async def test_the_head_of_an_archived_match_is_let_go_of_in_the_end(store: Store, match_id: str) -> None:
    """Until then the store knows the match's length; afterwards only the archive does."""
    log = await store.connect()
    await log.append(match_id, 0, entries(b"one", b"sealed"), lobby=LobbyEntry(b"finished"))
    await log.unlist(match_id)
    await log.unlist(match_id)
    assert match_id not in await log.lobby()
    assert entries(b"one", b"sealed") == await log.read(match_id)
    await log.trim(match_id, keep_seconds=1)
    async with asyncio.timeout(LATE):
        while await log.head(match_id):  # noqa: ASYNC110 - the store's own clock
            await asyncio.sleep(SOON)
    assert Conflict(0) == await log.append(match_id, 2, entries(b"stale"))
    await log.close()


async def test_a_store_knows_one_archive_and_whether_somebody_lacks_it(store: Store) -> None:
    """The first claim sets the mark; the record of a service that lacks the archive expires."""
    log = await store.connect()
    mark = await log.archive_mark("one")
    assert [mark, mark] == [await log.archive_mark("two"), await log.archive_mark()]
    await log.lack_archive(1)
    assert await log.archive_is_lacked()
    async with asyncio.timeout(LATE):
        while await log.archive_is_lacked():  # noqa: ASYNC110 - the store's own clock
            await asyncio.sleep(SOON)
    await log.close()


async def test_everybody_learns_of_the_last_beat_however_often_they_ask(store: Store) -> None:
    """Reading does not count as a beat, so a gap stays visible until the next beat."""
    log, other = await store.connect(), await store.connect()
    await log.beat(1_000)
    await other.beat(2_000)
    assert [2_000, 2_000, 2_000] == [await log.last_beat(), await other.last_beat(), await log.last_beat()]
    await log.close()
    await other.close()


async def test_of_several_that_want_the_lease_one_has_it_and_keeps_it_by_asking_again(
    log: MatchStore, other: MatchStore, match_id: str
) -> None:
    """Of concurrent callers one gets the lease and keeps it by asking again; the others get False."""
    names = [f"{match_id}-{number}" for number in range(8)]
    await leased(log, "nobody", 1)
    await asyncio.sleep(SOON)
    had = await asyncio.gather(*[log.lease(name, 60_000) for name in names])
    assert 1 == had.count(True)
    holder = names[had.index(True)]
    for _ in range(3):
        assert await other.lease(holder, 60_000)
        assert [name == holder for name in names] == [await log.lease(name, 60_000) for name in names]
    assert await log.lease(holder, 1)


async def leased(log: MatchStore, holder: str, lease_ms: int) -> None:
    """Ask for the lease until it is granted."""
    async with asyncio.timeout(LATE):
        while not await log.lease(holder, lease_ms):  # noqa: ASYNC110 - another process may have it
            await asyncio.sleep(SOON / 5)


async def test_a_lease_is_taken_over_once_its_holder_is_not_heard_of_any_more(
    log: MatchStore, other: MatchStore, match_id: str
) -> None:
    """The lease moves by the store's clock, and not before its time; the former holder gets False."""
    dead, heir = f"{match_id}-dead", f"{match_id}-heir"
    await leased(log, dead, 400)
    since_ms = await log.now_ms()
    await leased(other, heir, 60_000)
    assert 300 <= await log.now_ms() - since_ms
    assert not await log.lease(dead, 400)
    assert await other.lease(heir, 1)


async def test_a_closed_log_says_so(store: Store, match_id: str) -> None:
    """Running appends finish first, and waiting calls raise StoreUnavailable."""
    log = await store.connect()
    await log.append(match_id, 0, entries(b"one"))
    under_way = asyncio.ensure_future(log.append(match_id, 1, entries(b"two")))
    waiting = asyncio.ensure_future(wait(log, {match_id: 2}, LATE))
    await asyncio.sleep(0)
    await log.close()
    assert Appended(2) == await under_way
    for call in (
        waiting,
        log.append(match_id, 2, entries(b"three")),
        log.read(match_id),
        log.head(match_id),
        log.lobby(),
    ):
        with pytest.raises(StoreUnavailable, match="closed"):
            await call
    await log.close()


async def test_matches_of_one_partition_are_all_listed(store: Store, match_id: str) -> None:
    """Each has its own summary, and removing one keeps the others."""
    log = await store.connect()
    names = (f"{match_id}-{number}" for number in count())
    neighbours = (name for name in names if partition_of(name, log.parts) == partition_of(match_id, log.parts))
    together = [match_id, *islice(neighbours, 3)]
    for name in together:
        await log.append(name, 0, entries(b"one"), lobby=LobbyEntry(f"of {name}".encode()))
    listed = await log.lobby()
    assert {name: f"of {name}".encode() for name in together} == {name: listed.get(name) for name in together}
    await log.unlist(together[1])
    listed = await log.lobby()
    assert [True, False, True, True] == [name in listed for name in together]
    await log.close()


async def test_a_closed_log_refuses_everything(store: Store, match_id: str) -> None:
    """Every call raises StoreUnavailable."""
    log: Any = await store.connect()
    await log.close()
    for call in (
        log.append(match_id, 0, entries(b"one")),
        log.read(match_id),
        log.head(match_id),
        wait(log, {match_id: 0}, LATE),
        log.lobby(),
        log.summary(match_id),
        log.unlist(match_id),
        log.drop(match_id),
        log.trim(match_id),
        log.now_ms(),
        log.lease("somebody", 1_000),
        log.archive_mark("mark"),
        log.lack_archive(1),
        log.archive_is_lacked(),
    ):
        with pytest.raises(StoreUnavailable, match="closed"):
            await call
