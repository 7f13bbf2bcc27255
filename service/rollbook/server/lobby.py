"""What lies beside the logs: the names of players, who opened a match, and the list of matches that are not over.

None of it is in an event, so that it can be erased: it is kept in the store's lobby, which an append changes along with
the log, and in memory. A sealed match leaves the lobby. Names are kept by the reference that stands in the log, so
whoever gets up takes the name along.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

from rollbook.identity.references import REFERENCE_BYTES
from rollbook.match.ledger import Ledger
from rollbook.match.log import LobbyEntry, Log
from rollbook.server.summaries import summary_message
from rollbook.v1.events_pb2 import Event
from rollbook.v1.match_pb2 import MatchSummary

MOST_BESIDES: Final = 10_000
"""Matches whose names are kept in memory."""

_NOBODY: Final = bytes(REFERENCE_BYTES)
_LENGTH_BYTES: Final = 4


@dataclass(slots=True)
class Beside:
    """What lies beside one log."""

    opened_ms: int
    opener: bytes = b""
    """The reference of whoever opened the match; empty once that is forgotten."""
    names: dict[bytes, str] = field(default_factory=dict)
    """By reference; an empty name is one that was erased."""
    told: tuple[tuple[int, ...], bytes] | None = None
    """Who had forfeited when the lobby was last told that the match runs, and by which event."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A match as the lobby lists it: as it was at its last lifecycle event."""

    summary: MatchSummary
    opener: bytes
    players: tuple[bytes, ...]

    def write(self) -> bytes:
        """The bytes that the store keeps."""
        summary = self.summary.SerializeToString(deterministic=True)
        references = [reference or _NOBODY for reference in (self.opener, *self.players)]
        return len(summary).to_bytes(_LENGTH_BYTES, "big") + summary + b"".join(references)

    @classmethod
    def read(cls, data: bytes) -> Listed:
        """What the store kept."""
        end = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "big")
        summary = MatchSummary.FromString(data[_LENGTH_BYTES:end])
        references = [data[at : at + REFERENCE_BYTES] for at in range(end, len(data), REFERENCE_BYTES)]
        opener, *players = (b"" if reference == _NOBODY else reference for reference in references)
        return cls(summary, opener, tuple(players))

    @property
    def beside(self) -> Beside:
        """What lies beside the log of this match."""
        named = zip(self.players, self.summary.seats, strict=True)
        names = {player: seat.name for player, seat in named if player}
        return Beside(self.summary.opened_ms, self.opener, names)


class Lobby:
    """The lobby of a log, and the names in it."""

    def __init__(self, log: Log) -> None:
        """Serve the lobby of this log."""
        self._log = log
        self._besides: OrderedDict[str, Beside] = OrderedDict()
        self._listed: dict[str, tuple[bytes, Listed]] = {}

    def expect(self, match_id: str, opener: bytes, opened_ms: int) -> Beside:
        """Make room for a match that is about to be opened; one that is there already stays as it is."""
        return self._besides.get(match_id) or self._keep(match_id, Beside(opened_ms, opener))

    def summary(self, ledger: Ledger) -> LobbyEntry | None:
        """What the lobby says of a match from now on; nothing new unless its life has changed."""
        match_id = ledger.opened.match_id
        if ledger.match.sealed is not None:
            return LobbyEntry(b"")
        beside = self._besides.get(match_id)
        if beside is None:
            return None
        if ledger.match.started:
            forfeited = tuple(ledger.match.forfeited)
            # The same append may be asked for twice, because its outcome is unknown.
            if beside.told is not None and beside.told[0] == forfeited and beside.told[1] != ledger.head.link:
                return None
            beside.told = forfeited, ledger.head.link
        summary = summary_message(ledger, beside.names, beside.opened_ms)
        return LobbyEntry(Listed(summary, beside.opener, tuple(ledger.players)).write())

    async def beside(self, ledger: Ledger) -> Beside:
        """What lies beside this log; read anew if somebody sits there whose name this process has not heard of."""
        match_id = ledger.opened.match_id
        found = self._besides.get(match_id)
        if found is not None and all(player in found.names for player in ledger.players if player):
            self._besides.move_to_end(match_id)
            return found
        stored = None if ledger.match.sealed is not None else await self._log.summary(match_id)
        read = Beside(await self._opened_ms(match_id)) if stored is None else Listed.read(stored).beside
        # Another call may have read it meanwhile, and what is known here is not older.
        found = self._besides.get(match_id) or self._keep(match_id, read)
        found.opener = found.opener or read.opener
        found.names = dict.fromkeys(filter(None, ledger.players), "") | read.names | found.names
        return found

    async def listed(self) -> list[Listed]:
        """All matches that are open or running, those opened last first."""
        stored = await self._log.lobby()
        known = self._listed
        self._listed = {
            match_id: known[match_id] if match_id in known and known[match_id][0] == data else (data, Listed.read(data))
            for match_id, data in stored.items()
        }
        matches = [listed for _, listed in self._listed.values()]
        return sorted(matches, key=lambda listed: (listed.summary.opened_ms, listed.summary.match_id), reverse=True)

    async def _opened_ms(self, match_id: str) -> int:
        (first,) = await self._log.read(match_id, 0, 1)
        return int(Event.FromString(first.event).time_ms)

    def _keep(self, match_id: str, beside: Beside) -> Beside:
        self._besides[match_id] = beside
        if len(self._besides) > MOST_BESIDES:
            self._besides.popitem(last=False)
        return beside
