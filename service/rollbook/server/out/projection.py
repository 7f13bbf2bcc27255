"""Everything about a match that leaves the service, projected to one perspective.

This is an allow-list. An event leaves as its stored bytes. The hidden part of an outcome leaves only for perspectives
to which the game's `seen`, called with the state before the event, reveals all of it. A view has only the fields that
the game's `view` returned. Only the awaited seat receives the legal choices. The secret is stored with event 1, whose
hidden part is never read here, and becomes public in the bytes of the seal. The signed head of the log is included; one
signature per match and position is shared by all callers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from rollbook.match.chain import HeadKeys, Position
from rollbook.match.codec.envelope import Logged
from rollbook.match.codec.parts import length_delimited
from rollbook.match.codec.views import write_legal, write_legal_bytes, write_view, write_view_bytes
from rollbook.match.events import Happened, Sealed
from rollbook.match.ledger import Ledger, Visible
from rollbook.rules.game import Perspective, Watcher, everything_is_open
from rollbook.v1 import match_pb2 as match_proto
from rollbook.v1 import table_pb2 as proto
from rollbook.v1.events_pb2 import Private
from rollbook.v1.feed_pb2 import MatchFrame
from rollbook.v1.games_pb2 import HiddenOutcome, LegalChoices, View

MOST_SIGNED: Final = 4_096
"""Cache size: signed heads; an evicted one is signed again."""

# Perspectives


def perspective_of(ledger: Ledger, player: bytes, *, is_judge: bool, public_only: bool = False) -> Perspective:
    """A player's perspective: its seat if it has one, else judge if `is_judge`, else public.

    `player` is the salted reference, empty for a caller who cannot have a seat; `public_only` asks for less.
    """
    if public_only:
        return Watcher.PUBLIC
    seat = ledger.seat_of(player)
    if seat is not None:
        return seat
    return Watcher.JUDGE if is_judge else Watcher.PUBLIC


def is_open(ledger: Ledger) -> bool:
    """Whether the game has no hidden parts, so that all perspectives see the same."""
    return ledger.game.seen is everything_is_open


def seen_alike(ledger: Ledger, perspective: Perspective) -> Perspective:
    """A perspective whose frames at this position are byte for byte the same as this one's.

    In a game without hidden parts that is the public one, except for the awaited seat, which receives legal choices.
    """
    if perspective is Watcher.PUBLIC or not is_open(ledger) or perspective == _choosing_seat(ledger):
        return perspective
    return Watcher.PUBLIC


def perspective_message(perspective: Perspective) -> proto.Perspective:
    """The message of a perspective."""
    if isinstance(perspective, Watcher):
        return proto.Perspective(kind=_WATCHERS[perspective])
    return proto.Perspective(kind=proto.PERSPECTIVE_KIND_SEAT, seat=perspective)


_WATCHERS: Final = {
    Watcher.PUBLIC: proto.PERSPECTIVE_KIND_PUBLIC,
    Watcher.JUDGE: proto.PERSPECTIVE_KIND_JUDGE,
}

# Events


def project(event: Visible, perspective: Perspective) -> proto.ProjectedEvent:
    """One event for this perspective; it does not depend on whether the match is sealed by now."""
    hidden = _hidden_outcome(event.logged) if perspective in event.insiders else None
    return proto.ProjectedEvent(event=event.logged.data, hidden=hidden)


def projected_bytes(event: Visible, perspective: Perspective) -> bytes:
    """The bytes of that message."""
    if perspective in event.insiders:
        return project(event, perspective).SerializeToString()
    return length_delimited(proto.ProjectedEvent.EVENT_FIELD_NUMBER, event.logged.data)


def _hidden_outcome(logged: Logged) -> HiddenOutcome | None:
    """The hidden part of an outcome; None for other events, whose hidden parts are never sent."""
    if not logged.private or not isinstance(logged.event, Happened):
        return None
    private = Private.FromString(logged.private)
    return private.hidden if private.HasField("hidden") else None


def made_message(
    events: Sequence[Visible], perspective: Perspective, head: proto.SignedHead | None = None
) -> match_proto.EventsMade:
    """The events that a command made; without `head` only the range and the outcomes."""
    wanted = [event for event in events if head is not None or isinstance(event.logged.event, Happened)]
    return match_proto.EventsMade(
        first=events[0].logged.sequence,
        last=events[-1].logged.sequence,
        events=[project(event, perspective) for event in wanted],
        head=head,
    )


def look_message(
    ledger: Ledger, perspective: Perspective, summary: match_proto.MatchSummary, head: proto.SignedHead, now_ms: int
) -> match_proto.GetMatchResponse:
    """The match as one caller sees it now; all parts are of the same position."""
    return match_proto.GetMatchResponse(
        summary=summary,
        perspective=perspective_message(perspective),
        view=view_message(ledger, perspective),
        legal=legal_message(ledger, perspective),
        clocks=clocks_message(ledger, now_ms),
        head=head,
    )


class NotSealed(Exception):
    """The log is incomplete or not sealed, so it reveals nothing."""


def reveal(log: Sequence[Visible]) -> MatchFrame.Revealed:
    """All hidden parts of a sealed match by sequence, from its whole log; raises NotSealed."""
    if not log or not isinstance(log[-1].logged.event, Sealed) or len(log) != log[-1].logged.sequence:
        raise NotSealed("what a match hides is revealed by its whole log, from event 1 to the seal")
    return MatchFrame.Revealed(
        outcomes=[
            MatchFrame.Revealed.Outcome(sequence=event.logged.sequence, hidden=hidden)
            for event in log
            if (hidden := _hidden_outcome(event.logged)) is not None
        ]
    )


# The table


def view_message(ledger: Ledger, perspective: Perspective) -> View:
    """The table for this perspective; the public one in games without hidden parts."""
    game = ledger.game
    return write_view(game, game.view(ledger.match.state, Watcher.PUBLIC if is_open(ledger) else perspective))


def view_bytes(ledger: Ledger, perspective: Perspective) -> bytes:
    """The bytes of that message."""
    game = ledger.game
    return write_view_bytes(game, game.view(ledger.match.state, Watcher.PUBLIC if is_open(ledger) else perspective))


def legal_message(ledger: Ledger, perspective: Perspective) -> LegalChoices | None:
    """The legal choices of the awaited seat; None for other perspectives and while the caretaker plays the seat."""
    if perspective != _choosing_seat(ledger):
        return None
    return write_legal(ledger.game, ledger.game.legal(ledger.match.state))


def legal_bytes(ledger: Ledger, perspective: Perspective) -> bytes | None:
    """The bytes of that message."""
    if perspective != _choosing_seat(ledger):
        return None
    return write_legal_bytes(ledger.game, ledger.game.legal(ledger.match.state))


def _choosing_seat(ledger: Ledger) -> int | None:
    """The seat that must choose now; None if there is none, or the caretaker chooses for it."""
    match, seat = ledger.match, ledger.awaited_seat
    return None if seat is None or match.sealed is not None or match.played_by_caretaker(seat) else seat


# Clocks


def clocks_message(ledger: Ledger, now_ms: int) -> proto.Clocks | None:
    """The clocks at this time; None unless the match is running and has a clock."""
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


# Signatures


class Heads:
    """Signs heads with one key, and caches the signatures."""

    def __init__(self, keys: HeadKeys) -> None:
        self._keys = keys
        self._signed = lru_cache(MOST_SIGNED)(self._sign)

    def of(self, ledger: Ledger, position: Position | None = None) -> proto.SignedHead:
        """The signed head of the ledger, or of an earlier position of its log; do not modify the message."""
        at = position or ledger.head
        return self._signed(ledger.opened.match_id, at.sequence, at.link)

    def _sign(self, match_id: str, sequence: int, link: bytes) -> proto.SignedHead:
        head = self._keys.sign(match_id, sequence, link)
        return proto.SignedHead(
            match_id=match_id,
            sequence=head.sequence,
            link=head.link,
            key_id=head.key_id,
            signature=head.signature,
        )
