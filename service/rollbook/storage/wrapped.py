"""A log in front of another one: what it does not do itself it passes on."""

from collections.abc import Callable, Mapping, Sequence

from rollbook.match.chain import Entry
from rollbook.storage.port import Announcement, Full, IndexRow, Log, Place, Quota, Reserved


class WrappedLog:
    """Passes every call of the port on but `append`, which is what a log is put in front for."""

    def __init__(self, inner: Log) -> None:
        self._inner = inner

    async def read(self, match_id: str, after: int = 0, limit: int = 1_000) -> list[Entry]:
        """The entries behind `after`, at most so many, in order; none if there are none."""
        return await self._inner.read(match_id, after, limit)

    async def head(self, match_id: str) -> int:
        """The sequence of the last entry; 0 if the match does not exist."""
        return await self._inner.head(match_id)

    async def behind(self, after: Mapping[str, int]) -> dict[str, list[Entry]]:
        """Entries behind the given sequences, of the matches that have any."""
        return await self._inner.behind(after)

    async def listen(self, heard: Callable[[Announcement], None], began: Callable[[], None]) -> None:
        """Call `heard` with what anybody appends from `began` on, until that ends."""
        await self._inner.listen(heard, began)

    async def lobby(self) -> dict[str, bytes]:
        """The summaries of all matches that the lobby lists."""
        return await self._inner.lobby()

    async def summary(self, match_id: str) -> bytes | None:
        """What the lobby says of one match; nothing if it does not list it."""
        return await self._inner.summary(match_id)

    async def summaries(self, match_ids: Sequence[str]) -> dict[str, bytes]:
        """What the lobby says of these matches."""
        return await self._inner.summaries(match_ids)

    async def lobby_parts(self, parts: Sequence[int]) -> dict[str, bytes]:
        """The summaries of all matches in some parts of the lobby."""
        return await self._inner.lobby_parts(parts)

    @property
    def parts(self) -> int:
        """In how many parts the lobby lies."""
        return self._inner.parts

    async def lengths(self, match_ids: Sequence[str]) -> dict[str, int]:
        """How many entries each of these logs has now."""
        return await self._inner.lengths(match_ids)

    async def unlist(self, match_id: str) -> None:
        """Take a match out of the lobby."""
        await self._inner.unlist(match_id)

    async def drop(self, match_id: str) -> None:
        """Take a match out of the lobby of whose log nothing can be read, and keep it from being begun again."""
        await self._inner.drop(match_id)

    async def page(self, lists: Sequence[str], before: Place | None, limit: int) -> list[Place]:
        """So many matches of these lists of the index."""
        return await self._inner.page(lists, before, limit)

    async def counts(self, lists: Sequence[str]) -> list[int]:
        """How many matches each of these lists of the index has."""
        return await self._inner.counts(lists)

    async def due(self, agenda: str, until_ms: int, limit: int, since_ms: int = 0) -> list[tuple[str, int]]:
        """So many matches of an agenda that may be due in that time, and when."""
        return await self._inner.due(agenda, until_ms, limit, since_ms)

    async def put_off(self, agenda: str, match_id: str, was_ms: int, due_ms: int) -> None:
        """Something is due at another time."""
        await self._inner.put_off(agenda, match_id, was_ms, due_ms)

    async def differing(self, part: int, now_ms: int) -> list[str]:
        """The matches of a part of the lobby of which the index says something else."""
        return await self._inner.differing(part, now_ms)

    async def reindex(self, rows: Mapping[str, tuple[bytes, IndexRow]], now_ms: int) -> None:
        """Index these matches by what the lobby said."""
        await self._inner.reindex(rows, now_ms)

    async def has_index(self) -> bool:
        """Whether the index is whole, as far as anybody knows."""
        return await self._inner.has_index()

    async def mark_index(self, *, whole: bool) -> None:
        """Say that the index is whole, or that it has to be made anew."""
        await self._inner.mark_index(whole=whole)

    async def now_ms(self) -> int:
        """The store's own clock."""
        return await self._inner.now_ms()

    async def beat(self, now_ms: int) -> None:
        """Say that a service is alive now."""
        await self._inner.beat(now_ms)

    async def last_beat(self) -> int | None:
        """When a service last said that it is alive."""
        return await self._inner.last_beat()

    async def lease(self, holder: str, lease_ms: int) -> bool:
        """Whether this holder sweeps, for so long from now on."""
        return await self._inner.lease(holder, lease_ms)

    async def reserve(self, holder: str, match_id: str, quotas: Sequence[Quota]) -> Reserved | Full:
        """Give a match a place in each of these books of a holder, or in none of them."""
        return await self._inner.reserve(holder, match_id, quotas)

    async def reserved(self, holder: str, book: str) -> dict[str, int]:
        """The matches that have a place."""
        return await self._inner.reserved(holder, book)

    async def settle(self, holder: str, books: Sequence[str], match_id: str, until_ms: int) -> None:
        """What the place was reserved for has happened."""
        await self._inner.settle(holder, books, match_id, until_ms)

    async def release(self, holder: str, books: Sequence[str], places: Mapping[str, int]) -> None:
        """Take the places of these matches back."""
        await self._inner.release(holder, books, places)

    async def free(self, holder: str, book: str, match_ids: Sequence[str]) -> None:
        """Take the places of these matches back, however they were reserved."""
        await self._inner.free(holder, book, match_ids)

    async def draw(self, bucket: str, most: int, per_ms: int) -> int:
        """Take one out of a bucket, or say how long to wait."""
        return await self._inner.draw(bucket, most, per_ms)

    async def keep(self, name: str, value: bytes, for_ms: int) -> None:
        """Keep something by a name for so long, unless it is taken before."""
        await self._inner.keep(name, value, for_ms)

    async def take(self, name: str) -> bytes | None:
        """What is kept by a name, which is gone then: of many who take it one gets it."""
        return await self._inner.take(name)

    async def close(self) -> None:
        """Let go of connections; appends under way finish first."""
        await self._inner.close()
