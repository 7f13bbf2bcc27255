"""Logs that lost what was sent: how that is remembered, noticed once, and ended with a seal.

A failover or a restored backup can leave a log that is shorter than, or other than, what this service has shown to
somebody. Nothing may be built on such a log but the seal that says so, behind what is stored. Over a hole nothing is
written, until an operator has the match sealed behind what is left before it, in place of what lies beyond. What was
sent is remembered for as long as the process lives; after that clients remember: a head that they kept, and that we
signed, is as good.
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
from rollbook.server.replica.history import History, left, pages
from rollbook.storage.port import Appended, AppendUnconfirmed, Hole, LobbyEntry, Log, StoreUnavailable

MOST_REMEMBERED: Final = 100_000
"""Matches whose highest head is remembered."""

MOST_NOTICED: Final = 10_000
TRIES: Final = 3
"""How often a seal is tried when somebody else was faster, or the store said nothing."""

_logger = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class FurthestSent:
    """The furthest that this process has sent of a match."""

    position: Position
    sealed: bool
    """Whether that was the seal; the log of a match that is over may be let go of."""


def _not_counted() -> None:
    """Nobody counts."""


@asynccontextmanager
async def _unlisted(_ledger: Ledger) -> AsyncIterator[LobbyEntry]:
    """It leaves the lobby."""
    yield LobbyEntry(b"")


async def _nowhere(_match_id: str) -> Position | None:
    """Nobody says how far a match has got."""
    return None


class LostTails:
    """What has been sent of every match, and what becomes of those whose log lost some of it."""

    def __init__(
        self,
        log: Log,
        keys: HeadKeys,
        noticed: Callable[[], None] = _not_counted,
        summary: Callable[[Ledger], AbstractAsyncContextManager[LobbyEntry | None]] = _unlisted,
        listed: Callable[[str], Awaitable[Position | None]] = _nowhere,
    ) -> None:
        """Watch over this log, whose heads these keys sign; `noticed` is called once for each match that lost some.

        `summary` is what the lobby says of a match that was sealed for it, `listed` behind which event it last said
        something of one.
        """
        self._log = log
        self._keys = keys
        self._summary = summary
        self._listed = listed
        self._count = noticed
        self._sent: LRUCache[str, FurthestSent] = LRUCache(MOST_REMEMBERED)
        self._noticed: LRUCache[str, bool] = LRUCache(MOST_NOTICED)

    def furthest_sent(self, match_id: str) -> FurthestSent | None:
        """The furthest that has been sent; ask before reading the log that it is compared with."""
        return self._sent.get(match_id)

    def has_noticed(self, match_id: str) -> bool:
        """Whether something was lost of it, as far as this process knows."""
        return match_id in self._noticed

    def record_sent(self, match_id: str, position: Position, *, sealed: bool) -> None:
        """Remember what somebody is about to be sent."""
        before = self._sent.get(match_id)
        if before is None or before.position.sequence < position.sequence:
            self._sent[match_id] = FurthestSent(position, sealed)

    async def falls_short(self, match_id: str, sent: FurthestSent | None, stored: int) -> bool:
        """Whether less is stored than was sent, and not because the log of a match that is over was let go of."""
        if sent is None or stored >= sent.position.sequence:
            return False
        return not (sent.sealed and await self._log.head(match_id) >= sent.position.sequence)

    def have_signed(self, match_id: str, head: Head) -> bool:
        """Whether the service itself vouched for this head."""
        return self._keys.have_signed(match_id, head)

    async def seal(self, match_id: str, known: int, stored: int, kept: Head | None = None) -> None:
        """Seal the match behind what is stored, unless somebody has, or nothing that holds together is stored.

        The evidence is the head that was sent; or one that somebody kept, where this process has sent nothing.
        """
        if match_id not in self._noticed:
            self._noticed[match_id] = True
            self._count()
            _logger.error("a log has lost events that were sent", match=match_id, known=known, stored=stored)
        try:
            sealed = await self._sealed(match_id, kept or self._sent_head(match_id))
        except (StoreUnavailable, AppendUnconfirmed) as failure:
            # It is noticed again as soon as anybody asks for the match.
            _logger.warning("a match that lost its tail cannot be sealed yet", match=match_id, reason=str(failure))
            return
        if sealed is not None:
            self._sent[match_id] = FurthestSent(sealed.head, sealed=True)

    async def end(self, match_id: str, origin: Origin) -> History:
        """Seal a match whose log is lost behind what is stored and holds together, in place of what lies beyond.

        If there is nothing of it, it leaves the lobby and is never begun again. Raises Unreadable for what another
        version may be able to read, StoreUnavailable and AppendUnconfirmed.
        """
        # The lobby was written along with that event: it is evidence, also if this process has sent nothing.
        if (listed := await self._listed(match_id)) is not None:
            self.record_sent(match_id, listed, sealed=False)
        for _ in range(TRIES):
            history, head = await left(self._log, match_id), await self._log.head(match_id)
            ledger = history.ledger
            if ledger is None:
                await self._log.drop(match_id)
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
                return await left(self._log, match_id)
        raise StoreUnavailable("the log of the match goes on although it is lost")

    async def _lost_head(self, match_id: str, stored: int, head: int) -> Head | None:
        """The evidence: the last event beyond what is left, or the furthest that was sent; none if nobody knows one."""
        with suppress(Hole):
            if head > stored and (newest := await self._log.read(match_id, head - 1, 1)):
                return self._keys.sign(match_id, head, link(newest[0].event))
        sent = self._sent_head(match_id)
        return sent if sent is not None and sent.sequence > stored else None

    def _sent_head(self, match_id: str) -> Head | None:
        sent = self._sent.get(match_id)
        return None if sent is None else self._keys.sign(match_id, sent.position.sequence, sent.position.link)

    async def _sealed(self, match_id: str, lost: Head | None) -> Ledger | None:
        for _ in range(TRIES):
            ledger = await self._stored(match_id, lost)
            if ledger is None or ledger.match.sealed is not None:
                return ledger
            if lost is None:
                return None
            decision = decide(ledger, SealLost(Origin(await self._log.now_ms()), lost))
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

    async def _stored(self, match_id: str, lost: Head | None) -> Ledger | None:
        """The fold of what is stored; none if that is nothing, does not hold together, or holds that head after all."""
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
