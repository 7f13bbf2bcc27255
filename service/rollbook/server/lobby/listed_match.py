"""A match as the lobby stores it: its summary, and what its log does not have."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from rollbook.identity.references import REFERENCE_BYTES
from rollbook.server.lobby.index_rows import OVER, row_of
from rollbook.storage.port import IndexRow
from rollbook.v1.match_pb2 import MatchSummary

_NOBODY: Final = bytes(REFERENCE_BYTES)
_LENGTH_BYTES: Final = 4
_NO_HOLDER: Final = bytes(REFERENCE_BYTES)
"""As many bytes as a holder has, which are as many as in a reference."""


@dataclass(slots=True)
class MatchMetadata:
    """The data of a match that is not in its log."""

    opened_ms: int
    opener: bytes = b""
    """The opener's reference; empty after it was erased."""
    names: dict[bytes, str] = field(default_factory=dict)
    """Names by reference; an erased name is empty."""
    strengths: dict[bytes, int] = field(default_factory=dict)
    """Strengths of bots of the house, by reference."""
    holders: dict[bytes, str] = field(default_factory=dict)
    """Pseudonyms under which seats are counted, by reference; missing where an older version wrote none."""
    sequence: int = 0
    """The sequence of the event up to which the lobby entry is current."""
    rematch_of: str = ""
    """The match of which this one is a rematch; empty for none."""
    asked: tuple[bytes, ...] = ()
    """Of a rematch: the references in the match before of its players, by seat; empty for a bot of the service."""
    came: dict[bytes, bytes] = field(default_factory=dict)
    """Of a rematch: the reference in the match before, by the reference in this one."""
    bots_at_ms: int | None = None
    """When bots take the free seats of a table of PlayNow, 0 for never; None: PlayNow did not open the match."""
    written: tuple[tuple[int, ...], bytes] | None = None
    """The forfeited seats in the last lobby entry of the running match, and the link of its event."""

    @property
    def in_pool(self) -> bool:
        """Whether PlayNow opened the match."""
        return self.bots_at_ms is not None


@dataclass(frozen=True, slots=True)
class ListedMatch:
    """A match as the lobby lists it: its state at its last lifecycle event."""

    summary: MatchSummary
    opener: bytes
    players: tuple[bytes, ...]
    holders: tuple[str, ...] = ()
    """Per seat; empty if an older version wrote the entry."""
    asked: tuple[bytes, ...] = ()
    """As in the metadata; empty unless this is a rematch."""
    came: tuple[bytes, ...] = ()
    """The references in the match before of the players who sit here, by seat; empty unless this is a rematch."""

    def write(self) -> bytes:
        """Encode for the store."""
        summary = self.summary.SerializeToString(deterministic=True)
        references = [reference or _NOBODY for reference in (self.opener, *self.players)]
        holders = [bytes.fromhex(holder) or _NO_HOLDER for holder in self.holders]
        if self.asked:
            holders = holders or [_NO_HOLDER] * len(self.players)
            holders += [reference or _NOBODY for reference in (*self.asked, *self.came)]
        return len(summary).to_bytes(_LENGTH_BYTES, "big") + summary + b"".join([*references, *holders])

    @classmethod
    def read(cls, data: bytes) -> ListedMatch:
        """Decode what the store has; raises DecodeError or ValueError."""
        end = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "big")
        summary = MatchSummary.FromString(data[_LENGTH_BYTES:end])
        seats = len(summary.seats)
        parts = [data[at : at + REFERENCE_BYTES] for at in range(end, len(data), REFERENCE_BYTES)]
        opener, *players = (b"" if part == _NOBODY else part for part in parts[: seats + 1])
        holders = tuple("" if part == _NO_HOLDER else part.hex() for part in parts[seats + 1 : 2 * seats + 1])
        before = tuple(b"" if part == _NOBODY else part for part in parts[2 * seats + 1 :])
        is_whole = len(players) == seats and len(holders) in {0, seats} and len(before) in {0, 2 * seats}
        if not is_whole or (len(data) - end) % REFERENCE_BYTES:
            raise ValueError("not as many players as seats")
        return cls(summary, opener, tuple(players), holders, before[:seats], before[seats:])

    @property
    def row(self) -> IndexRow:
        """The match's row in the index."""
        return row_of(self.summary, self.holders or ("",) * len(self.players), asks=bool(self.asked))

    @property
    def is_over(self) -> bool:
        """Whether the match is sealed, and so does not change any more."""
        return self.summary.state in OVER

    @property
    def place(self) -> tuple[int, str]:
        """Its place in lists, which are in descending order."""
        return self.summary.opened_ms, self.summary.match_id

    @property
    def metadata(self) -> MatchMetadata:
        """The metadata in this entry."""
        seated = list(zip(self.players, self.summary.seats, strict=True))
        names = {player: seat.name for player, seat in seated if player}
        strengths = {player: seat.strength for player, seat in seated if seat.strength}
        holders = {player: holder for player, holder in zip(self.players, self.holders, strict=False) if holder}
        came = {player: before for player, before in zip(self.players, self.came, strict=False) if player and before}
        summary = self.summary
        bots_at_ms = summary.bots_at_ms if summary.in_pool else None
        beside = (summary.position.sequence, summary.rematch_of, self.asked, came, bots_at_ms)
        return MatchMetadata(summary.opened_ms, self.opener, names, strengths, holders, *beside)
