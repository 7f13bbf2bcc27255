"""Rematches: who is expected at a rematch, and how long its seats are reserved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rollbook.identity.tokens import Subject
from rollbook.server.access.players import Players
from rollbook.server.failures import BROKEN, MatchUnknown
from rollbook.server.lobby.lobby import MatchMetadata
from rollbook.server.replica.replicas import Replicas
from rollbook.storage.archive.port import ArchiveUnavailable
from rollbook.storage.port import StoreUnavailable

KEPT_SECONDS: Final = 300
"""How long the seats of a rematch are reserved for the players of the previous match."""


class Rematches:
    """Determines who is expected at a rematch."""

    def __init__(self, replicas: Replicas, players: Players, clock_ms: Callable[[], int]) -> None:
        self._replicas = replicas
        self._players = players
        self._clock_ms = clock_ms

    async def expects(self, caller: Subject, metadata: MatchMetadata) -> bool:
        """Whether this is a rematch of a match in which the caller had a seat; False if that match is unreadable."""
        if not metadata.rematch_of:
            return False
        try:
            before = await self._replicas.ledger(metadata.rematch_of)
        except (*BROKEN, MatchUnknown, ArchiveUnavailable, StoreUnavailable):
            return False
        return before.seat_of(self._players.reference(caller, metadata.rematch_of)) is not None

    def kept_ms(self, metadata: MatchMetadata) -> int:
        """For how many more milliseconds the seats are reserved; 0 if they are not."""
        if not metadata.rematch_of:
            return 0
        return max(0, metadata.opened_ms + KEPT_SECONDS * 1_000 - self._clock_ms())
