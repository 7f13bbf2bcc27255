"""Rematches: whom they ask, what these players answered, and how long seats are kept for them.

The rematch's lobby entry has the players that it asks, by their references in the match before, and which of them sit.
Who declined is stored for a while beside it. So every process finds the same answers.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Final

from rollbook.identity.tokens import Subject
from rollbook.match.ledger import Ledger
from rollbook.server.access.players import Players
from rollbook.server.failures import BROKEN, MatchUnknown
from rollbook.server.lobby.listed_match import ListedMatch, MatchMetadata
from rollbook.server.lobby.lobby import StoredLobby
from rollbook.server.refusals import Refusal
from rollbook.server.replica.replicas import Replicas
from rollbook.storage.archive.port import ArchiveUnavailable
from rollbook.storage.port import Declines, EventLog, StoreUnavailable
from rollbook.v1.feed_pb2 import MatchFrame
from rollbook.v1.match_pb2 import MATCH_STATE_ABORTED, MATCH_STATE_OPEN, MatchSummary

KEPT_SECONDS: Final = 300
"""How long the seats of a rematch are kept for the players of the previous match."""

MOST_ABORTED: Final = 20
"""A match has no further rematch after this many aborted ones."""

DECLINED_SECONDS: Final = 600
"""How long the store has who declined: longer than seats are kept, and as long as players may watch for the answers."""

_ALL_SEATS: Final = 1 << 10

_Rematch = MatchFrame.Rematch


@dataclass(frozen=True, slots=True)
class Kept:
    """How many free seats of a match are kept for others, and for how long."""

    seats: int = 0
    ms: int = 0


class Rematches:
    """Determines whom a rematch asks, and what they answered."""

    def __init__(  # noqa: PLR0913, PLR0917 - two ports, and what answers follow from
        self,
        log: EventLog,
        declines: Declines,
        lobby: StoredLobby,
        replicas: Replicas,
        players: Players,
        clock_ms: Callable[[], int],
    ) -> None:
        self._log = log
        self._declines = declines
        self._lobby = lobby
        self._replicas = replicas
        self._players = players
        self._clock_ms = clock_ms

    async def expects(self, caller: Subject, metadata: MatchMetadata) -> bool:
        """Whether this is a rematch of a match in which the caller had a seat; False if that match is unreadable."""
        if not metadata.rematch_of:
            return False
        player = self._players.reference(caller, metadata.rematch_of)
        if metadata.asked:
            return player in metadata.asked
        try:
            before = await self._replicas.ledger(metadata.rematch_of)
        except (*BROKEN, MatchUnknown, ArchiveUnavailable, StoreUnavailable):
            return False
        return before.seat_of(player) is not None

    def kept_ms(self, opened_ms: int) -> int:
        """For how many more milliseconds seats are kept in a rematch that was opened at this time."""
        return max(0, opened_ms + KEPT_SECONDS * 1_000 - self._clock_ms())

    async def kept(self, metadata: MatchMetadata, match_id: str) -> Kept:
        """The seats that are kept: one for every player who is asked and has neither sat down nor declined."""
        kept_ms = self.kept_ms(metadata.opened_ms) if metadata.rematch_of else 0
        if not kept_ms:
            return Kept()
        if not metadata.asked:
            return Kept(_ALL_SEATS, kept_ms)
        waited_for = set(metadata.asked) - {b""} - set(metadata.came.values())
        if waited_for:
            waited_for -= await self._declines.list_declined(match_id)
        return Kept(len(waited_for), kept_ms)

    async def decline(self, caller: Subject, metadata: MatchMetadata, match_id: str) -> None:
        """Record that the caller does not want this rematch; raises Refusal if the rematch does not ask the caller."""
        player = self._players.reference(caller, metadata.rematch_of)
        if not metadata.rematch_of or player not in metadata.asked:
            raise Refusal("NOT_SEATED", "a rematch is declined by those who sat in the match before")
        await self._declines.decline(match_id, player, DECLINED_SECONDS)

    async def asks(self, caller: Subject, listed: ListedMatch) -> bool:
        """Whether this match is a rematch that waits for the caller."""
        summary = listed.summary
        if not listed.asked or summary.state != MATCH_STATE_OPEN or not self.kept_ms(summary.opened_ms):
            return False
        player = self._players.reference(caller, summary.rematch_of)
        if player not in listed.asked or player in listed.came:
            return False
        return player not in await self._declines.list_declined(summary.match_id)

    def may_ask(self, caller: Subject, listed: ListedMatch) -> bool:
        """Whether the caller had a seat in the match before this rematch."""
        return bool(listed.asked) and self._players.reference(caller, listed.summary.rematch_of) in listed.asked

    async def offer(self, before: Ledger) -> MatchFrame.Rematch | None:
        """The newest rematch of a match with a result, and the answers by its seats; None if there is none yet."""
        match_id, found = self._players.rematch(before.opened.match_id), None
        for _ in range(MOST_ABORTED):
            listed = await self._lobby.entry(match_id)
            if listed is not None:
                found = await self._answers(before, listed)
                if listed.summary.state != MATCH_STATE_ABORTED:
                    return found
            elif not await self._log.head(match_id):
                return found
            match_id = self._players.rematch(before.opened.match_id, match_id)
        return found

    async def _answers(self, before: Ledger, listed: ListedMatch) -> MatchFrame.Rematch:
        summary, metadata = listed.summary, listed.metadata
        came, declined = set(metadata.came.values()), await self._declines.list_declined(summary.match_id)
        is_open = summary.state == MATCH_STATE_OPEN and self.kept_ms(summary.opened_ms)

        def answer(player: bytes, house: bool) -> MatchFrame.Rematch.Answer.ValueType:  # noqa: FBT001 - of a seat
            if house:
                return _Rematch.ANSWER_HOUSE
            if player in came:
                return _Rematch.ANSWER_ACCEPTED
            if player in declined:
                return _Rematch.ANSWER_DECLINED
            return _Rematch.ANSWER_ASKED if is_open else _Rematch.ANSWER_LAPSED

        return _Rematch(
            match_id=summary.match_id,
            answers=[answer(*seat) for seat in zip(before.players, before.house, strict=True)],
            kept_until_ms=summary.opened_ms + KEPT_SECONDS * 1_000,
            state=summary.state,
        )


def asking(summary: MatchSummary) -> MatchSummary:
    """A copy of a summary for a player whom the rematch asks."""
    copied = deepcopy(summary)
    copied.asks_you = True
    return copied
