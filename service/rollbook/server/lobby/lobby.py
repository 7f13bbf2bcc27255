"""What is not in the logs: the names of players, who opened a match, and the list of matches.

None of it is in an event, so that it can be erased: it is kept in the store's lobby, which an append changes along with
the log. As long as seats are open, whoever appends reads first what the lobby says: other processes have brought names,
and because nothing is written behind a position that has moved on, none of them can be lost. A sealed match leaves the
lobby when it is in the archive, whose file has the names from then on. Names are kept by the reference that stands in
the log, so whoever gets up takes the name along.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from operator import add
from typing import Final

import structlog
from cachetools import LRUCache
from google.protobuf.message import DecodeError

from rollbook.identity import references
from rollbook.identity.references import REFERENCE_BYTES
from rollbook.match.chain import Position
from rollbook.match.codec.moves import Unreadable
from rollbook.match.ledger import Ledger
from rollbook.server.lobby.index_rows import NOT_OVER, OVER, list_of, row_of
from rollbook.server.lobby.name_guard import NameUses
from rollbook.server.out.summary import summary_message
from rollbook.server.replica.history import left
from rollbook.storage.archive.port import ArchiveUnavailable
from rollbook.storage.port import Hole, IndexRow, LobbyEntry, Log, Place
from rollbook.v1.events_pb2 import Event
from rollbook.v1.match_pb2 import MatchState, MatchSummary

MOST_METADATA: Final = 10_000
"""Matches whose names are kept in memory."""

MOST_ODD: Final = 1_000
LONGEST_SHOWN: Final = 100

_NOBODY: Final = bytes(REFERENCE_BYTES)
_LENGTH_BYTES: Final = 4
_NO_HOLDER: Final = bytes(REFERENCE_BYTES)
"""A holder has as many bytes as a reference."""

_ASKED_AGAIN_SECONDS: Final = 1.0
"""How long it is believed that the index is whole."""

_logger = structlog.get_logger()


@dataclass(slots=True)
class MatchMetadata:
    """What is known of a match and is not in its log."""

    opened_ms: int
    opener: bytes = b""
    """The reference of whoever opened the match; empty once that is forgotten."""
    names: dict[bytes, str] = field(default_factory=dict)
    """By reference; an empty name is one that was erased."""
    holders: dict[bytes, str] = field(default_factory=dict)
    """By reference: what stands for whoever sits there where matches are counted; none where that was not written."""
    sequence: int = 0
    """The event behind which the lobby said so."""
    rematch_of: str = ""
    """The match that this is the rematch of; empty for none."""
    written: tuple[tuple[int, ...], bytes] | None = None
    """Who had forfeited when the lobby was last written for the running match, and by which event."""


@dataclass(frozen=True, slots=True)
class ListedMatch:
    """A match as the lobby lists it: as it was at its last lifecycle event."""

    summary: MatchSummary
    opener: bytes
    players: tuple[bytes, ...]
    holders: tuple[str, ...] = ()
    """Per seat; none at all where nobody wrote any."""

    def write(self) -> bytes:
        """The bytes that the store keeps."""
        summary = self.summary.SerializeToString(deterministic=True)
        references = [reference or _NOBODY for reference in (self.opener, *self.players)]
        holders = [bytes.fromhex(holder) or _NO_HOLDER for holder in self.holders]
        return len(summary).to_bytes(_LENGTH_BYTES, "big") + summary + b"".join([*references, *holders])

    @classmethod
    def read(cls, data: bytes) -> ListedMatch:
        """What the store kept; DecodeError or ValueError if that is nothing of the kind."""
        end = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "big")
        summary = MatchSummary.FromString(data[_LENGTH_BYTES:end])
        seats = len(summary.seats)
        parts = [data[at : at + REFERENCE_BYTES] for at in range(end, len(data), REFERENCE_BYTES)]
        opener, *players = (b"" if part == _NOBODY else part for part in parts[: seats + 1])
        holders = tuple("" if part == _NO_HOLDER else part.hex() for part in parts[seats + 1 :])
        if len(players) != seats or len(holders) not in {0, seats} or (len(data) - end) % REFERENCE_BYTES:
            raise ValueError("not as many players as seats")
        return cls(summary, opener, tuple(players), holders)

    @property
    def row(self) -> IndexRow:
        """Where the index has it."""
        return row_of(self.summary, self.holders or ("",) * len(self.players))

    @property
    def is_over(self) -> bool:
        """Whether it is sealed: then nothing of it changes any more."""
        return self.summary.state in OVER

    @property
    def place(self) -> tuple[int, str]:
        """Where it stands in lists, which are descending."""
        return self.summary.opened_ms, self.summary.match_id

    @property
    def metadata(self) -> MatchMetadata:
        """The metadata of this match."""
        seated = zip(self.players, self.summary.seats, strict=True)
        names = {player: seat.name for player, seat in seated if player}
        holders = {player: holder for player, holder in zip(self.players, self.holders, strict=False) if holder}
        summary = self.summary
        return MatchMetadata(
            summary.opened_ms, self.opener, names, holders, summary.position.sequence, summary.rematch_of
        )


async def _not_archived(_match_id: str) -> ListedMatch | None:
    """There is no archive."""
    return None


class StoredLobby:
    """The lobby of a log, and the names in it."""

    def __init__(self, log: Log, archived: Callable[[str], Awaitable[ListedMatch | None]] = _not_archived) -> None:
        """Serve the lobby of this log; `archived` finds what the archive knows of a match."""
        self._log = log
        self._archived = archived
        self._known_metadata: LRUCache[str, MatchMetadata] = LRUCache(MOST_METADATA)
        self._listed: dict[str, tuple[bytes, ListedMatch]] = {}
        self.uses = NameUses()
        """Who takes names out of here to where they are kept."""
        self._odd: LRUCache[str, bool] = LRUCache(MOST_ODD)
        self._believed_until = 0.0
        """Until when it is not asked again whether the index is whole."""

    async def forget(self) -> None:
        """Know no names but those that the store has from now on; nobody writes others when this returns."""
        self._known_metadata.clear()
        self._listed = {}
        await self.uses.begin_anew()

    def summary(
        self, ledger: Ledger, player: bytes = b"", name: str = "", holder: str = "", rematch_of: str = ""
    ) -> AbstractAsyncContextManager[LobbyEntry | None]:
        """What the lobby says of a match from now on, to be appended in here; nothing new unless its life has changed.

        `player` is who asks for that: opens the match, as the rematch of another one, or sits down by this name, and is
        counted as this holder.
        """
        known = self._known_metadata.get(ledger.opened.match_id)
        if known is not None and _is_up_to_date(ledger, known):
            return nullcontext()  # No name is read, so forgetting need not wait.
        return self._new_summary(ledger, player, name, holder, rematch_of)

    @asynccontextmanager
    async def _new_summary(
        self, ledger: Ledger, player: bytes, name: str, holder: str, rematch_of: str
    ) -> AsyncIterator[LobbyEntry | None]:
        with self.uses.use():
            yield await self._summary(ledger, player, name, holder, rematch_of)

    async def _summary(
        self, ledger: Ledger, player: bytes, name: str, holder: str, rematch_of: str
    ) -> LobbyEntry | None:
        if ledger.head.sequence == 1:
            return _entry(ledger, MatchMetadata(ledger.time_ms, player, rematch_of=rematch_of))
        metadata = await self._metadata(ledger, ledger.head.sequence - 1)
        if _is_up_to_date(ledger, metadata):
            return None
        if _runs(ledger):
            metadata.written = tuple(ledger.match.forfeited), ledger.head.link
        if name:
            metadata = replace(metadata, names={**metadata.names, player: name})
        if holder:
            metadata = replace(metadata, holders={**metadata.holders, player: holder})
        return _entry(ledger, metadata)

    async def metadata(self, ledger: Ledger) -> MatchMetadata:
        """The metadata of this match."""
        if ledger.match.sealed is not None and (over := await self._over(ledger.opened.match_id)) is not None:
            return over.metadata
        return await self._metadata(ledger, ledger.head.sequence)

    async def _metadata(self, ledger: Ledger, sequence: int) -> MatchMetadata:
        """What the lobby says behind this event, or behind the one that closed the seats: then no name changes."""
        match_id, closing = ledger.opened.match_id, ledger.closing
        least = sequence if closing is None else min(sequence, closing.sequence)
        found = self._known_metadata.get(match_id)
        if found is None or found.sequence < least:
            age = self.uses.age
            stored = await self._log.summary(match_id)
            if stored is None:
                found = MatchMetadata(await self._opened_ms(match_id), sequence=least)
            else:
                found = (await self._read(match_id, stored)).metadata
            if age == self.uses.age:
                self._known_metadata[match_id] = found
        return found

    async def entry(self, match_id: str) -> ListedMatch | None:
        """What the lobby says of one match; none if it does not list it."""
        stored = await self._log.summary(match_id)
        return None if stored is None else await self._read(match_id, stored)

    async def entries(self, match_ids: Sequence[str]) -> dict[str, ListedMatch]:
        """What the lobby says of these matches; those that it does not list are left out."""
        stored = await self._log.summaries(match_ids)
        return {match_id: await self._read(match_id, data) for match_id, data in stored.items()}

    async def position(self, match_id: str) -> Position | None:
        """The event along with which the lobby says what it says of a match; none if it does not list it."""
        for listed in (await self.entries([match_id])).values():
            written = listed.summary.position
            if written.sequence:
                return Position(written.sequence, written.link)
        return None

    async def read(self, stored: Mapping[str, bytes]) -> dict[str, ListedMatch]:
        """What the lobby says of these matches, as the store has it; what can be no match is left out."""
        return {
            match_id: await self._read(match_id, data) for match_id, data in stored.items() if self._is_match(match_id)
        }

    async def _over(self, match_id: str) -> ListedMatch | None:
        """A match that is over: from the store until it is archived, so that the archive may be away until then."""
        known = self._listed.get(match_id)
        if known is not None and known[1].is_over:
            return known[1]
        return await self.entry(match_id) or await self._archived(match_id)

    async def page(self, lists: Sequence[str], before: Place | None, limit: int) -> list[tuple[Place, ListedMatch]]:
        """So many matches of these lists of the index, those opened last first, behind a place in that order.

        What the index has and the lobby has not is passed over, and taken out there.
        """
        if not await self.has_index():
            wanted, everything = set(lists), await self.everything()
            behind = [one for one in everything if wanted & set(one.row.lists) and (not before or one.place < before)]
            return [(one.place, one) for one in behind[:limit]]
        found: list[tuple[Place, ListedMatch]] = []
        while len(found) < limit:
            places = await self._log.page(lists, before, limit - len(found))
            entries = await self.entries([match_id for _, match_id in places])
            found += [(place, entries[place[1]]) for place in places if place[1] in entries]
            gone = [place for place in places if place[1] not in entries]
            if not gone:
                break
            await self.strike({match_id: IndexRow(opened_ms, tuple(lists)) for opened_ms, match_id in gone})
            before = places[-1]
        return found

    async def has_index(self) -> bool:
        """Whether matches are found by the store's index; where it is not whole the lobby is read instead."""
        now = asyncio.get_running_loop().time()
        if now >= self._believed_until:
            if not await self._log.has_index():
                return False
            self._believed_until = now + _ASKED_AGAIN_SECONDS
        return True

    async def parts(self) -> AsyncIterator[list[ListedMatch]]:
        """All matches of the lobby, part by part, so that nobody waits for the whole."""
        for part in range(self._log.parts):
            stored = await self._log.lobby_parts([part])
            yield [await self._read(match_id, data) for match_id, data in stored.items() if self._is_match(match_id)]

    async def differing(self, part: int) -> list[str]:
        """The matches of a part of the lobby that are not indexed as the lobby lists them."""
        return list(filter(self._is_match, await self._log.differing(part, await self._log.now_ms())))

    async def mend(self, part: int) -> int:
        """Let the index say of a part of the lobby what follows from that; of how many matches it said else."""
        now_ms = await self._log.now_ms()
        wrong = list(filter(self._is_match, await self._log.differing(part, now_ms)))
        if wrong:
            stored = await self._log.summaries(wrong)
            rows = {match_id: (data, (await self._read(match_id, data)).row) for match_id, data in stored.items()}
            await self._log.reindex(rows, now_ms)
            await self.strike({match_id: IndexRow(0, ()) for match_id in wrong if match_id not in stored})
        return len(wrong)

    async def strike(self, rows: Mapping[str, IndexRow]) -> None:
        """Take what is left of matches out of the index that the lobby does not list."""
        await self._log.reindex({match_id: (b"", row) for match_id, row in rows.items()}, await self._log.now_ms())

    async def counts(self, games: Sequence[str] = ("",)) -> dict[tuple[MatchState.ValueType, str], int]:
        """How many matches that are not over the store lists, by state and game; "" means all games."""
        kinds = [(state, game) for state in NOT_OVER for game in games]
        public = [list_of(is_private=False, state=state, game=game) for state, game in kinds]
        private = [list_of(is_private=True, state=state, game=game) for state, game in kinds]
        counts = await self._log.counts(public + private)
        return dict(zip(kinds, map(add, counts[: len(kinds)], counts[len(kinds) :]), strict=True))

    async def listed(self) -> list[ListedMatch]:
        """All matches that are open or running, those opened last first."""
        return [listed for listed in await self.everything() if not listed.is_over]

    async def everything(self) -> list[ListedMatch]:
        """All matches of the lobby, those opened last first."""
        age = self.uses.age
        stored = {match_id: data for match_id, data in (await self._log.lobby()).items() if self._is_match(match_id)}
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
        """Whether a match can be called so; what cannot is passed over, and said once."""
        if references.is_match_id(match_id):
            return True
        if match_id not in self._odd:
            self._odd[match_id] = True
            _logger.error("the lobby lists what is no match", match=ascii(match_id)[:LONGEST_SHOWN])
        return False

    async def _read(self, match_id: str, stored: bytes) -> ListedMatch:
        """What the lobby says of a match; if that cannot be read, what the log says, which has no names."""
        with suppress(DecodeError, ValueError):
            listed = ListedMatch.read(stored)
            if listed.summary.match_id == match_id:
                return listed
        _logger.error("what the lobby says of a match cannot be read", match=match_id)
        ledger = None
        with suppress(Unreadable, ArchiveUnavailable):
            ledger = (await left(self._log, match_id)).ledger
        if ledger is None:
            # Whether it was private nobody knows any more.
            return ListedMatch(MatchSummary(match_id=match_id, is_private=True, is_lost=True), b"", ())
        summary = summary_message(ledger, {}, await self._opened_ms(match_id))
        return ListedMatch(summary, b"", tuple(ledger.players))

    async def _opened_ms(self, match_id: str) -> int:
        """When it was opened; Hole if even its first event is gone."""
        entries = await self._log.read(match_id, 0, 1)
        try:
            return int(Event.FromString(entries[0].event).time_ms)
        except (IndexError, DecodeError):
            raise Hole(match_id, 0) from None


def _runs(ledger: Ledger) -> bool:
    return ledger.match.started and ledger.match.sealed is None


def _is_up_to_date(ledger: Ledger, metadata: MatchMetadata) -> bool:
    """Whether the lobby shows that the match runs, and every forfeit; an append may be asked for twice."""
    written = metadata.written
    return (
        _runs(ledger)
        and written is not None
        and written[0] == tuple(ledger.match.forfeited)
        and written[1] != ledger.head.link
    )


def _entry(ledger: Ledger, metadata: MatchMetadata) -> LobbyEntry:
    summary = summary_message(ledger, metadata.names, metadata.opened_ms, metadata.rematch_of)
    holders = tuple(metadata.holders.get(player, "") for player in ledger.players)
    listed = ListedMatch(summary, metadata.opener, tuple(ledger.players), holders if any(holders) else ())
    return LobbyEntry(listed.write(), listed.row)
