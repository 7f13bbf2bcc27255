"""Decodes events, and refuses bytes that are not the canonical encoding of their event.

Protobuf has many encodings of the same message: repeated fields, another order, unknown fields. A forger could use them
to hide data in a log that every reader ignores. The audit therefore accepts only the canonical encoding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf.message import DecodeError

from rollbook.match.codec.compact import compact_of
from rollbook.match.codec.envelope import ENVELOPE, ENVELOPE_BEFORE_RELEASE, Logged, read_bytes, write_bytes
from rollbook.match.codec.moves import Unreadable
from rollbook.match.codec.notation import LineWriter, dumps
from rollbook.match.dice import SCHEME
from rollbook.match.events import Chosen, Event, Happened, Opened, Ready, Sealed
from rollbook.replay_file.container import BeforeRelease
from rollbook.rules.catalogue import AnyGame as AnyGame  # noqa: PLC0414 - re-exported for callers of `Reader`
from rollbook.rules.catalogue import find
from rollbook.rules.refusals import RefusedByRules
from rollbook.v1 import events_pb2 as proto
from rollbook_replays.audit.divergence import Diverged
from rollbook_replays.audit.envelopes import choice_taken_off, readiness_taken_off, taken_off, without_request
from rollbook_replays.audit.verdicts import Check

MOST_REMEMBERED: Final = 20_000
"""Event bodies of one game in the cache; matches without a clock have few different ones."""

MOST_HAPPENED: Final = 1 << 12
"""Cached outcomes: more than a game has that creates each outcome once.

The cache does not help games that create a new outcome object for each event.
"""

LONGEST_REMEMBERED: Final = 256
"""Bytes of a cached body: longer bodies do not recur, and a forger must not fill the memory of a long run."""

CANONICAL: Final = "an event of these rules, in the one way in which it is written"


def unknown_envelope(first: bytes) -> str | None:
    """What a program needs to decode the events of this log, in words; None if this program can decode them."""
    envelope = read_opened(first).envelope
    if envelope == ENVELOPE_BEFORE_RELEASE:
        return str(BeforeRelease())
    return None if envelope <= ENVELOPE else f"a program that knows envelope {envelope}"


def unknown_rules(first: bytes) -> str | None:
    """What a program needs to follow this match, in words; None if this one can, or if event 1 is incomplete."""
    opened = read_opened(first)
    if not opened.game or not opened.fairness or opened.ruleset < 1:
        return None
    if opened.fairness != SCHEME:
        return f"a program that knows dice by {opened.fairness[:40]!r}"
    try:
        find(opened.game, opened.ruleset)
    except RefusedByRules:
        return f"a program that knows ruleset {opened.ruleset} of {opened.game[:40]!r}"
    return None


@dataclass(frozen=True, slots=True)
class Around:
    """The envelope of an event whose body this program cannot decode."""

    sequence: int
    time_ms: int
    previous: bytes


def read_around(number: int, data: bytes) -> Around:
    """Decode the envelope of an event of unknown rules; raises `Diverged` if the bytes are no event."""
    try:
        written = proto.Event.FromString(data)
    except DecodeError:
        raise Diverged(number, Check.CONTAINER, "an event", "bytes that are none") from None
    return Around(written.sequence, written.time_ms, written.previous)


def read_first(data: bytes, match_id: str) -> tuple[AnyGame, Logged]:
    """Decode event 1 and return the game that it opens with it; raises `Diverged` if it is not canonical."""
    logged = _read(1, data, None, match_id)
    opened = logged.event
    assert isinstance(opened, Opened)  # noqa: S101 - without a game, `_read` returns only `Opened`
    game = find(opened.game, opened.ruleset)
    _written_again(1, logged, game)
    return game, logged


class Reader:
    """Decodes the events after event 1 without their hidden values, and checks that each encoding is canonical.

    It decodes most events without protobuf. An outcome of chance is drawn first, so that its bytes only have to be
    compared. Other bodies recur: the first event with a body is checked as a whole, and later events with the same body
    need only a canonical envelope. Protobuf encodes fields one after the other, so the body does not depend on the
    envelope.
    """

    def __init__(self, game: AnyGame) -> None:
        """Start with empty caches for this game."""
        self._game = game
        self._compact = compact_of(game)
        self._proved: dict[bytes, Event] = {}
        self.known: Callable[[bytes], Event | None] = self._proved.get
        """Look up the event of a body in the cache; None if the body is new."""
        self._happened: dict[bytes, Happened[Any]] = {}
        """Outcome events by body, each the first with this body, and with its hidden values."""
        self._last: Logged | None = None
        """The last event that protobuf decoded."""

    def __call__(self, number: int, data: bytes, previous: bytes, drawn: Any = None) -> tuple[Event, int, bytes]:
        """Return the event, time in ms and request of event `number`, whose predecessor has the link `previous`.

        If the bytes encode the outcome `drawn`, the event holds that very object, with its hidden values. Raises
        `Diverged` if the encoding, the number or the link is wrong.
        """
        usual = taken_off(number, data, previous)
        request = body = b""
        if usual is not None:
            time_ms, body = usual
            found = None if drawn is None else self.read_happened(body, drawn)
            if found is not None:
                return found, time_ms, b""
            event = self.known(body)
            if event is None:
                event, request, body = self.usual(body)
            if event is not None:
                return event, time_ms, request
        logged = self._whole(number, data)
        check_chain(number, logged, previous)
        # Readiness and seals differ in every match, so caching them is useless.
        if request == logged.request and not isinstance(logged.event, Ready | Sealed):
            _remember(self._proved, body, logged.event)
        return logged.event, logged.time_ms, logged.request

    def read_happened(self, body: bytes, drawn: Any) -> Happened[Any] | None:
        """The event of this body, holding the object `drawn`; None if the body does not encode that outcome."""
        happened = self._happened.get(body)
        if happened is not None and happened.outcome is drawn:
            return happened
        if body != self._compact.write_happened(drawn):
            return None
        happened = Happened(drawn)
        if len(self._happened) < MOST_HAPPENED:
            self._happened[body] = happened
        return happened

    def usual(self, left: bytes) -> tuple[Event | None, bytes, bytes]:
        """Event, request and body from the bytes after the link; the event is None if protobuf has to decode it."""
        request, body = without_request(left)
        event = self.known(body) if request else None
        return event or self._first_seen(body), request, body

    def whole(self, number: int, data: bytes) -> Any:
        """The event without its hidden values, decoded by protobuf; raises `Diverged` if it is not canonical."""
        return self._whole(number, data).event

    def revealed_secret(self, number: int, last: bytes) -> bytes | None:
        """The secret if these bytes are a canonical seal, else None; the position of the seal is checked later."""
        try:
            event = self._whole(number, last).event
        except Diverged:
            return None
        return event.secret if isinstance(event, Sealed) else None

    def _whole(self, number: int, data: bytes) -> Logged:
        # The last event is decoded twice: at the start for its secret, and in its turn.
        if self._last is None or self._last.data is not data:
            logged = _read(number, data, self._game, "")
            _written_again(number, logged, self._game)
            self._last = logged
        return self._last

    def _first_seen(self, body: bytes) -> Event | None:
        """The choice or readiness in a body of the usual form; None for any other body."""
        chosen = choice_taken_off(body)
        if chosen is not None:
            seat, by_caretaker, charged_ms, written = chosen
            choice = self._compact.choice(written)
            if choice is None:
                return None
            event = Chosen(seat, choice, by_caretaker, charged_ms)
            if not charged_ms:
                _remember(self._proved, body, event)
            return event
        readiness = readiness_taken_off(body)
        return None if readiness is None else Ready(*readiness)


def _remember(proved: dict[bytes, Event], body: bytes, event: Event) -> None:
    if 0 < len(body) <= LONGEST_REMEMBERED:
        if len(proved) >= MOST_REMEMBERED:
            proved.clear()
        proved[body] = event


_readers: dict[int, Reader] = {}


def reader_of(game: AnyGame) -> Reader:
    """The reader of this game; its caches live as long as the process."""
    reader = _readers.get(id(game))
    if reader is None:
        reader = _readers[id(game)] = Reader(game)
    return reader


def check_chain(number: int, around: Logged | Around, before: bytes) -> None:
    """Raise `Diverged` if the event has another number or another previous link."""
    if (around.sequence, around.previous) != (number, before):
        expected = f"event {number} behind {before.hex()}"
        raise Diverged(number, Check.CHAIN, expected, f"event {around.sequence} behind {around.previous.hex()}")


def plain_form(game: AnyGame, event: Event) -> str:
    """The event in the plain form (JSON)."""
    return dumps(LineWriter(game).body(event))


def read_opened(first: bytes) -> proto.Opened:
    """The `Opened` message of event 1, empty if it is another event; raises `Diverged` if protobuf cannot decode it."""
    try:
        return proto.Event.FromString(first).opened
    except DecodeError:
        raise Diverged(1, Check.CONTAINER, CANONICAL, "bytes that are none") from None


def _read(number: int, data: bytes, game: AnyGame | None, match_id: str) -> Logged:
    try:
        return read_bytes(data, b"", game, match_id)
    except (Unreadable, RefusedByRules) as unreadable:
        raise Diverged(number, Check.CONTAINER, CANONICAL, str(unreadable)) from None


def _written_again(number: int, logged: Logged, game: AnyGame) -> None:
    again = write_bytes(
        game,
        logged.event,
        sequence=logged.sequence,
        time_ms=logged.time_ms,
        previous=logged.previous,
        request=logged.request,
    )
    if again.data != logged.data:
        raise Diverged(number, Check.CONTAINER, CANONICAL, "unknown or repeated fields, or fields out of order")
