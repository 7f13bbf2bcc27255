"""Archived matches for lists and looks: reads the index, and keeps it consistent with the archive."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from itertools import compress
from typing import Final

import structlog

from rollbook.match.chain import Entry
from rollbook.match.codec.moves import Unreadable
from rollbook.match.fold import Misplaced
from rollbook.match.ledger import Ledger
from rollbook.replay_file.container import NotAReplay
from rollbook.rules.refusals import RefusedByRules
from rollbook.server.lobby.archive_index import ArchiveIndex, Wanted
from rollbook.server.lobby.listed_match import ListedMatch
from rollbook.server.lobby.name_guard import NameUses
from rollbook.server.out.summary import summary_message
from rollbook.storage.archive.log import ArchivedLog, entries_of, whole
from rollbook.storage.archive.port import Archive, ArchiveUnavailable
from rollbook.v1.events_pb2 import Event

UNKNOWN: Final = ""
"""The version of a file that was not looked up; the next comparison looks it up."""

_logger = structlog.get_logger()


class Finished:
    """Summaries of the archived matches."""

    def __init__(
        self,
        log: ArchivedLog,
        index: ArchiveIndex,
        strength_of: Callable[[bytes, str], int] = lambda _player, _match_id: 0,
    ) -> None:
        """`strength_of` is `Players.strength`, as files contain no strengths."""
        self._strength_of = strength_of
        self._archived = log
        self._index = index
        self._broken: dict[str, str] = {}
        """Unreadable files, by match id, with the version that was unreadable."""
        self._withheld: set[str] = set()
        """Files that the archive lists but did not return at the last attempt, so that this is logged once."""
        self._uses = NameUses()
        self._comparing = asyncio.Lock()

    async def find(self, match_id: str) -> ListedMatch | None:
        """The summary of an archived match; None if the match is not in the archive."""
        found = await asyncio.to_thread(self._index.find, match_id)
        return found or await self.take(match_id, UNKNOWN)

    async def page(self, wanted: Wanted, before: tuple[int, str] | None, limit: int) -> list[ListedMatch]:
        """Up to `limit` matches after a place in the order of lists."""
        return await asyncio.to_thread(self._index.page, wanted, before, limit)

    async def take(self, match_id: str, version: str) -> ListedMatch | None:
        """Index a match from its file and return it; None if there is no file, or it cannot be read."""
        with self._uses.use():
            return await self._take(match_id, version)

    async def _take(self, match_id: str, version: str) -> ListedMatch | None:
        data = await self._archived.file(match_id)
        if data is None:
            return None

        def note() -> ListedMatch:
            stored = whole(data, match_id)
            listed = listed_of(match_id, entries_of(stored), stored.replay.names, self._strength_of)
            self._index.put(listed, version)
            return listed

        try:
            return await asyncio.to_thread(note)
        except (NotAReplay, Misplaced, Unreadable, RefusedByRules) as broken:
            self._broken[match_id] = version
            said = "a file of the archive cannot be read"
            _logger.error(said, match=match_id, why=str(broken))  # noqa: TRY400 - an expected failure
            return None

    async def compare(self) -> int:
        """Update the index from the archive; returns how many files were new, changed or gone."""
        archive = self._archived.archive
        if archive is None:
            return 0
        async with self._comparing:
            return await self._compare(archive)

    async def forget(self) -> None:
        """Keep only the names that the files have now; raises ArchiveUnavailable if the files cannot be read."""
        if self._archived.archive is None:
            raise ArchiveUnavailable("its names are not known without the archive")
        await self._uses.begin_anew()
        await self.compare()
        if self._withheld:
            raise ArchiveUnavailable(f"a file of the archive cannot be read: that of match {min(self._withheld)}")
        await asyncio.to_thread(self._index.scrub)

    async def _compare(self, archive: Archive) -> int:
        there = await archive.versions()
        noted = await asyncio.to_thread(self._index.versions)
        for match_id in noted.keys() - there.keys():
            await asyncio.to_thread(self._index.remove, match_id)
        changed = [match_id for match_id, version in there.items() if noted.get(match_id) != version]
        changed = [match_id for match_id in changed if self._broken.get(match_id) != there[match_id]]
        withheld = {match_id for match_id in changed if not await self._is_taken(archive, match_id, there[match_id])}
        self._withheld = withheld
        self._index.is_complete = True
        return len(changed) + len(noted.keys() - there.keys())

    async def _is_taken(self, archive: Archive, match_id: str, version: str) -> bool:
        """Whether the archive returned the file; raises ArchiveUnavailable if the whole archive is unavailable."""
        try:
            await self.take(match_id, version)
        except ArchiveUnavailable as why:
            await archive.mark()
            if match_id not in self._withheld:
                said = "a file of the archive cannot be read"
                _logger.error(said, match=match_id, why=str(why))  # noqa: TRY400 - an expected failure
            return False
        return True

    def close(self) -> None:
        """Close the index."""
        self._index.close()


def listed_of(
    match_id: str,
    entries: Sequence[Entry],
    names: Sequence[str],
    strength_of: Callable[[bytes, str], int],
) -> ListedMatch:
    """A finished match as the lobby lists it, from its log and the names; the opener is not kept."""
    ledger = Ledger.fold(match_id, list(entries))
    players = tuple(ledger.players)
    by_player = {player: name for player, name in zip(players, names, strict=False) if player}
    strengths = {player: strength_of(player, match_id) for player in compress(players, ledger.house)}
    opened_ms = int(Event.FromString(entries[0].event).time_ms)
    return ListedMatch(summary_message(ledger, by_player, opened_ms, strengths=strengths), b"", players)
