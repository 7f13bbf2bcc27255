"""A log in the memory of one process that keeps the promises of the port."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rollbook.match.chain import Entry
from rollbook.storage.port import (
    BOOK_SECONDS,
    KEEP_SECONDS,
    MOST_BEHIND,
    UNDER_WAY_MS,
    Announcement,
    Appended,
    AppendResult,
    Conflict,
    Full,
    Hole,
    IndexRow,
    LobbyEntry,
    Place,
    Quota,
    Reserved,
    StoreUnavailable,
    TooEarly,
    check_append,
)


def _wall_clock_ms() -> int:
    return time.time_ns() // 1_000_000


@dataclass(slots=True)
class _Stream:
    entries: list[Entry] = field(default_factory=list)
    trimmed: int = 0
    """Number of trimmed entries, which still count for the head."""
    until_ms: int | None = None
    """The time in milliseconds at which the head is forgotten too, or None."""

    @property
    def head(self) -> int:
        return self.trimmed + len(self.entries)


@dataclass(slots=True)
class _Indexed:
    summary: bytes
    """The summary that the row was made from."""
    row: IndexRow
    due_ms: int


@dataclass(slots=True)
class _Book:
    places: dict[str, int] = field(default_factory=dict)
    until_ms: int = 0
    """The time in milliseconds at which the book is forgotten."""


class MemoryLog:
    """Keeps every match in a list, with the given clock.

    Nothing in an append awaits, so it is atomic.
    """

    def __init__(self, clock_ms: Callable[[], int] = _wall_clock_ms) -> None:
        """Begin empty."""
        self._clock_ms = clock_ms
        self._streams: dict[str, _Stream] = {}
        self._lobby: dict[str, bytes] = {}
        self._index: dict[str, _Indexed] = {}
        self._is_indexed = False
        self._books: dict[tuple[str, str], _Book] = {}
        self._buckets: dict[str, float] = {}
        self._kept: dict[str, tuple[bytes, int]] = {}
        self._declined: dict[str, tuple[set[bytes], int]] = {}
        self._listeners: dict[asyncio.Future[None], Callable[[Announcement], None]] = {}
        self._closed = False
        self._beat_ms: int | None = None
        self._archive_mark = ""
        self._lacking_until_ms = 0
        self._lease = ("", 0)

    async def append(
        self,
        match_id: str,
        expected: int,
        entries: Sequence[Entry],
        *,
        behind: bytes | None = None,
        lobby: LobbyEntry | None = None,
        not_before_ms: int | None = None,
        in_place_of: int | None = None,
    ) -> AppendResult:
        """Append after the entry numbered `expected`, all or nothing.

        With 0 neither log nor lobby may have the match.
        """
        check_append(match_id, expected, entries)
        self._check_open()
        stream = self._stream(match_id)
        head = 0 if stream is None else stream.head
        if head != (in_place_of or expected) or (stream is None and match_id in self._lobby):
            return Conflict(head)
        if behind and not self._ends_with(match_id, behind):
            return Conflict(head)
        if not_before_ms is not None and (now_ms := self._clock_ms()) < not_before_ms:
            return TooEarly(now_ms)
        stream = self._streams.setdefault(match_id, _Stream())
        del stream.entries[expected - stream.trimmed :]
        stream.entries.extend(entries)
        if lobby is not None:
            if lobby.summary:
                self._lobby[match_id] = lobby.summary
            else:
                self._lobby.pop(match_id, None)
            self._index.pop(match_id, None)
            if lobby.summary and lobby.row is not None:
                self._index[match_id] = _Indexed(lobby.summary, lobby.row, lobby.row.due_ms)
        for heard in self._listeners.values():
            # The appender has its answer by then.
            said = Announcement(match_id, stream.head, lobby is not None or not expected)
            asyncio.get_running_loop().call_soon(heard, said)
        return Appended(stream.head)

    async def read(self, match_id: str, after: int = 0, limit: int = 1_000) -> list[Entry]:
        """Return at most `limit` entries after `after`, in order."""
        self._check_open()
        stream = self._stream(match_id)
        if stream is not None and after < stream.trimmed and stream.until_ms is None:
            raise Hole(match_id, after, stream.head)
        return self._behind(match_id, after)[: max(limit, 0)]

    async def head(self, match_id: str) -> int:
        """Return the sequence of the last entry, or 0 if the match does not exist."""
        self._check_open()
        stream = self._stream(match_id)
        return 0 if stream is None else stream.head

    async def behind(self, after: Mapping[str, int]) -> dict[str, list[Entry]]:
        """Return the entries after the given sequences, for matches that have any, at most MOST_BEHIND each."""
        self._check_open()
        found = {match_id: self._behind(match_id, sequence)[:MOST_BEHIND] for match_id, sequence in after.items()}
        return {match_id: entries for match_id, entries in found.items() if entries}

    async def listen(self, heard: Callable[[Announcement], None], began: Callable[[], None]) -> None:
        """Call `heard` with every append from now on, until this log is closed."""
        self._check_open()
        listening: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._listeners[listening] = heard
        began()
        try:
            await listening
        finally:
            del self._listeners[listening]

    async def lobby(self) -> dict[str, bytes]:
        """Return the summaries of all matches in the lobby."""
        self._check_open()
        return dict(self._lobby)

    async def summary(self, match_id: str) -> bytes | None:
        """Return the summary of a match, or None if the lobby does not list it."""
        self._check_open()
        return self._lobby.get(match_id)

    async def summaries(self, match_ids: Sequence[str]) -> dict[str, bytes]:
        """Return the summaries of these matches; unlisted ones are left out."""
        self._check_open()
        return {match_id: self._lobby[match_id] for match_id in match_ids if match_id in self._lobby}

    async def lobby_parts(self, parts: Sequence[int]) -> dict[str, bytes]:
        """Return the summaries of all matches in these parts of the lobby; there is only one part."""
        return await self.lobby() if parts else {}

    parts = 1
    index_parts = 1

    async def lengths(self, match_ids: Sequence[str]) -> dict[str, int]:
        """Return the number of stored entries of each log."""
        self._check_open()
        streams = {match_id: self._stream(match_id) for match_id in match_ids}
        return {match_id: 0 if stream is None else len(stream.entries) for match_id, stream in streams.items()}

    async def page(self, lists: Sequence[str], before: Place | None, limit: int) -> list[Place]:
        """Return `limit` matches of these index lists after a place, each once, newest first."""
        self._check_open()
        wanted = set(lists)
        found = [(one.row.opened_ms, match_id) for match_id, one in self._index.items() if wanted & set(one.row.lists)]
        return sorted((place for place in found if before is None or place < before), reverse=True)[:limit]

    async def counts(self, lists: Sequence[str]) -> list[int]:
        """Return the number of matches in each of these index lists."""
        self._check_open()
        return [sum(name in one.row.lists for one in self._index.values()) for name in lists]

    async def due(self, agenda: str, until_ms: int, limit: int, since_ms: int = 0) -> list[tuple[str, int]]:
        """Return matches of an agenda due from `since_ms` to `until_ms`, with their times, earliest first."""
        self._check_open()
        found = [
            (one.due_ms, match_id)
            for match_id, one in self._index.items()
            if one.row.agenda == agenda and since_ms <= one.due_ms <= until_ms
        ]
        return [(match_id, due_ms) for due_ms, match_id in sorted(found)[:limit]]

    async def put_off(self, agenda: str, match_id: str, was_ms: int, due_ms: int) -> None:
        """Change the due time of a match, unless it has changed since `was_ms`."""
        self._check_open()
        found = self._index.get(match_id)
        if found is not None and (found.row.agenda, found.due_ms) == (agenda, was_ms):
            found.due_ms = due_ms

    async def differing(self, part: int, now_ms: int) -> list[str]:
        """Return the matches whose index entry differs from the lobby, or that only the index has."""
        self._check_open()
        assert part == 0
        return [
            match_id
            for match_id in dict.fromkeys([*self._lobby, *self._index])
            if match_id not in self._index
            or self._index[match_id].summary != self._lobby.get(match_id)
            or self._is_late(self._index[match_id], now_ms)
        ]

    async def reindex(self, rows: Mapping[str, tuple[bytes, IndexRow]], now_ms: int) -> None:
        """Index these matches by their summaries, unless a summary has changed; an empty one removes the entry."""
        self._check_open()
        for match_id, (summary, row) in rows.items():
            if summary != self._lobby.get(match_id, b""):
                continue
            before = self._index.pop(match_id, None)
            if summary:
                stays = before is not None and before.row.agenda == row.agenda and not self._is_late(before, now_ms)
                due_ms = before.due_ms if before is not None and stays else row.due_ms
                self._index[match_id] = _Indexed(summary, row, due_ms)

    @staticmethod
    def _is_late(one: _Indexed, now_ms: int) -> bool:
        return bool(one.row.agenda) and one.due_ms > now_ms + one.row.longest_ms

    async def has_index(self) -> bool:
        """Return whether the index is marked as complete."""
        self._check_open()
        return self._is_indexed

    async def mark_index(self, *, whole: bool) -> None:
        """Mark the index as complete or incomplete."""
        self._check_open()
        self._is_indexed = whole

    async def now_ms(self) -> int:
        """Return the time of the given clock."""
        self._check_open()
        return self._clock_ms()

    async def beat(self, now_ms: int) -> None:
        """Record that a service is alive now."""
        self._check_open()
        self._beat_ms = now_ms

    async def last_beat(self) -> int | None:
        """Return the time of the last beat, or None."""
        self._check_open()
        return self._beat_ms

    async def lease(self, holder: str, lease_ms: int) -> bool:
        """Return whether this holder has the lease, renewed for `lease_ms`."""
        self._check_open()
        now_ms = self._clock_ms()
        held_by, until_ms = self._lease
        if held_by != holder and now_ms < until_ms:
            return False
        self._lease = holder, now_ms + lease_ms
        return True

    async def reserve(self, holder: str, match_id: str, quotas: Sequence[Quota]) -> Reserved | Full:
        """Reserve a place for a match in each of these books of a holder, or in none if one is full."""
        self._check_open()
        now_ms = self._clock_ms()
        before = []
        for quota in quotas:
            places = self._places(holder, quota.book)
            if match_id in places:
                before.append(places[match_id])
            elif len(places) >= quota.most:
                return Full(quota.book, now_ms)
        until_ms = max([now_ms + UNDER_WAY_MS, *(abs(found) + 1 for found in before)])
        for quota in quotas:
            book = self._books.setdefault((holder, quota.book), _Book())
            book.until_ms = now_ms + BOOK_SECONDS * 1_000
            book.places[match_id] = until_ms
        return Reserved(until_ms, not before)

    async def list_reserved(self, holder: str, book: str) -> dict[str, int]:
        """Return the reserved matches with the end of their reservation in milliseconds; negative once settled."""
        self._check_open()
        return dict(self._places(holder, book))

    async def settle(self, holder: str, books: Sequence[str], match_id: str, until_ms: int) -> None:
        """Mark a place as used, unless it was reserved again since."""
        self._check_open()
        for book in books:
            places = self._places(holder, book)
            if places.get(match_id) == until_ms:
                places[match_id] = -until_ms

    async def release(self, holder: str, books: Sequence[str], places: Mapping[str, int]) -> None:
        """Release the places of these matches, except those reserved or settled since."""
        self._check_open()
        for book in books:
            there = self._places(holder, book)
            for match_id, until_ms in places.items():
                if there.get(match_id) == until_ms:
                    del there[match_id]

    async def free(self, holder: str, book: str, match_ids: Sequence[str]) -> None:
        """Release the places of these matches, however they were reserved."""
        self._check_open()
        for match_id in match_ids:
            self._places(holder, book).pop(match_id, None)

    async def draw(self, bucket: str, most: int, per_ms: int) -> int:
        """Take one out of a bucket: return 0, or the milliseconds to wait."""
        self._check_open()
        now_ms = self._clock_ms()
        before_ms = min(max(self._buckets.get(bucket, 0.0), now_ms), now_ms + per_ms)
        full_ms = before_ms + per_ms / most
        wait_ms = math.ceil(full_ms - now_ms - per_ms)
        if wait_ms > 0:
            self._buckets[bucket] = before_ms
            return wait_ms
        self._buckets[bucket] = full_ms
        return 0

    async def keep(self, name: str, value: bytes, for_ms: int) -> None:
        """Keep a value under a name for `for_ms`, until it is taken."""
        self._check_open()
        self._kept[name] = value, self._clock_ms() + for_ms

    async def take(self, name: str) -> bytes | None:
        """Remove and return the value kept under a name, or None; of concurrent callers one gets it."""
        self._check_open()
        value, until_ms = self._kept.pop(name, (b"", 0))
        return value if self._clock_ms() < until_ms else None

    async def decline(self, match_id: str, player: bytes, keep_seconds: int) -> None:
        """Keep a player's answer for `keep_seconds`, and announce it."""
        declined = await self.list_declined(match_id)
        self._declined[match_id] = declined | {player}, self._clock_ms() + keep_seconds * 1_000
        for heard in self._listeners.values():
            heard(Announcement(match_id, 0, is_lifecycle=True))

    async def list_declined(self, match_id: str) -> set[bytes]:
        """Return the players who have declined and whose answers are still kept."""
        self._check_open()
        declined, until_ms = self._declined.get(match_id, (set[bytes](), 0))
        return declined if self._clock_ms() < until_ms else set()

    async def trim(self, match_id: str, keep_seconds: int = KEEP_SECONDS) -> None:
        """Delete the entries of an archived match; its head stays for `keep_seconds` to refuse stale appends."""
        self._check_open()
        stream = self._stream(match_id)
        if stream is not None:
            stream.trimmed = stream.head
            stream.entries.clear()
            stream.until_ms = self._clock_ms() + keep_seconds * 1_000

    async def unlist(self, match_id: str) -> None:
        """Remove a match from the lobby."""
        self._check_open()
        self._lobby.pop(match_id, None)
        self._index.pop(match_id, None)

    async def drop(self, match_id: str) -> None:
        """Remove a match with an unreadable log from the lobby, and prevent it from being opened again."""
        self._check_open()
        stream = self._stream(match_id)
        self._streams[match_id] = _Stream(trimmed=max(0 if stream is None else stream.head, 1))
        self._lobby.pop(match_id, None)
        self._index.pop(match_id, None)

    async def archive_mark(self, claim: str = "") -> str:
        """Return the mark of this store's archive; the first claim sets it."""
        self._check_open()
        self._archive_mark = self._archive_mark or claim
        return self._archive_mark

    async def lack_archive(self, seconds: int) -> None:
        """Record for this many seconds that a service lacks the archive."""
        self._check_open()
        self._lacking_until_ms = self._clock_ms() + seconds * 1_000

    async def archive_is_lacked(self) -> bool:
        """Return whether a service lacks the archive."""
        self._check_open()
        return self._clock_ms() < self._lacking_until_ms

    async def close(self) -> None:
        """Refuse all further calls, and end `listen`."""
        self._closed = True
        for listening in self._listeners:
            if not listening.done():
                listening.set_result(None)

    def _behind(self, match_id: str, after: int) -> list[Entry]:
        stream = self._stream(match_id)
        if stream is None:
            return []
        return stream.entries[max(after - stream.trimmed, 0) :]

    def _stream(self, match_id: str) -> _Stream | None:
        stream = self._streams.get(match_id)
        if stream is not None and stream.until_ms is not None and self._clock_ms() >= stream.until_ms:
            del self._streams[match_id]
            return None
        return stream

    def _places(self, holder: str, book: str) -> dict[str, int]:
        found = self._books.get((holder, book))
        if found is not None and self._clock_ms() >= found.until_ms:
            del self._books[holder, book]
            found = None
        return {} if found is None else found.places

    def _ends_with(self, match_id: str, event: bytes) -> bool:
        stream = self._stream(match_id)
        return stream is not None and bool(stream.entries) and stream.entries[-1].event == event

    def _check_open(self) -> None:
        if self._closed:
            raise StoreUnavailable("this log has been closed")
