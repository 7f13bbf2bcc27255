"""The lobby of a store, and its index: sorted sets that find matches without reading the whole lobby.

On one server a single index covers all partitions. In a cluster each partition has its own index, in its slot, so that
one script can change match, lobby and index. The index is derived: errors in it are repaired, and it is rebuilt if its
mark is missing.
"""

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from heapq import merge, nlargest
from importlib.resources import files
from itertools import islice
from math import ceil
from typing import Any, Final

import structlog
from cachetools import LRUCache
from redis.exceptions import ClusterCrossSlotError

from rollbook.storage.port import IndexRow, Place, StoreUnavailable
from rollbook.storage.redis.books import Books
from rollbook.storage.redis.dispatch import Dispatch, KeyMisused
from rollbook.storage.redis.keys import INDEX, index_key, lobby_key, partition_of, rows_key, stream_key

INDEX_FORMAT: Final = b"1"
"""The mark of a complete index; an index with another mark is rebuilt."""

_MOST_SAID: Final = 1_000
"""Cache size: broken parts of the lobby that were logged, so that each is logged once."""
_LONGEST_SHOWN: Final = 100

_PLACE_DIGITS: Final = 16
_ID_BEGINS: Final = {b"list": _PLACE_DIGITS, b"due": 0}
"""Offset of the match id in a member of a list or an agenda."""
_FEW: Final = 3
"""How many matches are requested at first from each list of a partition, beyond twice its share of the page."""
_NONE: Final = "-"
_SCANNED_AT_ONCE: Final = 500


def _script(name: str) -> bytes:
    return files("rollbook.storage.redis").joinpath(f"{name}.lua").read_bytes()


_SHARED: Final = _script("index")
_UNLIST: Final = _SHARED + _script("unlist")
_RELIST: Final = _SHARED + _script("relist")
_REINDEX: Final = _SHARED + _script("reindex")
_COMPARE: Final = _SHARED + _script("compare")
_STRAYS: Final = _SHARED + _script("strays")
_DROP: Final = _SHARED + _script("drop")
_PUT_OFF: Final = _script("put_off")

_PAGE: Final = _script("page")
_COUNTS: Final = _script("counts")

_CROSS_SLOT: Final = "CROSSSLOT"

_logger = structlog.get_logger()


class LobbyIndex(Books):
    """The lobby and its index in the partitions of a store."""

    def __init__(self, dispatch: Dispatch, partitions: int, *, cluster: bool) -> None:
        """In a cluster every partition has its own index."""
        super().__init__(dispatch, partitions)
        self._said: LRUCache[tuple[bytes, bytes], bool] = LRUCache(_MOST_SAID)
        self._has_slots = cluster
        self._was_whole = False
        """Whether the last look at the marks of the index found all of them."""
        self._looks = 0

    @property
    def parts(self) -> int:
        """The number of parts of the lobby."""
        return self._partitions

    @property
    def index_parts(self) -> int:
        """The number of parts of the index that every query asks."""
        return len(self._shards)

    # The lobby

    async def lobby(self) -> dict[str, bytes]:
        """The summaries of all matches that the lobby lists."""
        return await self.lobby_parts(range(self._partitions))

    async def lobby_parts(self, parts: Sequence[int]) -> dict[str, bytes]:
        """The summaries of all matches in some parts of the lobby."""
        keys = [lobby_key(part) for part in parts]
        answers = await self._dispatch.ask_all([(key, ("HGETALL", key)) for key in keys])
        listed: dict[str, bytes] = {}
        for part, key, answer in zip(parts, keys, answers, strict=True):
            if isinstance(answer, KeyMisused):
                self._say(key, b"", "a part of the lobby cannot be read")
                continue
            for match_id, summary in zip(answer[::2], answer[1::2], strict=True):
                name = match_id.decode(errors="replace")
                if self._partition(name) == part:
                    listed[name] = summary
                else:
                    self._say(key, match_id, "a part of the lobby lists a match of another part")
        return listed

    async def summary(self, match_id: str) -> bytes | None:
        """The lobby summary of one match; None if the lobby does not list it."""
        key = lobby_key(self._partition(match_id))
        summary: bytes | None = await self._dispatch.ask(key, "HGET", key, match_id)
        return summary

    async def summaries(self, match_ids: Sequence[str]) -> dict[str, bytes]:
        """The lobby summaries of these matches; those that the lobby does not list are left out."""
        keys = [lobby_key(self._partition(match_id)) for match_id in match_ids]
        commands = [(key, ("HGET", key, match_id)) for key, match_id in zip(keys, match_ids, strict=True)]
        answers = await self._dispatch.ask_all(commands)
        found = zip(match_ids, answers, strict=True)
        return {match_id: summary for match_id, summary in found if isinstance(summary, bytes)}

    async def lengths(self, match_ids: Sequence[str]) -> dict[str, int]:
        """The number of entries in each of these logs; a key that is not a stream is left out."""
        keys = [stream_key(match_id, self._partitions) for match_id in match_ids]
        answers = await self._dispatch.ask_all([(key, ("XLEN", key)) for key in keys])
        found = zip(match_ids, answers, strict=True)
        return {match_id: length for match_id, length in found if isinstance(length, int)}

    async def unlist(self, match_id: str) -> None:
        """Remove a match from the lobby."""
        partition = self._partition(match_id)
        keys = [lobby_key(partition), self._rows(partition)]
        await self._run(_UNLIST, keys, self._base(partition), match_id)

    async def drop(self, match_id: str) -> None:
        """Remove a match whose log is unreadable from the lobby, and prevent that it is begun again."""
        partition = self._partition(match_id)
        keys = [stream_key(match_id, self._partitions), lobby_key(partition), self._rows(partition)]
        await self._run(_DROP, keys, match_id, self._base(partition))

    async def relist(self, match_id: str, instead_of: bytes, summary: bytes, row: IndexRow) -> bool:
        """Replace lobby summary and index row of a match; returns False if the summary is no longer `instead_of`."""
        partition = self._partition(match_id)
        keys = [lobby_key(partition), self._rows(partition)]
        arguments = self._base(partition), match_id, instead_of, summary, _write_row(match_id, row), row.due_ms
        return bool(await self._run(_RELIST, keys, *arguments))

    # Queries of the index

    async def page(self, lists: Sequence[str], before: Place | None, limit: int) -> list[Place]:
        """At most `limit` matches of these lists after a place, each once, the last opened first.

        Of many lists each is first asked for a few matches, and for more only if all of these are on the page.
        """
        begins: dict[int, dict[bytes, bytes]] = {}
        for shard in self._shards:
            keys = (index_key(self._base(shard), "list", name) for name in lists)
            begins[shard] = dict.fromkeys(keys, b"+" if before is None else b"(" + _member(*before))
        many = limit if len(begins) == 1 else min(limit, _FEW + 2 * ceil(limit / len(begins)))
        found: set[bytes] = set()
        while begins:
            ends = await self._next(begins, many)
            found.update(member for _, _, members in ends for member in members)
            last = min(nlargest(limit, found)) if len(found) >= limit else b""
            begins = {}
            for shard, key, members in ends:
                if len(members) == many and members[-1] > last:
                    begins.setdefault(shard, {})[key] = b"(" + members[-1]
            many = limit
        places = map(_place, nlargest(limit, found))
        return [place for place in places if place is not None]

    async def _next(
        self, begins: Mapping[int, Mapping[bytes, bytes]], many: int
    ) -> list[tuple[int, bytes, Sequence[bytes]]]:
        """The next `many` members of each list from its place on, with partition and key."""
        commands: list[tuple[bytes, Any]] = [
            (next(iter(keys)), ("EVAL", _PAGE, len(keys), *keys, many, *keys.values())) for keys in begins.values()
        ]
        found: list[tuple[int, bytes, Sequence[bytes]]] = []
        for (shard, keys), answer in zip(begins.items(), await self._ask_index(commands), strict=True):
            if 0 in answer:
                await self.mark_index(whole=False)
            found += ((shard, key, members or ()) for key, members in zip(keys, answer, strict=True))
        return found

    async def counts(self, lists: Sequence[str]) -> list[int]:
        """The number of matches in each of these lists."""
        commands: list[tuple[bytes, Any]] = []
        for shard in self._shards:
            keys = [index_key(self._base(shard), "list", name) for name in lists]
            commands.append((keys[0], ("EVAL", _COUNTS, len(keys), *keys)))
        answers = await self._ask_index(commands)
        if any(not isinstance(count, int) for answer in answers for count in answer):
            await self.mark_index(whole=False)
        return [sum(count for count in counts if isinstance(count, int)) for counts in zip(*answers, strict=True)]

    async def due(self, agenda: str, until_ms: int, limit: int, since_ms: int = 0) -> list[tuple[str, int]]:
        """At most `limit` matches of an agenda that may be due in this span, each with its due time, earliest first."""
        keys = [index_key(self._base(shard), "due", agenda) for shard in self._shards]
        span = since_ms, until_ms, "WITHSCORES", "LIMIT", 0, limit
        answers = await self._ask_index([(key, ("ZRANGEBYSCORE", key, *span)) for key in keys])
        found = merge(*[zip(map(int, map(float, answer[1::2])), answer[::2], strict=True) for answer in answers])
        return [(name.decode(errors="replace"), due_ms) for due_ms, name in islice(found, limit)]

    async def put_off(self, agenda: str, match_id: str, was_ms: int, due_ms: int) -> None:
        """Move the due time of a match, unless it is no longer `was_ms`."""
        key = index_key(self._base(self._partition(match_id)), "due", agenda)
        try:
            await self._run(_PUT_OFF, [key], match_id, was_ms, due_ms)
        except KeyMisused:
            await self.mark_index(whole=False)

    # Maintenance of the index

    async def differing(self, part: int, now_ms: int) -> list[str]:
        """The matches of a part of the lobby whose index row is wrong or missing, or which only the index has."""
        keys = [lobby_key(part), self._rows(part)]
        try:
            found = await self._dispatch.ask(keys[0], "EVAL", _COMPARE, len(keys), *keys, self._base(part), now_ms)
        except KeyMisused:
            self._say(keys[0], b"", "a part of the lobby cannot be read")
            return []
        names = [name.decode(errors="replace") for name in found]
        return [name for name in names if self._partition(name) == part]

    async def reindex(self, rows: Mapping[str, tuple[bytes, IndexRow]], now_ms: int) -> None:
        """Write the index rows of these matches, unless their lobby summary has changed; an empty one removes them."""
        by_part: dict[int, list[bytes | str | int]] = {}
        for match_id, (summary, row) in rows.items():
            arguments = by_part.setdefault(self._partition(match_id), [])
            arguments += match_id, summary, _write_row(match_id, row), row.due_ms
        for part, arguments in by_part.items():
            await self._run(_REINDEX, [lobby_key(part), self._rows(part)], self._base(part), now_ms, *arguments)

    async def has_index(self) -> bool:
        """Whether the index is marked as complete.

        `mark_index` changes the marks of all partitions. So after all of them were found, one is read at each call, a
        different one every time.
        """
        shards = [self._shards[self._looks % len(self._shards)]] if self._was_whole else self._shards
        self._looks += 1
        keys = [index_key(self._base(shard), "made") for shard in shards]
        answers = await self._dispatch.ask_all([(key, ("GET", key)) for key in keys])
        self._was_whole = all(answer == INDEX_FORMAT for answer in answers)
        return self._was_whole

    async def mark_index(self, *, whole: bool) -> None:
        """Mark the index as complete, or as one that has to be rebuilt."""
        keys = [index_key(self._base(shard), "made") for shard in self._shards]
        commands = [(key, ("SET", key, INDEX_FORMAT) if whole else ("DEL", key)) for key in keys]
        self._was_whole = False
        await self._dispatch.ask_all(commands, appends=True)

    async def strays(self) -> Counter[str]:
        """Number of places by match in lists and agendas that its row does not name; `differing` finds missing ones.

        One script compares rows and places, so that concurrent changes are not reported.
        """
        found: set[tuple[str, bytes]] = set()
        async for keys in self._index_keys():
            for key in keys:
                found.update((match_id, key) for match_id in await self._strays_in(key))
        return Counter(match_id for match_id, _ in found)

    async def _strays_in(self, key: bytes) -> set[str]:
        """The matches with a place in this list or agenda that their row does not name; empty for any other key."""
        base, _, rest = key.partition(INDEX)
        kind, _, name = rest.partition(b":")
        found: set[str] = set()
        if kind not in _ID_BEGINS:
            return found
        async for members in self._members(key):
            places: dict[bytes, list[bytes]] = {}
            for member in members:
                match_id = member[_ID_BEGINS[kind] :]
                rows = rows_key(base + INDEX, self._partition(match_id.decode(errors="replace")))
                places.setdefault(rows, []).extend((match_id, member))
            scripts = [(key, ("EVAL", _STRAYS, 2, key, rows, kind, name, *those)) for rows, those in places.items()]
            for strays in await self._ask_index(scripts):
                found.update(match_id.decode(errors="replace") for match_id in strays)
        return found

    async def _members(self, key: bytes) -> AsyncIterator[Sequence[bytes]]:
        """The members of a sorted set in slices; a member may come twice."""
        cursor: bytes | None = None
        while cursor != b"0":
            (answer,) = await self._ask_index([(key, ("ZSCAN", key, cursor or b"0", "COUNT", _SCANNED_AT_ONCE))])
            cursor, scanned = answer or (b"0", ())
            yield scanned[::2]

    async def erase_index(self) -> None:
        """Delete the whole index."""
        await self.mark_index(whole=False)
        async for keys in self._index_keys():
            await self._dispatch.ask_all([(key, ("DEL", key)) for key in keys], appends=True)

    async def _index_keys(self) -> AsyncIterator[list[bytes]]:
        for server in await self._dispatch.servers.every():
            cursor: Any = b"0"
            while True:
                scan = ("SCAN", cursor, "MATCH", b"*" + INDEX + b"*", "COUNT", _SCANNED_AT_ONCE)
                ((cursor, keys),) = await server.reads.converse([scan])
                yield [key for key in keys if key.startswith(tuple(self._bases()))]
                if cursor == b"0":
                    break

    async def _settle_index(self) -> None:
        """Find out by a script whether one script may touch all partitions; this also works behind a proxy."""
        if not self._has_slots:
            keys = lobby_key(0), lobby_key(1)
            try:
                await self._dispatch.ask(keys[0], "EVAL", b"return 1", len(keys), *keys, appends=True)
            except StoreUnavailable as refusal:
                if not isinstance(refusal.__cause__, ClusterCrossSlotError) and _CROSS_SLOT not in str(refusal):
                    raise
                self._has_slots = True

    async def _ask_index(self, commands: Sequence[tuple[bytes, Any]]) -> list[Any]:
        """The answers, empty for keys of the wrong type; in that case the index is marked for a rebuild."""
        answers = await self._dispatch.ask_all(commands)
        if any(isinstance(answer, KeyMisused) for answer in answers):
            await self.mark_index(whole=False)
        return [() if isinstance(answer, KeyMisused) else answer for answer in answers]

    @property
    def _shards(self) -> range:
        """One partition for each index."""
        return range(self._partitions if self._has_slots else 1)

    def _base(self, partition: int) -> bytes:
        return index_key(partition if self._has_slots else None)

    def _bases(self) -> Iterable[bytes]:
        return (self._base(shard) for shard in self._shards)

    def _rows(self, partition: int) -> bytes:
        return rows_key(self._base(partition), partition)

    def _partition(self, match_id: str) -> int:
        return partition_of(match_id, self._partitions)

    def _say(self, key: bytes, field: bytes, what: str) -> None:
        """Log a broken lobby key, or field of it, once."""
        if (key, field) not in self._said:
            self._said[key, field] = True
            _logger.error(what, key=repr(key), field=repr(field[:_LONGEST_SHOWN]))


def index_arguments(base: bytes, match_id: str, row: IndexRow | None) -> Iterable[bytes]:
    """The arguments with which the append script updates the index."""
    if row is None:
        return base, b"", b""
    return base, _write_row(match_id, row), b"%d" % row.due_ms


def _member(opened_ms: int, match_id: str) -> bytes:
    """The member of a match in lists; members sort by time, because it comes first in digits of fixed width."""
    return b"%0*x%b" % (_PLACE_DIGITS, opened_ms, match_id.encode())


def _place(member: bytes) -> Place | None:
    try:
        return int(member[:_PLACE_DIGITS], 16), member[_PLACE_DIGITS:].decode()
    except ValueError:
        return None


def _write_row(match_id: str, row: IndexRow) -> bytes:
    lines = [row.agenda or _NONE, str(row.longest_ms), *row.lists]
    return b"\n".join([_member(row.opened_ms, match_id), *(line.encode() for line in lines)])
