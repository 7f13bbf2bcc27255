"""What a command writes beside the log, in the lobby entry of the match."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Beside:
    """What an append that opens a match, or takes or leaves a seat, writes beside the log."""

    name: str = ""
    """The player's name."""
    holder: str = ""
    """The pseudonym under which the seat is counted."""
    before: bytes = b""
    """In a rematch: the player's reference in the match before."""
    rematch_of: str = ""
    asked: tuple[bytes, ...] = ()
    """Of a rematch, as in MatchMetadata."""
    bots_at_ms: int | None = None
    """When bots join a table of PlayNow, if PlayNow opens it or the time changes."""


NOTHING: Final = Beside()
