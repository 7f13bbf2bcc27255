"""Moves finished matches into the archive without losing one.

A sealed match stays in the lobby until all steps are done: its file is written, synced, read back and compared with the
log byte for byte, the index updated, the stream trimmed. After a crash the match is still in the lobby and the
remaining steps are done. Doing a step twice, or in two processes at once, has no effect.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import structlog

from rollbook.files import Step, no_step
from rollbook.identity.references import is_match_id
from rollbook.identity.service_keys import SigningKey
from rollbook.match.chain import Entry, HeadKeys, Position
from rollbook.replay_file.container import NotAReplay, write
from rollbook.server.health.metrics import Metrics
from rollbook.server.lobby.finished_matches import UNKNOWN, Finished
from rollbook.server.lobby.index_rows import ARCHIVE, OVER, list_of
from rollbook.server.lobby.listed_match import ListedMatch
from rollbook.server.lobby.lobby import StoredLobby
from rollbook.server.loops import BackgroundLoop
from rollbook.server.out.replay_export import sealed_replay
from rollbook.server.replica.lost_logs import LostTails
from rollbook.storage.archive.log import ArchivedLog, entries_of, whole, whole_log
from rollbook.storage.archive.marker import OtherArchive, open_archive, settle
from rollbook.storage.archive.port import Archive, ArchiveUnavailable
from rollbook.storage.port import Archivable, IndexedLobby, IndexRow, StoreUnavailable
from rollbook.v1.events_pb2 import Event

LOOK_SECONDS: Final = 5.0
COMPARE_LOOKS: Final = 12
"""Looks between two comparisons of index and archive, as other services also add files to the archive."""

MOST_LEAVING: Final = 1_000
"""Removals from the lobby are noticed at once for this many matches; the comparison finds the others."""

AT_ONCE: Final = 100

SETTLE_SECONDS: Final = 3.0
"""How long the start waits for an archive."""

LACKING_SECONDS: Final = 30
"""How long the store remembers that a process has no access to the archive."""

_logger = structlog.get_logger()


class NotTheSame(Exception):
    """The archive has another match under this id, or returns other bytes than were written."""


class Archivist:
    """Moves sealed matches from the log to the archive."""

    def __init__(  # noqa: PLR0913 - the parts and options of archiving
        self,
        log: ArchivedLog,
        store: IndexedLobby,
        archivable: Archivable,
        *,
        lobby: StoredLobby,
        finished: Finished,
        where: str,
        lost: LostTails,
        head_keys: HeadKeys,
        replay_key: SigningKey,
        metrics: Metrics,
        clock_ms: Callable[[], int],
        after_seconds: int,
        step: Step = no_step,
        is_ours: Callable[[str], bool] = lambda _match_id: True,
    ) -> None:
        """Archive matches at `where`, `after_seconds` after their seal; `is_ours` selects this process's share."""
        self._lobby = lobby
        self._lost = lost
        self._head_keys = head_keys
        self._replay_key = replay_key
        self._metrics = metrics
        self._clock_ms = clock_ms
        self._archived = log
        self._store = store
        self._archivable = archivable
        self._finished = finished
        self._where = where
        self._after_ms = after_seconds * 1_000
        self._step = step
        self._is_ours = is_ours
        self._off: type[Exception] | None = None
        """Why nothing can be archived; None if archiving works."""
        self._looks = 0
        self._failed: dict[str, type[Exception]] = {}
        """Matches that could not be archived and the type of the failure, so that a repeated failure is logged once."""
        self._leaving: set[str] = set()
        """Finished matches in the lobby at the last look."""
        self.loop = BackgroundLoop("archivist", self.look, metrics.loop_failed, LOOK_SECONDS)

    async def start(self) -> None:
        """Archive from now on; waits briefly for the archive, so that archived matches can be read at once."""
        with suppress(TimeoutError):
            async with asyncio.timeout(SETTLE_SECONDS):
                await self.settle()
        self.loop.start()

    async def close(self) -> None:
        """Stop archiving; unfinished steps are done after the next start."""
        await self.loop.close()
        self._finished.close()

    async def look(self) -> None:
        """Archive matches that are due, and periodically compare the index with the archive."""
        due_ms = self._clock_ms() - self._after_ms
        oldest = await self._measure(due_ms)
        # `start` has called `settle` just before the first look.
        if (self._looks or self._archived.archive is None) and not await self.settle():
            return
        if self._looks % COMPARE_LOOKS == 0:
            await self._finished.compare()
        self._looks += 1
        await self._notice_leaving({match_id for match_id, _ in oldest if is_match_id(match_id)})
        if await self._archivable.archive_is_lacked():
            self._turn_off(OtherArchive("another service of this store does not have the archive"))
            return
        self._turn_on()
        if oldest and oldest[0][1] <= due_ms:
            await self._take_all(due_ms)

    async def _measure(self, due_ms: int) -> list[tuple[str, int]]:
        """Measure how many matches wait, and for how long the oldest should have been archived; returns the oldest."""
        oldest = await self._store.due(ARCHIVE, self._clock_ms(), MOST_LEAVING)
        self._metrics.archive_late(max(0, due_ms - oldest[0][1]) / 1_000 if oldest else 0)
        waiting = len(oldest)
        if waiting == MOST_LEAVING:
            over = [list_of(is_private=is_private, state=state) for is_private in (False, True) for state in OVER]
            waiting = sum(await self._store.counts(over))
        self._metrics.waiting(waiting)
        return oldest

    async def _notice_leaving(self, waiting: set[str]) -> None:
        """Index what another service has archived, among the matches that had waited longest."""
        store = self._store
        gone = self._leaving - waiting
        with suppress(ArchiveUnavailable):
            for match_id in gone - (await store.summaries(list(gone))).keys():
                # A match that the archive cannot return now is found by the next comparison of index and archive.
                await self._finished.find(match_id)
        self._leaving = waiting
        there = await store.summaries(list(self._failed))
        self._failed = {match_id: why for match_id, why in self._failed.items() if match_id in there}

    async def _take_all(self, due_ms: int) -> None:
        """Archive matches that ended by `due_ms`, in batches that bound how long names are held; failures wait."""
        begun_ms = 0
        while True:
            age = self._lobby.uses.age
            due = await self._store.due(ARCHIVE, due_ms, AT_ONCE, begun_ms)
            ours = [match_id for match_id, _ in due if self._is_ours(match_id)]
            entries = await self._lobby.entries(ours)
            gone = {match_id: IndexRow(0, (), ARCHIVE) for match_id in ours if match_id not in entries}
            await self._lobby.strike(gone)
            for listed in entries.values():
                with self._lobby.uses.use():
                    if age != self._lobby.uses.age:
                        # Names have been erased since the batch was read; the next look reads them again.
                        return
                    if listed.is_over:
                        await self._attempt(listed)
            if len(due) < AT_ONCE:
                return
            # Failed matches with the same end time as the last one may be returned once more.
            begun_ms = due[-1][1] if due[-1][1] > begun_ms else begun_ms + 1

    async def _attempt(self, listed: ListedMatch) -> None:
        match_id = listed.summary.match_id
        try:
            await self.take(listed)
        except Exception as failure:
            if isinstance(failure, StoreUnavailable) and not isinstance(failure, ArchiveUnavailable):
                raise
            self._metrics.archive_failed()
            if self._failed.get(match_id) is not type(failure):
                self._failed[match_id] = type(failure)
                said = "a match cannot be archived; it stays in the log"
                _logger.error(said, match=match_id, why=str(failure))  # noqa: TRY400 - an expected failure
            return
        self._failed.pop(match_id, None)
        self._metrics.count_archived()
        _logger.info("archived", match=match_id)

    async def take(self, listed: ListedMatch) -> None:
        """Archive a match, or do the remaining steps."""
        archive, match_id = self._archived.archive, listed.summary.match_id
        if archive is None:
            raise ArchiveUnavailable("there is no archive")
        entries = await whole_log(self._archived, match_id)
        if not entries or not Event.FromString(entries[-1].event).HasField("sealed"):
            end = listed.summary.position
            self._lost.record_sent(match_id, Position(end.sequence, end.link), sealed=True)
            await self._lost.seal(match_id, end.sequence, len(entries))
            raise NotTheSame("the match is over in the lobby, but not in its log")
        if not await self._has(archive, match_id, entries):
            names = [seat.name for seat in listed.summary.seats]
            key = self._replay_key.private
            replay = sealed_replay(match_id, entries, names, self._head_keys)
            await archive.put(match_id, await asyncio.to_thread(write, replay, key))
            self._step("filed")
            if not await self._has(archive, match_id, entries):
                raise NotTheSame("what was written into the archive cannot be read back")
        self._step("verified")
        await self._finished.take(match_id, UNKNOWN)
        self._step("indexed")
        await self._archivable.trim(match_id)
        self._step("trimmed")
        await self._store.unlist(match_id)
        self._step("unlisted")

    async def _has(self, archive: Archive, match_id: str, entries: list[Entry]) -> bool:
        """Whether the archive has exactly this log; False for a broken file, raises NotTheSame for another log."""
        data = await archive.get(match_id)
        if data is None:
            return False
        try:
            stored = await asyncio.to_thread(whole, data, match_id)
        except NotAReplay:
            return False
        if entries_of(stored) != entries:
            raise NotTheSame("the archive has another log of this match, and nothing is overwritten")
        key = self._replay_key.published.get(stored.key_id)
        return key is not None and stored.file.holds(key)

    # State of the archive

    @property
    def works(self) -> bool:
        """Whether finished matches are archived; a match that is itself broken does not count."""
        kept_out = any(issubclass(why, ArchiveUnavailable) for why in self._failed.values())
        return self._off is None and not kept_out and not self.loop.stands_still

    async def settle(self) -> bool:
        """Whether the archive is available and belongs to the store's matches."""
        try:
            archive = self._archived.archive
            if archive is None:
                archive = await asyncio.to_thread(open_archive, self._where, self._step)
            await settle(archive, self._archivable)
        except (OtherArchive, ArchiveUnavailable) as why:
            await self._archivable.lack_archive(LACKING_SECONDS)
            self._turn_off(why)
            return False
        self._archived.archive = archive
        return True

    def _turn_off(self, why: Exception) -> None:
        self._metrics.archiving(on=False)
        self._metrics.archive_failed()
        if self._off is not type(why):
            self._off = type(why)
            _logger.error("finished matches are not archived: they stay in the store", why=str(why))

    def _turn_on(self) -> None:
        self._metrics.archiving(on=True)
        if self._off is not None:
            self._off = None
            _logger.info("finished matches are archived again")
