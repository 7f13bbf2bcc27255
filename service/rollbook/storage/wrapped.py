"""A log that wraps another one and forwards calls to it."""

from collections.abc import Callable, Mapping, Sequence

from rollbook.match.chain import Entry
from rollbook.storage.port import Announcement, Full, IndexRow, Log, Place, Quota, Reserved


class WrappedLog:
    """Forwards every call of the port except `append`, which subclasses define."""

    def __init__(self, inner: Log) -> None:
        self._inner = inner

    async def read(self, match_id: str, after: int = 0, limit: int = 1_000) -> list[Entry]:
        """At most `limit` entries after `after`, in order; empty if there are none."""
        return await self._inner.read(match_id, after, limit)

    async def head(self, match_id: str) -> int:
        """The sequence of the last entry; 0 if the match does not exist."""
        return await self._inner.head(match_id)

    async def behind(self, after: Mapping[str, int]) -> dict[str, list[Entry]]:
        """Entries after the given sequences; matches without new entries are left out."""
        return await self._inner.behind(after)

    async def listen(self, heard: Callable[[Announcement], None], began: Callable[[], None]) -> None:
        """Call `heard` for every append by any process after `began`, until the connection ends."""
        await self._inner.listen(heard, began)

    async def lobby(self) -> dict[str, bytes]:
        """The summaries of all matches that the lobby lists."""
        return await self._inner.lobby()

    async def summary(self, match_id: str) -> bytes | None:
        """The lobby summary of one match; None if the lobby does not list it."""
        return await self._inner.summary(match_id)

    async def summaries(self, match_ids: Sequence[str]) -> dict[str, bytes]:
        """The lobby summaries of these matches."""
        return await self._inner.summaries(match_ids)

    async def lobby_parts(self, parts: Sequence[int]) -> dict[str, bytes]:
        """The summaries of all matches in some parts of the lobby."""
        return await self._inner.lobby_parts(parts)

    @property
    def parts(self) -> int:
        """The number of parts of the lobby."""
        return self._inner.parts

    async def lengths(self, match_ids: Sequence[str]) -> dict[str, int]:
        """The number of entries in each of these logs."""
        return await self._inner.lengths(match_ids)

    async def unlist(self, match_id: str) -> None:
        """Remove a match from the lobby."""
        await self._inner.unlist(match_id)

    async def drop(self, match_id: str) -> None:
        """Remove a match whose log is unreadable from the lobby, and prevent that it is begun again."""
        await self._inner.drop(match_id)

    async def page(self, lists: Sequence[str], before: Place | None, limit: int) -> list[Place]:
        """At most `limit` matches of these lists after a place, the last opened first."""
        return await self._inner.page(lists, before, limit)

    async def counts(self, lists: Sequence[str]) -> list[int]:
        """The number of matches in each of these lists of the index."""
        return await self._inner.counts(lists)

    async def due(self, agenda: str, until_ms: int, limit: int, since_ms: int = 0) -> list[tuple[str, int]]:
        """At most `limit` matches of an agenda that may be due in this span, each with its due time."""
        return await self._inner.due(agenda, until_ms, limit, since_ms)

    async def put_off(self, agenda: str, match_id: str, was_ms: int, due_ms: int) -> None:
        """Move the due time of a match, unless it is no longer `was_ms`."""
        await self._inner.put_off(agenda, match_id, was_ms, due_ms)

    async def differing(self, part: int, now_ms: int) -> list[str]:
        """The matches of one part of the lobby whose index row is wrong or missing."""
        return await self._inner.differing(part, now_ms)

    async def reindex(self, rows: Mapping[str, tuple[bytes, IndexRow]], now_ms: int) -> None:
        """Write the index rows of these matches, unless their lobby summary has changed."""
        await self._inner.reindex(rows, now_ms)

    async def has_index(self) -> bool:
        """Whether the index is marked as complete."""
        return await self._inner.has_index()

    async def mark_index(self, *, whole: bool) -> None:
        """Mark the index as complete, or as one that has to be rebuilt."""
        await self._inner.mark_index(whole=whole)

    async def now_ms(self) -> int:
        """The store's clock in Unix milliseconds."""
        return await self._inner.now_ms()

    async def beat(self, now_ms: int) -> None:
        """Record that a service is alive at this time."""
        await self._inner.beat(now_ms)

    async def last_beat(self) -> int | None:
        """When a service last recorded that it is alive; None if none ever did."""
        return await self._inner.last_beat()

    async def lease(self, holder: str, lease_ms: int) -> bool:
        """Request or renew the sweeper's lease; returns whether this holder has it."""
        return await self._inner.lease(holder, lease_ms)

    async def reserve(self, holder: str, match_id: str, quotas: Sequence[Quota]) -> Reserved | Full:
        """Give a match a place in each of these books of a holder, or in none of them."""
        return await self._inner.reserve(holder, match_id, quotas)

    async def reserved(self, holder: str, book: str) -> dict[str, int]:
        """The matches that have a place in a book, each with the `until_ms` of its reservation."""
        return await self._inner.reserved(holder, book)

    async def settle(self, holder: str, books: Sequence[str], match_id: str, until_ms: int) -> None:
        """Settle a reservation: its operation has happened."""
        await self._inner.settle(holder, books, match_id, until_ms)

    async def release(self, holder: str, books: Sequence[str], places: Mapping[str, int]) -> None:
        """Remove the places of these matches, unless reserved again or settled since."""
        await self._inner.release(holder, books, places)

    async def free(self, holder: str, book: str, match_ids: Sequence[str]) -> None:
        """Remove the places of these matches, also settled ones."""
        await self._inner.free(holder, book, match_ids)

    async def draw(self, bucket: str, most: int, per_ms: int) -> int:
        """Take one token from a bucket; returns 0, or the milliseconds to wait."""
        return await self._inner.draw(bucket, most, per_ms)

    async def keep(self, name: str, value: bytes, for_ms: int) -> None:
        """Store a value under a name for `for_ms`, or until `take` removes it."""
        await self._inner.keep(name, value, for_ms)

    async def take(self, name: str) -> bytes | None:
        """Remove and return the value stored under a name, or None; of concurrent callers one gets it."""
        return await self._inner.take(name)

    async def close(self) -> None:
        """Close all connections after the appends under way have finished."""
        await self._inner.close()
