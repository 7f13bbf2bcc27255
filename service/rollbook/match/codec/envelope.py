"""An event's bytes: serialised once, then hashed, stored, sent and archived unchanged.

The bytes also contain the envelope of an event: its number, its time, the link of the event before, and the request it
came from. Hidden parts are not in them, but in separate bytes, the private part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache, partial
from typing import Any, Final

from google.protobuf.message import DecodeError

from rollbook.match.chain import Head, link
from rollbook.match.codec.messages import read_choice, read_outcome, write_choice, write_hidden, write_outcome
from rollbook.match.codec.moves import Unreadable
from rollbook.match.codec.parts import Remembered
from rollbook.match.codec.views import read_options, write_options
from rollbook.match.dice import SCHEME
from rollbook.match.events import (
    LOG_LOST,
    Chosen,
    Event,
    Forfeited,
    Happened,
    Opened,
    Ready,
    Resigned,
    Resumed,
    Sealed,
    SeatLeft,
    SeatTaken,
    Started,
    Terms,
    TimedOut,
)
from rollbook.rules.catalogue import AnyGame, find
from rollbook.rules.refusals import RefusedByRules
from rollbook.v1 import events_pb2 as proto

ENVELOPE: Final = 2
ENVELOPE_BEFORE_RELEASE: Final = 1
LINK_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64


@dataclass(frozen=True, slots=True)
class Logged:
    """One event of a log with its envelope and its bytes."""

    sequence: int
    time_ms: int
    previous: bytes
    """The link of the event before."""
    event: Event
    request: bytes
    """Hash of the request whose first event this is, 16 bytes; empty for all other events."""
    data: bytes
    """The event's bytes."""
    private: bytes
    """The private part; empty if nothing is hidden."""

    @property
    def link(self) -> bytes:
        """The link of this event, which the next one contains."""
        return link(self.data)


def write_bytes(  # noqa: PLR0913 - the whole envelope
    game: AnyGame,
    event: Event,
    *,
    sequence: int,
    time_ms: int,
    previous: bytes,
    request: bytes = b"",
    secret: bytes = b"",
) -> Logged:
    """Serialise an event; the private part is the secret for event 1, and for a draw what it hides, if known."""
    seat = getattr(event, "seat", None)
    around = proto.Event(sequence=sequence, time_ms=time_ms, previous=previous, request=request, seat=seat)
    private = b""
    if isinstance(event, Chosen):
        body = _bodies(game)[event]
    elif isinstance(event, Happened):
        body = _bodies(game)[event]
        private = _privates(game)[event.outcome]
    else:
        body = _body_bytes(game, event)
        if isinstance(event, Opened):
            private = proto.Private(secret=secret).SerializeToString(deterministic=True)
    # The body's field numbers are higher than those of the envelope.
    data = around.SerializeToString(deterministic=True) + body
    return Logged(sequence, time_ms, previous, event, request, data, private)


def write_private(game: AnyGame, outcome: Any) -> bytes:
    """The private part of an outcome; empty if it hides nothing, or nothing that is known."""
    hidden = write_hidden(game, outcome)
    return b"" if hidden is None else proto.Private(hidden=hidden).SerializeToString(deterministic=True)


def read_bytes(data: bytes, private: bytes = b"", game: AnyGame | None = None, match_id: str = "") -> Logged:
    """Parse the bytes of an event; without the private part its hidden parts stay hidden.

    The game is that of event 1, which itself is read without one. Raises Unreadable.
    """
    try:
        written = proto.Event.FromString(data)
        parsed = proto.Private.FromString(private)
    except DecodeError:
        raise Unreadable("these bytes are no event") from None
    try:
        event = _read_opened(written, match_id) if game is None else _read_body(game, written, parsed)
    except RefusedByRules as refused:
        raise Unreadable(str(refused)) from None
    return Logged(written.sequence, written.time_ms, written.previous, event, written.request, data, private)


def read_secret(private: bytes) -> bytes:
    """The secret in the private part of event 1."""
    return proto.Private.FromString(private).secret


# Writing


@cache
def _bodies(game: AnyGame) -> Remembered:
    """Cache of the bytes of common choices and outcomes, for all matches of a game."""
    return Remembered(partial(_body_bytes, game))


@cache
def _privates(game: AnyGame) -> Remembered:
    return Remembered(partial(write_private, game))


def _body_bytes(game: AnyGame, event: Event) -> bytes:
    written = proto.Event()
    _write_body(game, event, written)
    return written.SerializeToString(deterministic=True)


def _write_body(game: AnyGame, event: Event, written: proto.Event) -> None:
    match event:
        case Opened():
            _write_opened(game, event, written.opened)
        case SeatTaken():
            written.seat_taken.player = event.player
            written.seat_taken.entropy_commitment = event.entropy_commitment
            written.seat_taken.house = event.house
            written.seat_taken.SetInParent()
        case Ready():
            written.ready.closing_link = event.closing_link
            written.ready.entropy = event.entropy
            written.ready.SetInParent()
        case Happened():
            written.happened.outcome.CopyFrom(write_outcome(game, event.outcome))
        case Chosen():
            written.chosen.by_caretaker = event.by_caretaker
            written.chosen.charged_ms = event.charged_ms
            written.chosen.choice.CopyFrom(write_choice(game, event.choice))
        case TimedOut():
            written.timed_out.not_before_ms = event.not_before_ms
            written.timed_out.charged_ms = event.charged_ms
            written.timed_out.SetInParent()
        case Resumed():
            written.resumed.not_charged_ms = event.not_charged_ms
            written.resumed.SetInParent()
        case Sealed():
            _write_sealed(event, written.sealed)
        case SeatLeft() | Started() | Forfeited() | Resigned():
            getattr(written, _BARE[type(event)]).SetInParent()


_BARE: Final[dict[type, str]] = {
    SeatLeft: "seat_left",
    Started: "started",
    Forfeited: "forfeited",
    Resigned: "resigned",
}


def _write_opened(game: AnyGame, event: Opened, opened: proto.Opened) -> None:
    opened.envelope = ENVELOPE
    opened.fairness = SCHEME
    opened.game = event.game
    opened.ruleset = event.ruleset
    opened.seats = len(event.names)
    opened.commitment = event.commitment
    for field in fields(Terms):
        setattr(opened, field.name, getattr(event.terms, field.name))
    opened.options.CopyFrom(write_options(game, event.options))


def _write_sealed(event: Sealed, sealed: proto.Sealed) -> None:
    sealed.secret = event.secret
    if event.aborted is None:
        sealed.places.places.extend(event.places or ())
        return
    sealed.aborted.CopyFrom(aborted_message(event.aborted))
    if event.lost is not None:
        lost = sealed.aborted.lost
        lost.sequence, lost.link = event.lost.sequence, event.lost.link
        lost.key_id, lost.signature = event.lost.key_id, event.lost.signature


def aborted_message(why: str) -> proto.Sealed.Aborted:
    """The reason why a match was aborted as a message, without the evidence of a lost log."""
    reason, _, seats = why.partition(":")
    number = proto.AbortReason.Value(_ABORT_PREFIX + reason.upper())
    return proto.Sealed.Aborted(reason=number, seats=map(int, seats.split(",")) if seats else ())


_ABORT_PREFIX: Final = "ABORT_REASON_"


# Reading


def _read_opened(written: proto.Event, match_id: str) -> Opened:
    opened = written.opened
    if written.WhichOneof("body") != "opened":
        raise Unreadable("a log begins with the event that opens the match")
    if opened.envelope != ENVELOPE or opened.fairness != SCHEME:
        raise Unreadable(f"envelope {opened.envelope} with dice by {opened.fairness!r} is not known here")
    game = find(opened.game, opened.ruleset)
    return Opened(
        match_id=match_id,
        game=game.name,
        ruleset=game.version,
        options=read_options(game, opened.options, opened.seats),
        names=("",) * opened.seats,
        commitment=opened.commitment,
        terms=Terms(*[getattr(opened, field.name) for field in fields(Terms)]),
    )


def _read_body(game: AnyGame, written: proto.Event, private: proto.Private) -> Event:
    body = written.WhichOneof("body")
    if body == "happened":
        return _read_happened(game, written.happened, private)
    if body == "chosen":
        return _read_chosen(game, written.seat, written.chosen)
    if body not in _READERS:
        raise Unreadable("the event has a body that is not known here, or one that cannot stand here")
    return _READERS[body](written)


_READERS: Final[dict[str, Callable[[proto.Event], Event]]] = {
    "seat_taken": lambda written: SeatTaken(
        written.seat, written.seat_taken.player, written.seat_taken.entropy_commitment, written.seat_taken.house
    ),
    "seat_left": lambda written: SeatLeft(written.seat),
    "ready": lambda written: Ready(written.seat, written.ready.entropy, written.ready.closing_link),
    "started": lambda _: Started(),
    "timed_out": lambda written: TimedOut(written.seat, written.timed_out.not_before_ms, written.timed_out.charged_ms),
    "forfeited": lambda written: Forfeited(written.seat),
    "resigned": lambda written: Resigned(written.seat),
    "resumed": lambda written: Resumed(written.resumed.not_charged_ms),
    "sealed": lambda written: _read_sealed(written.sealed),
}


def _read_happened(game: AnyGame, happened: proto.Happened, private: proto.Private) -> Event:
    return Happened(read_outcome(game, happened.outcome, private.hidden if private.HasField("hidden") else None))


def _read_chosen(game: AnyGame, seat: int, chosen: proto.Chosen) -> Event:
    return Chosen(seat, read_choice(game, chosen.choice), chosen.by_caretaker, chosen.charged_ms)


def _read_sealed(sealed: proto.Sealed) -> Sealed:
    if sealed.WhichOneof("result") == "places":
        return Sealed(tuple(sealed.places.places), None, sealed.secret)
    reason = proto.AbortReason.Name(sealed.aborted.reason) if sealed.aborted.reason in _ABORT_REASONS else ""
    if not reason:
        raise Unreadable("the match is sealed for a reason that is not known here")
    seats = ",".join(map(str, sealed.aborted.seats))
    aborted = reason.removeprefix(_ABORT_PREFIX).lower() + (f":{seats}" if seats else "")
    lost = _read_lost(sealed.aborted.lost) if sealed.aborted.HasField("lost") else None
    if (aborted == LOG_LOST) != (lost is not None):
        raise Unreadable("a lost log is sealed with a head that it has lost, and nothing else is")
    return Sealed(None, aborted, sealed.secret, lost)


def _read_lost(lost: proto.Sealed.LostHead) -> Head:
    if not lost.sequence or (len(lost.link), len(lost.signature)) != (LINK_BYTES, SIGNATURE_BYTES):
        raise Unreadable(f"a head has a link of {LINK_BYTES} and a signature of {SIGNATURE_BYTES} bytes")
    return Head(lost.sequence, lost.link, lost.key_id, lost.signature)


_ABORT_REASONS: Final = set(proto.AbortReason.values()) - {proto.ABORT_REASON_UNSPECIFIED}
