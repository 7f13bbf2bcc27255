"""A log that reads finished matches from an archive, transparently for its callers.

A trimmed stream keeps its head, and the archive supplies its entries; for a stream that has expired the archive
supplies both. Entries from the archive equal those of the store byte for byte, including private parts.
"""

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import Any, Final, Protocol

from cachetools import LRUCache
from google.protobuf.message import DecodeError

from rollbook.match.chain import Entry, link
from rollbook.replay_file.container import NotAReplay, Replay, Stored, read
from rollbook.storage.archive.port import Archive, ArchiveUnavailable
from rollbook.storage.port import AppendResult, Conflict, EventLog
from rollbook.v1.events_pb2 import Event, Private

PAGE: Final = 1_000
MOST_KEPT: Final = 32
"""Cache size: archived matches whose entries are kept in memory."""


class Index(Protocol):
    """A local index of the archive."""

    is_complete: bool
    """Whether the index has been compared with the archive."""

    def find(self, match_id: str) -> object | None:
        """The index entry of a match; None if it is not in the archive, as far as the index shows."""


class ArchivedLog:
    """The log of a store, and an archive for the matches that the store has trimmed."""

    def __init__(self, store: EventLog, archive: Archive | None, index: Index | None = None) -> None:
        """Without `archive`, trimmed matches cannot be read.

        With `index`, the archive is not asked for a match that is neither in the store nor in the index, so that
        opening a match needs no archive.
        """
        self.behind, self.listen = store.behind, store.listen
        self.index = index
        self.store = store
        self.archive = archive
        self._kept: LRUCache[str, list[Entry]] = LRUCache(MOST_KEPT)

    def append(
        self, match_id: str, expected: int, entries: Sequence[Entry], **terms: Any
    ) -> Coroutine[Any, Any, AppendResult]:
        """Append to the store; refuse to begin a match that is in the archive."""
        begin = self._begin if expected == 0 else self.store.append
        return begin(match_id, expected, entries, **terms)

    async def read(self, match_id: str, after: int = 0, limit: int = 1_000) -> list[Entry]:
        """At most `limit` entries after `after`, in order; empty if there are none."""
        entries = await self.store.read(match_id, after, limit)
        if entries or limit <= 0:
            return entries
        head = await self.store.head(match_id)
        if 0 < head <= after or (not head and await self._is_unknown(match_id)):
            return []
        archived = await self._read_archived(match_id)
        if archived is None and head:
            # Entries may have been appended between the two reads of the store.
            entries = await self.store.read(match_id, after, limit)
            if not entries:
                raise ArchiveUnavailable("the match was archived, and the archive does not have it")
            return entries
        return [] if archived is None else archived[after : after + limit]

    async def head(self, match_id: str) -> int:
        """The sequence of the last entry; 0 if the match does not exist."""
        head = await self.store.head(match_id)
        if head or await self._is_unknown(match_id):
            return head
        return len(await self._read_archived(match_id) or ())

    async def _begin(self, match_id: str, expected: int, entries: Sequence[Entry], **terms: Any) -> AppendResult:
        """Append event 1. This needs no archive: the store remembers a match for a week, and the index for good."""
        with suppress(ArchiveUnavailable):
            if head := await self.head(match_id):
                return Conflict(head)
        return await self.store.append(match_id, expected, entries, **terms)

    async def _is_unknown(self, match_id: str) -> bool:
        index = self.index
        return index is not None and index.is_complete and await asyncio.to_thread(index.find, match_id) is None

    async def file(self, match_id: str) -> bytes | None:
        """The file of a match from the archive; None if there is none, or no archive."""
        return None if self.archive is None else await self.archive.get(match_id)

    async def _read_archived(self, match_id: str) -> list[Entry] | None:
        if match_id in self._kept:
            return self._kept[match_id]
        data = await self.file(match_id)
        if data is None:
            return None
        try:
            entries = await asyncio.to_thread(lambda: entries_of(whole(data, match_id)))
        except NotAReplay as broken:
            raise ArchiveUnavailable(f"the file of match {match_id} in the archive is broken: {broken}") from broken
        self._kept[match_id] = entries
        return entries


async def whole_log(log: EventLog, match_id: str) -> list[Entry]:
    """All entries of a match."""
    entries: list[Entry] = []
    while page := await log.read(match_id, len(entries), PAGE):
        entries += page
    return entries


def whole(data: bytes, match_id: str) -> Stored:
    """Parse the complete file of this match; raises NotAReplay if the seal is missing or the footer is wrong."""
    stored = read(data)
    replay = stored.replay
    if replay.match_id != match_id:
        raise NotAReplay(f"it holds match {replay.match_id}")
    if (len(replay.events), link(replay.events[-1])) != (stored.count, stored.last_link):
        raise NotAReplay("its footer is not that of its events")
    try:
        ended = Event.FromString(replay.events[-1]).HasField("sealed")
    except DecodeError:
        ended = False
    if not ended:
        raise NotAReplay("it does not hold the end of the match")
    return stored


def entries_of(stored: Stored) -> list[Entry]:
    """The log entries of an archived match; its secret moves from the seal back to the private part of event 1."""
    replay: Replay = stored.replay
    secret = Event.FromString(replay.events[-1]).sealed.secret
    private = {1: Private(secret=secret).SerializeToString(deterministic=True), **replay.private}
    return [Entry(event, private.get(number, b"")) for number, event in enumerate(replay.events, start=1)]
