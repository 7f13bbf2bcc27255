"""Seals a match if its log in the store lacks events that this service has already sent to clients.

A failover or a restored backup can leave a log that is shorter than, or differs from, what this service has sent to
clients. The only event that may follow in such a log is the seal that records the loss, after the stored events. A log
with a hole is not written to until an operator ends the match: then the seal replaces everything after the hole. A
process remembers the furthest position that it sent of each match. After a restart, a signed head that a client kept
proves the loss as well.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Final

import structlog
from cachetools import LRUCache

from rollbook.match.chain import Entry, Head, HeadKeys, Position, link
from rollbook.match.codec.moves import Unreadable
from rollbook.match.commands import Abort, Origin, SealLost
from rollbook.match.decide import decide
from rollbook.match.fold import Misplaced
from rollbook.match.ledger import Ledger
from rollbook.rules.refusals import RefusedByRules
from rollbook.server.replica.history import History, pages, read_stored
from rollbook.storage.port import (
    Appended,
    AppendUnconfirmed,
    EventLog,
    Hole,
    LobbyEntry,
    LobbyStore,
    SharedClock,
    StoreUnavailable,
)

MOST_REMEMBERED: Final = 100_000
"""Cache size: matches whose furthest position sent is remembered."""

MOST_NOTICED: Final = 10_000
TRIES: Final = 3
"""How often a seal is tried after a conflict or an unconfirmed append."""

_logger = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class FurthestSent:
    """The furthest position of a match that this process has sent."""

    position: Position
    sealed: bool
    """Whether this is the position of the seal, after which the log may be trimmed."""


def _not_counted() -> None:
    """The default for `noticed`."""


@asynccontextmanager
async def _remove_entry(_ledger: Ledger) -> AsyncIterator[LobbyEntry]:
    """The default for `summary`, which removes the match from the lobby."""
    yield LobbyEntry(b"")


async def _nowhere(_match_id: str) -> Position | None:
    """The default for `listed`."""
    return None


class LostTails:
    """Remembers the furthest position sent of each match, and seals a match whose log no longer contains it."""

    def __init__(  # noqa: PLR0913 - the parts that a seal needs
        self,
        log: EventLog,
        lobby: LobbyStore,
        clock: SharedClock,
        keys: HeadKeys,
        noticed: Callable[[], None] = _not_counted,
        *,
        summary: Callable[[Ledger], AbstractAsyncContextManager[LobbyEntry | None]] = _remove_entry,
        listed: Callable[[str], Awaitable[Position | None]] = _nowhere,
    ) -> None:
        """`keys` sign this log's heads; `noticed` is called once for each match with a loss.

        `summary` returns the lobby entry of a match that is sealed because of a loss, `listed` the position at which
        the lobby entry of a match was last written.
        """
        self._log = log
        self._lobby = lobby
        self._clock = clock
        self._keys = keys
        self._summary = summary
        self._listed = listed
        self._count = noticed
        self._sent: LRUCache[str, FurthestSent] = LRUCache(MOST_REMEMBERED)
        self._noticed: LRUCache[str, bool] = LRUCache(MOST_NOTICED)

    def furthest_sent(self, match_id: str) -> FurthestSent | None:
        """The furthest position sent; call this before reading the log to compare."""
        return self._sent.get(match_id)

    def has_noticed(self, match_id: str) -> bool:
        """Whether this process has noticed a loss in the match."""
        return match_id in self._noticed

    def record_sent(self, match_id: str, position: Position, *, sealed: bool) -> None:
        """Remember a position that is about to be sent."""
        before = self._sent.get(match_id)
        if before is None or before.position.sequence < position.sequence:
            self._sent[match_id] = FurthestSent(position, sealed)

    async def falls_short(self, match_id: str, sent: FurthestSent | None, stored: int) -> bool:
        """Whether the store has less than was sent, unless the log of a finished match was trimmed."""
        if sent is None or stored >= sent.position.sequence:
            return False
        return not (sent.sealed and await self._log.head(match_id) >= sent.position.sequence)

    def have_signed(self, match_id: str, head: Head) -> bool:
        """Whether the head has a valid signature of this service."""
        return self._keys.have_signed(match_id, head)

    async def seal(self, match_id: str, known: int, stored: int, kept: Head | None = None) -> None:
        """Seal the match after the stored events, unless it is sealed or no consistent events are stored.

        The evidence is `kept`, a client's head, or else the furthest head that this process has sent.
        """
        if match_id not in self._noticed:
            self._noticed[match_id] = True
            self._count()
            _logger.error("a log has lost events that were sent", match=match_id, known=known, stored=stored)
        try:
            sealed = await self._seal_log(match_id, kept or self._sent_head(match_id))
        except (StoreUnavailable, AppendUnconfirmed) as failure:
            # The loss is noticed again at the next access to the match.
            _logger.warning("a match that lost its tail cannot be sealed yet", match=match_id, reason=str(failure))
            return
        if sealed is not None:
            self._sent[match_id] = FurthestSent(sealed.head, sealed=True)

    async def end(self, match_id: str, origin: Origin) -> History:
        """Seal a lost match for an operator, after its consistent events, replacing everything after them.

        A match without any events leaves the lobby, and its id is not used again. Raises Unreadable for events of
        another version, StoreUnavailable and AppendUnconfirmed.
        """
        # The lobby entry was written together with that event, so it is evidence even if this process has sent nothing.
        if (listed := await self._listed(match_id)) is not None:
            self.record_sent(match_id, listed, sealed=False)
        for _ in range(TRIES):
            history, head = await read_stored(self._log, match_id), await self._log.head(match_id)
            ledger = history.ledger
            if ledger is None:
                await self._lobby.drop(match_id)
                return history
            if ledger.match.sealed is not None:
                return history
            lost = await self._lost_head(match_id, ledger.head.sequence, head)
            decision = decide(ledger, Abort(origin) if lost is None else SealLost(origin, lost))
            entries = [Entry(logged.data, logged.private) for logged in decision.entries]
            stored = ledger.head.sequence
            beyond = head if head > stored else None
            async with self._summary(decision.after) as lobby:
                result = await self._log.append(match_id, stored, entries, lobby=lobby, in_place_of=beyond)
            if isinstance(result, Appended):
                _logger.error("an operator ended a match whose log is lost", match=match_id, sequence=result.head)
                self._sent[match_id] = FurthestSent(decision.after.head, sealed=True)
                return await read_stored(self._log, match_id)
        raise StoreUnavailable("the log of the match goes on although it is lost")

    async def _lost_head(self, match_id: str, stored: int, head: int) -> Head | None:
        """The evidence of the loss: the last event after the hole, or the furthest head sent; None without either."""
        with suppress(Hole):
            if head > stored and (newest := await self._log.read(match_id, head - 1, 1)):
                return self._keys.sign(match_id, head, link(newest[0].event))
        sent = self._sent_head(match_id)
        return sent if sent is not None and sent.sequence > stored else None

    def _sent_head(self, match_id: str) -> Head | None:
        sent = self._sent.get(match_id)
        return None if sent is None else self._keys.sign(match_id, sent.position.sequence, sent.position.link)

    async def _seal_log(self, match_id: str, lost: Head | None) -> Ledger | None:
        for _ in range(TRIES):
            ledger = await self._fold_stored(match_id, lost)
            if ledger is None or ledger.match.sealed is not None:
                return ledger
            if lost is None:
                return None
            decision = decide(ledger, SealLost(Origin(await self._clock.now_ms()), lost))
            entries = [Entry(logged.data, logged.private) for logged in decision.entries]
            try:
                async with self._summary(decision.after) as lobby:
                    result = await self._log.append(match_id, ledger.head.sequence, entries, lobby=lobby)
            except AppendUnconfirmed:
                continue
            if isinstance(result, Appended):
                _logger.error("sealed a match that lost its tail", match=match_id, sequence=result.head)
                return decision.after
        return None

    async def _fold_stored(self, match_id: str, lost: Head | None) -> Ledger | None:
        """Fold the stored events; None if they are inconsistent, or contain `lost` after all, or if there are none."""
        history = History(match_id)
        try:
            async for entries in pages(self._log, match_id):
                for entry in entries:
                    history.take(history.read(entry))
                    if lost is not None and history.head == Position(lost.sequence, lost.link):
                        return None
        except (Hole, Misplaced, RefusedByRules, Unreadable):
            return None
        return history.ledger
