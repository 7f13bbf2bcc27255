"""Waiting for entries of many matches: reads that the servers hold back until there is something.

Matches are grouped by what one read may name: in a cluster one partition, and nowhere more than MOST_KEYS. As soon as
one read is answered, the wait is over; the other reads stay under way, and the next wait takes them over where they
still fit. So in steady state a new entry costs one new read, however many matches are watched.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from rollbook.match.chain import Entry
from rollbook.storage.port import StoreUnavailable
from rollbook.storage.redis.masters import MOST_BLOCK_SECONDS

MOST_KEYS: Final = 500
"""How many matches one read names."""

Found: TypeAlias = dict[str, list[Entry]]
Group: TypeAlias = tuple[int, int]
Look: TypeAlias = Callable[[Mapping[str, int], float], Awaitable[Found]]
"""Entries behind the given sequences, which the server may hold back for so many seconds; 0: not at all."""


@dataclass(frozen=True, slots=True)
class _Read:
    """A read under way, and behind which sequences it reads."""

    asked: Mapping[str, int]
    task: asyncio.Task[Found]

    def answers(self, after: Mapping[str, int]) -> bool:
        """Whether everything that is behind these sequences will be in its answer."""
        return all(match_id in self.asked and self.asked[match_id] <= after[match_id] for match_id in after)

    def found(self, after: Mapping[str, int]) -> Found:
        """What its answer has behind these sequences."""
        found = {}
        for match_id, entries in self.task.result().items():
            new = entries[after[match_id] - self.asked[match_id] :] if match_id in after else []
            # A match that comes without any entry has a hole.
            if new or (match_id in after and not entries):
                found[match_id] = new
        return found


class Tails:
    """The reads under way of one log."""

    def __init__(self, look: Look, bucket: Callable[[str], int], *, by_bucket: bool) -> None:
        """Read with `look`; matches of different buckets may share a read unless it goes `by_bucket`."""
        self._look = look
        self._bucket = bucket
        self._by_bucket = by_bucket
        self._idle: dict[Group, _Read] = {}
        self._under_way: set[asyncio.Task[Found]] = set()
        self._closed = False

    async def wait(self, after: Mapping[str, int], timeout_seconds: float) -> Found:
        """Entries behind the given sequences, of the matches that have any; none of them after the time-out."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_seconds
        groups = self._groups(after)
        reads: dict[Group, _Read] = {}
        own: set[Group] = set()
        if not groups:
            await asyncio.sleep(max(timeout_seconds, 0))
        try:
            while True:
                left = deadline - loop.time()
                for group, wanted in groups.items():
                    if group not in reads and (left > 0 or group not in own):
                        taken = self._take(group, wanted) if left > 0 else None
                        reads[group] = taken or self._begin(wanted, min(max(left, 0), MOST_BLOCK_SECONDS))
                        own.add(group) if taken is None else own.discard(group)
                if not reads:
                    return {}
                # A read of our own comes back in time by itself; one that was taken over may be held back for longer.
                limit = None if own & reads.keys() else max(left, 0)
                tasks = {read.task for read in reads.values()}
                await asyncio.wait(tasks, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
                found = self._gather(reads, groups)
                if found or (limit is not None and loop.time() >= deadline):
                    return found
        finally:
            for group, read in reads.items():
                self._leave(group, read)

    async def close(self) -> None:
        """Give up all reads; who waits is told so."""
        self._closed = True
        self._idle.clear()
        left = list(self._under_way)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    def _groups(self, after: Mapping[str, int]) -> dict[Group, dict[str, int]]:
        """The matches of each read. Few buckets change their groups when one match more is watched."""
        buckets = 1
        while not self._by_bucket and buckets * MOST_KEYS < 2 * len(after) and len(after) > MOST_KEYS:
            buckets *= 2
        by_bucket: dict[int, list[str]] = {}
        for match_id in sorted(after):
            bucket = self._bucket(match_id)
            by_bucket.setdefault(bucket if self._by_bucket else bucket % buckets, []).append(match_id)
        return {
            (bucket, start): {match_id: after[match_id] for match_id in matches[start : start + MOST_KEYS]}
            for bucket, matches in by_bucket.items()
            for start in range(0, len(matches), MOST_KEYS)
        }

    def _take(self, group: Group, wanted: Mapping[str, int]) -> _Read | None:
        read = self._idle.pop(group, None)
        if read is not None and not (read.answers(wanted) and not _failed(read.task)):
            read.task.cancel()
            return None
        return read

    def _begin(self, wanted: Mapping[str, int], hold_seconds: float) -> _Read:
        if self._closed:
            raise StoreUnavailable("this log has been closed")
        task = asyncio.ensure_future(self._look(wanted, hold_seconds))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        task.add_done_callback(_failed)
        return _Read(wanted, task)

    def _leave(self, group: Group, read: _Read) -> None:
        if self._closed or group in self._idle:
            read.task.cancel()
        else:
            self._idle[group] = read

    def _gather(self, reads: dict[Group, _Read], groups: Mapping[Group, Mapping[str, int]]) -> Found:
        found: Found = {}
        for group in [group for group, read in reads.items() if read.task.done()]:
            read = reads.pop(group)
            if read.task.cancelled():
                raise StoreUnavailable("this log has been closed")
            found |= read.found(groups[group])
        return found


def _failed(task: asyncio.Task[Found]) -> bool:
    """Whether a read came to nothing; looking keeps asyncio from complaining that nobody did."""
    return task.done() and (task.cancelled() or task.exception() is not None)
