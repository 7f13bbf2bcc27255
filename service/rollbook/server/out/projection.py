"""Everything that leaves the service about a match, as one pair of eyes may see it.

This is an allow-list. An event leaves as the bytes that were stored; what lies hidden beside it leaves only where the
game's own `seen`, asked of the state before the event, hands the whole outcome to that perspective; a view holds the
fields that the game's `view` gave and no others; what may be chosen is told to the seat that is to choose. The secret
lies beside event 1, which is never looked at here, and is in the bytes of the seal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from rollbook.match.chain import Position
from rollbook.match.codec.envelope import Logged
from rollbook.match.codec.views import write_legal, write_view
from rollbook.match.events import Happened, Sealed
from rollbook.match.heads import sign_head
from rollbook.match.ledger import Ledger
from rollbook.match.perspective import as_seen
from rollbook.rules.game import Perspective, Watcher
from rollbook.v1 import table_pb2 as proto
from rollbook.v1.events_pb2 import Private
from rollbook.v1.feed_pb2 import MatchFrame
from rollbook.v1.games_pb2 import HiddenOutcome, LegalChoices, View

# Whose eyes


def perspective_of(ledger: Ledger, player: bytes, *, is_judge: bool, public_only: bool = False) -> Perspective:
    """What this player sees: as its seat if it holds one, else as a judge, else as the public.

    `player` is the salted reference, empty for somebody who cannot hold a seat; `public_only` asks for less.
    """
    if public_only:
        return Watcher.PUBLIC
    seat = ledger.seat_of(player)
    if seat is not None:
        return seat
    return Watcher.JUDGE if is_judge else Watcher.PUBLIC


def perspective_message(perspective: Perspective) -> proto.Perspective:
    """The perspective for whoever has it."""
    if isinstance(perspective, Watcher):
        return proto.Perspective(kind=_WATCHERS[perspective])
    return proto.Perspective(kind=proto.PERSPECTIVE_KIND_SEAT, seat=perspective)


_WATCHERS: Final = {
    Watcher.PUBLIC: proto.PERSPECTIVE_KIND_PUBLIC,
    Watcher.JUDGE: proto.PERSPECTIVE_KIND_JUDGE,
}

# Events


@dataclass(frozen=True, slots=True)
class Projected:
    """One event on its way out: as everybody gets it, and as those do who may see what it hides."""

    plain: proto.ProjectedEvent
    whole: proto.ProjectedEvent
    insiders: frozenset[Perspective]

    def seen_by(self, perspective: Perspective) -> proto.ProjectedEvent:
        """The event as this pair of eyes gets it; whether the match is sealed by now makes no difference."""
        return self.whole if perspective in self.insiders else self.plain


class Projector:
    """Walks along a log once for all pairs of eyes; views, choices and heads are those of its ledger."""

    def __init__(self, before: Ledger | None = None) -> None:
        """Stand behind the head of this ledger, which stays as it is, or before event 1."""
        self._ledger = None if before is None else before.copy()

    @property
    def ledger(self) -> Ledger:
        """The match after the event that was taken last; read it, and do not change it."""
        if self._ledger is None:
            raise LookupError("there is no match before its event 1")
        return self._ledger

    def take(self, logged: Logged) -> Projected:
        """Project the next event and go behind it; refused like `Ledger.take` if it is not the next."""
        projected = _project(self._ledger, logged)
        if self._ledger is None:
            self._ledger = Ledger(logged)
        else:
            self._ledger.take(logged)
        return projected


def projected_event(before: Ledger | None, logged: Logged, perspective: Perspective) -> proto.ProjectedEvent:
    """One event as this pair of eyes gets it; `before` is the match right before it, none for event 1."""
    return _project(before, logged).seen_by(perspective)


def projected_events(
    before: Ledger | None, log: Iterable[Logged], perspective: Perspective
) -> list[proto.ProjectedEvent]:
    """Events that follow each other as this pair of eyes gets them; `before` is the match right before the first."""
    projector = Projector(before)
    return [projector.take(logged).seen_by(perspective) for logged in log]


def _project(before: Ledger | None, logged: Logged) -> Projected:
    plain = proto.ProjectedEvent(event=logged.data)
    hidden = _hidden(logged)
    if before is None or hidden is None:
        return Projected(plain, plain, frozenset())
    insiders = frozenset(
        perspective
        for perspective in (*Watcher, *range(len(before.players)))
        if as_seen(before.match, logged.event, perspective) == logged.event
    )
    return Projected(plain, proto.ProjectedEvent(event=logged.data, hidden=hidden), insiders)


def _hidden(logged: Logged) -> HiddenOutcome | None:
    """What lies beside an outcome; nothing that lies beside another event is ever for anybody."""
    if not logged.private or not isinstance(logged.event, Happened):
        return None
    private = Private.FromString(logged.private)
    return private.hidden if private.HasField("hidden") else None


class NotSealed(Exception):
    """A log that is not whole, from event 1 to the seal, reveals nothing."""


def revealed(log: Sequence[Logged]) -> MatchFrame.Revealed:
    """All that a sealed match hid, ascending by sequence, from its whole log."""
    if not log or not isinstance(log[-1].event, Sealed) or len(log) != log[-1].sequence:
        raise NotSealed("what a match hides is revealed by its whole log, from event 1 to the seal")
    return MatchFrame.Revealed(
        outcomes=[
            MatchFrame.Revealed.Outcome(sequence=logged.sequence, hidden=hidden)
            for logged in log
            if (hidden := _hidden(logged)) is not None
        ]
    )


# The table


def view_message(ledger: Ledger, perspective: Perspective) -> View:
    """The table as this pair of eyes sees it."""
    return write_view(ledger.game, ledger.game.view(ledger.match.state, perspective))


def legal_message(ledger: Ledger, perspective: Perspective) -> LegalChoices | None:
    """Everything that this seat may choose now; nothing for all others, nor while its caretaker chooses for it."""
    match = ledger.match
    seat = ledger.awaited_seat
    if seat is None or perspective != seat or match.sealed is not None or match.played_by_caretaker(seat):
        return None
    return write_legal(ledger.game, ledger.game.legal(match.state))


# Clocks and heads


def clocks_message(ledger: Ledger, now_ms: int) -> proto.Clocks | None:
    """The clocks at this moment; nothing unless the match is running and has a clock."""
    clock = ledger.clock.copy()
    if not clock.turn_ms or not ledger.match.started or ledger.match.sealed is not None:
        return None
    running = clock.waiting
    if running:
        clock.end_wait(clock.charge(now_ms))
    return proto.Clocks(
        at_ms=now_ms,
        seat=clock.seat if running else None,
        turn_left_ms=clock.left_ms if running else 0,
        reserve_left_ms=clock.reserve_ms,
    )


def signed_head(
    key: Ed25519PrivateKey, key_id: str, ledger: Ledger, position: Position | None = None
) -> proto.SignedHead:
    """The service's word for the head of the ledger, or for an earlier position of the same log."""
    match_id = ledger.opened.match_id
    head = ledger.head if position is None else position
    return proto.SignedHead(
        match_id=match_id,
        sequence=head.sequence,
        link=head.link,
        key_id=key_id,
        signature=sign_head(key, match_id, head.sequence, head.link),
    )
