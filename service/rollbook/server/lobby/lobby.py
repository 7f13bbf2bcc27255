"""The data outside the logs: names of players, the opener of a match, and the list of matches.

Names are not in events, so that they can be erased: they are in the store's lobby, which an append updates together
with the log. While seats are open, every append first reads the lobby entry, because other processes may have added
names. An append to an outdated position is refused, so no name is lost. A sealed match leaves the lobby once it is
archived; the archive's file then has the names. Names are keyed by the reference in the log, so a player who leaves the
seat is removed with the name.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from dataclasses import replace
from operator import add
from typing import Final

import structlog
from cachetools import LRUCache
from google.protobuf.message import DecodeError

from rollbook.identity import references
from rollbook.identity.names import name_at_table
from rollbook.match.chain import Position
from rollbook.match.codec.moves import Unreadable
from rollbook.match.ledger import Ledger
from rollbook.server.lobby.beside import NOTHING, Beside
from rollbook.server.lobby.index_rows import NOT_OVER, list_of
from rollbook.server.lobby.listed_match import ListedMatch, MatchMetadata
from rollbook.server.lobby.name_guard import NameUses
from rollbook.server.out.summary import summary_message
from rollbook.server.replica.history import read_stored
from rollbook.server.slices import Slices
from rollbook.storage.archive.port import ArchiveUnavailable
from rollbook.storage.port import EventLog, Hole, IndexedLobby, IndexRow, LobbyEntry, Place, SharedClock
from rollbook.v1.events_pb2 import Event
from rollbook.v1.match_pb2 import MatchState, MatchSummary

MOST_METADATA: Final = 10_000
"""Matches whose names are cached."""

MOST_ODD: Final = 1_000
LONGEST_SHOWN: Final = 100

_ASKED_AGAIN_SECONDS: Final = 1.0
"""How long a positive answer about the index's completeness is cached."""

_logger = structlog.get_logger()


class StoredLobby:
    """The lobby of a log, with the names of players."""

    def __init__(
        self,
        log: EventLog,
        store: IndexedLobby,
        clock: SharedClock,
        archived: Callable[[str], Awaitable[ListedMatch | None]] | None = None,
        strength_of: Callable[[bytes, str], int] = lambda _player, _match_id: 0,
    ) -> None:
        """`archived` returns the archive's entry of a match; None: no archive. `strength_of` is `Players.strength`."""
        self._strength_of = strength_of
        self._log = log
        self._store = store
        self._clock = clock
        self._archived = archived
        self._known_metadata: LRUCache[str, MatchMetadata] = LRUCache(MOST_METADATA)
        self._listed: dict[str, tuple[bytes, ListedMatch]] = {}
        self.uses = NameUses()
        """Counts operations that copy names from here to other places."""
        self._odd: LRUCache[str, bool] = LRUCache(MOST_ODD)
        self._believed_until = 0.0
        """Until this time of the loop the index is assumed to be complete."""

    async def forget(self) -> None:
        """Drop cached names and wait for running uses; afterwards only names in the store are used."""
        self._known_metadata.clear()
        self._listed = {}
        await self.uses.begin_anew()

    def summary(
        self, ledger: Ledger, player: bytes = b"", beside: Beside = NOTHING
    ) -> AbstractAsyncContextManager[LobbyEntry | None]:
        """A context with the lobby entry to append with this ledger; None unless a lifecycle event requires one.

        `player` is the reference of the player who opens the match or takes a seat, and `beside` belongs to it.
        """
        known = self._known_metadata.get(ledger.opened.match_id)
        if known is not None and _is_up_to_date(ledger, known):
            return nullcontext()  # No name is read, so `forget` need not wait.
        return self._new_summary(ledger, player, beside)

    @asynccontextmanager
    async def _new_summary(self, ledger: Ledger, player: bytes, beside: Beside) -> AsyncIterator[LobbyEntry | None]:
        with self.uses.use():
            yield await self._summary(ledger, player, beside)

    async def _summary(self, ledger: Ledger, player: bytes, beside: Beside) -> LobbyEntry | None:
        if ledger.head.sequence == 1:
            opened = MatchMetadata(ledger.time_ms, player, rematch_of=beside.rematch_of, asked=beside.asked)
            return _entry(ledger, replace(opened, bots_at_ms=beside.bots_at_ms))
        metadata = await self._metadata(ledger, ledger.head.sequence - 1)
        if _is_up_to_date(ledger, metadata):
            return None
        if _runs(ledger):
            metadata.written = tuple(ledger.match.forfeited), ledger.head.link
        if beside.bots_at_ms is not None:
            metadata = replace(metadata, bots_at_ms=beside.bots_at_ms)
        if beside.name:
            others = [metadata.names.get(other, "") for other in ledger.players if other not in {b"", player}]
            metadata = replace(metadata, names={**metadata.names, player: name_at_table(beside.name, others)})
            is_house = ledger.house[ledger.players.index(player)]
            if is_house and (strength := self._strength_of(player, ledger.opened.match_id)):
                metadata = replace(metadata, strengths={**metadata.strengths, player: strength})
        if beside.holder:
            metadata = replace(metadata, holders={**metadata.holders, player: beside.holder})
        if beside.before:
            metadata = replace(metadata, came={**metadata.came, player: beside.before})
        return _entry(ledger, metadata)

    async def metadata(self, ledger: Ledger) -> MatchMetadata:
        """The metadata of this match, at the ledger's position."""
        if ledger.match.sealed is not None and (over := await self._over(ledger.opened.match_id)) is not None:
            return over.metadata
        return await self._metadata(ledger, ledger.head.sequence)

    async def _metadata(self, ledger: Ledger, sequence: int) -> MatchMetadata:
        """The metadata at this event, or at the event that closed the seats, after which no name changes."""
        match_id, closing = ledger.opened.match_id, ledger.closing
        least = sequence if closing is None else min(sequence, closing.sequence)
        found = self._known_metadata.get(match_id)
        if found is None or found.sequence < least:
            age = self.uses.age
            stored = await self._store.summary(match_id)
            if stored is None:
                found = MatchMetadata(await self._opened_ms(match_id), sequence=least)
            else:
                found = (await self._read(match_id, stored)).metadata
            if age == self.uses.age:
                self._known_metadata[match_id] = found
        return found

    async def entry(self, match_id: str) -> ListedMatch | None:
        """The lobby entry of a match; None if the lobby does not list it."""
        stored = await self._store.summary(match_id)
        return None if stored is None else await self._read(match_id, stored)

    async def entries(self, match_ids: Sequence[str]) -> dict[str, ListedMatch]:
        """The lobby entries of these matches; unlisted ones are left out."""
        return await self._read_all(await self._store.summaries(match_ids))

    async def position(self, match_id: str) -> Position | None:
        """The position at which the lobby entry was written; None if the lobby does not list the match."""
        for listed in (await self.entries([match_id])).values():
            written = listed.summary.position
            if written.sequence:
                return Position(written.sequence, written.link)
        return None

    async def read(self, stored: Mapping[str, bytes]) -> dict[str, ListedMatch]:
        """Decode these lobby entries; ids that cannot be a match are left out."""
        return await self._read_all({match_id: data for match_id, data in stored.items() if self._is_match(match_id)})

    async def _over(self, match_id: str) -> ListedMatch | None:
        """The entry of a finished match: from the store until it is archived, as the archive may be unavailable."""
        known = self._listed.get(match_id)
        if known is not None and known[1].is_over:
            return known[1]
        listed = await self.entry(match_id)
        return listed if listed or self._archived is None else await self._archived(match_id)

    async def page(self, lists: Sequence[str], before: Place | None, limit: int) -> list[tuple[Place, ListedMatch]]:
        """Up to `limit` matches of these lists of the index after a place, most recently opened first.

        A match that is in the index but not in the lobby is skipped and removed from the index.
        """
        if not await self.has_index():
            wanted, everything = set(lists), await self.everything()
            behind = [one for one in everything if wanted & set(one.row.lists) and (not before or one.place < before)]
            return [(one.place, one) for one in behind[:limit]]
        found: list[tuple[Place, ListedMatch]] = []
        while len(found) < limit:
            places = await self._store.page(lists, before, limit - len(found))
            entries = await self.entries([match_id for _, match_id in places])
            found += [(place, entries[place[1]]) for place in places if place[1] in entries]
            gone = [place for place in places if place[1] not in entries]
            if not gone:
                break
            await self.strike({match_id: IndexRow(opened_ms, tuple(lists)) for opened_ms, match_id in gone})
            before = places[-1]
        return found

    async def has_index(self) -> bool:
        """Whether the store's index is complete; otherwise callers read the whole lobby."""
        now = asyncio.get_running_loop().time()
        if now >= self._believed_until:
            if not await self._store.has_index():
                return False
            self._believed_until = now + _ASKED_AGAIN_SECONDS
        return True

    async def parts(self) -> AsyncIterator[list[ListedMatch]]:
        """All matches of the lobby, part by part, so that each read is short."""
        for part in range(self._store.parts):
            stored = await self._store.lobby_parts([part])
            yield [await self._read(match_id, data) for match_id, data in stored.items() if self._is_match(match_id)]

    async def differing(self, part: int) -> list[str]:
        """The matches of a part of the lobby whose index rows are wrong."""
        return list(filter(self._is_match, await self._store.differing(part, await self._clock.now_ms())))

    async def mend(self, part: int) -> int:
        """Repair the index rows of a part of the lobby; returns how many were wrong."""
        now_ms = await self._clock.now_ms()
        wrong = list(filter(self._is_match, await self._store.differing(part, now_ms)))
        if wrong:
            stored = await self._store.summaries(wrong)
            rows = {match_id: (data, (await self._read(match_id, data)).row) for match_id, data in stored.items()}
            await self._store.reindex(rows, now_ms)
            await self.strike({match_id: IndexRow(0, ()) for match_id in wrong if match_id not in stored})
        return len(wrong)

    async def strike(self, rows: Mapping[str, IndexRow]) -> None:
        """Remove matches that the lobby does not list from the index."""
        await self._store.reindex({match_id: (b"", row) for match_id, row in rows.items()}, await self._clock.now_ms())

    async def counts(self, games: Sequence[str] = ("",)) -> dict[tuple[MatchState.ValueType, str], int]:
        """The number of open and running matches by state and game; the game "" means all games."""
        kinds = [(state, game) for state in NOT_OVER for game in games]
        public = [list_of(is_private=False, state=state, game=game) for state, game in kinds]
        private = [list_of(is_private=True, state=state, game=game) for state, game in kinds]
        counts = await self._store.counts(public + private)
        return dict(zip(kinds, map(add, counts[: len(kinds)], counts[len(kinds) :]), strict=True))

    async def list_matches(self) -> list[ListedMatch]:
        """All open and running matches, most recently opened first."""
        return [listed for listed in await self.everything() if not listed.is_over]

    async def everything(self) -> list[ListedMatch]:
        """All matches of the lobby, most recently opened first."""
        age = self.uses.age
        stored = {match_id: data for match_id, data in (await self._store.lobby()).items() if self._is_match(match_id)}
        known = self._listed
        found = {
            match_id: known[match_id]
            if match_id in known and known[match_id][0] == data
            else (data, await self._read(match_id, data))
            for match_id, data in stored.items()
        }
        if age == self.uses.age:
            self._listed = found
        matches = [listed for _, listed in found.values()]
        return sorted(matches, key=lambda listed: listed.place, reverse=True)

    def _is_match(self, match_id: str) -> bool:
        """Whether the id can be a match's; other ids are skipped, and logged once."""
        if references.is_match_id(match_id):
            return True
        if match_id not in self._odd:
            self._odd[match_id] = True
            _logger.error("the lobby lists what is no match", match=ascii(match_id)[:LONGEST_SHOWN])
        return False

    async def _read_all(self, stored: Mapping[str, bytes]) -> dict[str, ListedMatch]:
        """Decode lobby entries in slices."""
        found, slices = dict[str, ListedMatch](), Slices()
        for match_id, data in stored.items():
            found[match_id] = await self._read(match_id, data)
            if slices.is_over:
                await slices.rest()
        return found

    async def _read(self, match_id: str, stored: bytes) -> ListedMatch:
        """Decode a lobby entry; if it is unreadable, the entry is derived from the log, without names."""
        with suppress(DecodeError, ValueError):
            listed = ListedMatch.read(stored)
            if listed.summary.match_id == match_id:
                return listed
        _logger.error("what the lobby says of a match cannot be read", match=match_id)
        ledger = None
        with suppress(Unreadable, ArchiveUnavailable):
            ledger = (await read_stored(self._log, match_id)).ledger
        if ledger is None:
            # Treated as private, because it is unknown whether it was.
            return ListedMatch(MatchSummary(match_id=match_id, is_private=True, is_lost=True), b"", ())
        summary = summary_message(ledger, {}, await self._opened_ms(match_id))
        return ListedMatch(summary, b"", tuple(ledger.players))

    async def _opened_ms(self, match_id: str) -> int:
        """The time of event 1; raises Hole if event 1 is gone."""
        entries = await self._log.read(match_id, 0, 1)
        try:
            return int(Event.FromString(entries[0].event).time_ms)
        except (IndexError, DecodeError):
            raise Hole(match_id, 0) from None


def _runs(ledger: Ledger) -> bool:
    return ledger.match.started and ledger.match.sealed is None


def _is_up_to_date(ledger: Ledger, metadata: MatchMetadata) -> bool:
    """Whether the lobby shows the match as running, with every forfeit; an append may be attempted twice."""
    written = metadata.written
    return (
        _runs(ledger)
        and written is not None
        and written[0] == tuple(ledger.match.forfeited)
        and written[1] != ledger.head.link
    )


def _entry(ledger: Ledger, metadata: MatchMetadata) -> LobbyEntry:
    about = metadata.names, metadata.opened_ms, metadata.rematch_of, metadata.strengths, metadata.bots_at_ms
    summary = summary_message(ledger, *about)
    holders = tuple(metadata.holders.get(player, "") for player in ledger.players)
    # Once a rematch is over, nothing asks for its players.
    asked = metadata.asked if ledger.match.sealed is None else ()
    came = tuple(metadata.came.get(player, b"") for player in ledger.players) if asked else ()
    holders = holders if any(holders) else ()
    listed = ListedMatch(summary, metadata.opener, tuple(ledger.players), holders, asked, came)
    return LobbyEntry(listed.write(), listed.row)
