"""Events read from their bytes, and the proof that these are the only bytes that mean them.

Protobuf lets the same event be written in many ways: fields twice, out of order, or unknown ones in between. Whoever
wants to smuggle something into a log that all folds overlook would use that. So an event counts as read only if it is
written in the one way there is.
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
from rollbook.rules.catalogue import AnyGame as AnyGame  # noqa: PLC0414 - what a reader reads for
from rollbook.rules.catalogue import find
from rollbook.rules.refusals import RefusedByRules
from rollbook.v1 import events_pb2 as proto
from rollbook_replays.audit.divergence import Diverged
from rollbook_replays.audit.envelopes import choice_taken_off, readiness_taken_off, taken_off, without_request
from rollbook_replays.audit.verdicts import Check

MOST_REMEMBERED: Final = 20_000
"""Bodies of one game; those of a match without a clock are few."""

MOST_HAPPENED: Final = 1 << 12
"""More than there are in a game that makes its outcomes once; what others make anew for each event is of no use."""

LONGEST_REMEMBERED: Final = 256
"""Bytes of a body: what is longer does not come again, and a forger must not fill the memory of a long run."""

CANONICAL: Final = "an event of these rules, in the one way in which it is written"


def unknown_envelope(first: bytes) -> str | None:
    """What this program would have to know to look at any event at all; None if it does, or if no program can."""
    envelope = read_opened(first).envelope
    if envelope == ENVELOPE_BEFORE_RELEASE:
        return str(BeforeRelease())
    return None if envelope <= ENVELOPE else f"a program that knows envelope {envelope}"


def unknown_rules(first: bytes) -> str | None:
    """What this program would have to know to follow the match; None if it does, or if no program can."""
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
    """What stands around an event whose body nobody here can read."""

    sequence: int
    time_ms: int
    previous: bytes


def read_around(number: int, data: bytes) -> Around:
    """All that is known of an event of unknown rules."""
    try:
        written = proto.Event.FromString(data)
    except DecodeError:
        raise Diverged(number, Check.CONTAINER, "an event", "bytes that are none") from None
    return Around(written.sequence, written.time_ms, written.previous)


def read_first(data: bytes, match_id: str) -> tuple[AnyGame, Logged]:
    """Event 1, and the game that it opens."""
    logged = _read(1, data, None, match_id)
    opened = logged.event
    assert isinstance(opened, Opened)  # noqa: S101 - nothing else is read without a game
    game = find(opened.game, opened.ruleset)
    _written_again(1, logged, game)
    return game, logged


class Reader:
    """Reads the events behind event 1; what they hide stays hidden.

    Most are read without a message in between, and only from the one way to write them; what chance gave is known
    before it is read, so that its bytes only have to be compared. Other bodies come again and again: the first time one
    is seen, the whole event is proved. From then on that holds for every event in which the same bytes stand behind a
    canonical envelope, for protobuf writes fields one behind the other and each on its own.
    """

    def __init__(self, game: AnyGame) -> None:
        """Know the game; nothing has been read yet."""
        self._game = game
        self._compact = compact_of(game)
        self._proved: dict[bytes, Event] = {}
        self.known: Callable[[bytes], Event | None] = self._proved.get
        """The event of this body, if that was seen before."""
        self._happened: dict[bytes, Happened[Any]] = {}
        """By the bytes that say so what first happened with them; what they hide is in it as well."""
        self._last: Logged | None = None
        """What was last read the long way."""

    def __call__(self, number: int, data: bytes, previous: bytes, drawn: Any = None) -> tuple[Event, int, bytes]:
        """Event, time and request of event `number`, which has to stand behind this link.

        If the bytes are those of an outcome that was drawn, it is the very object in the event, with all that it hides.
        """
        usual = taken_off(number, data, previous)
        request = body = b""
        if usual is not None:
            time_ms, body = usual
            found = None if drawn is None else self.happened(body, drawn)
            if found is not None:
                return found, time_ms, b""
            event = self.known(body)
            if event is None:
                event, request, body = self.usual(body)
            if event is not None:
                return event, time_ms, request
        logged = self._whole(number, data)
        check_chain(number, logged, previous)
        # Readiness and seal are of one match alone.
        if request == logged.request and not isinstance(logged.event, Ready | Sealed):
            _remember(self._proved, body, logged.event)
        return logged.event, logged.time_ms, logged.request

    def happened(self, body: bytes, drawn: Any) -> Happened[Any] | None:
        """The event of this body, if it says what was drawn; that is then the very object in it, with all it hides."""
        happened = self._happened.get(body)
        if happened is not None and happened.outcome is drawn:
            return happened
        if body != self._compact.happened(drawn):
            return None
        happened = Happened(drawn)
        if len(self._happened) < MOST_HAPPENED:
            self._happened[body] = happened
        return happened

    def usual(self, left: bytes) -> tuple[Event | None, bytes, bytes]:
        """Event, request and body of what is left of an event not known yet; no event if it has to be read whole."""
        request, body = without_request(left)
        event = self.known(body) if request else None
        return event or self._first_seen(body), request, body

    def whole(self, number: int, data: bytes) -> Any:
        """The event alone, what it hides left out, read the long way."""
        return self._whole(number, data).event

    def revealed_secret(self, number: int, last: bytes) -> bytes | None:
        """The secret, if these bytes are a seal as one is written; whether it may stand there comes in its turn."""
        try:
            event = self._whole(number, last).event
        except Diverged:
            return None
        return event.secret if isinstance(event, Sealed) else None

    def _whole(self, number: int, data: bytes) -> Logged:
        # The last event is read first, for its secret, and once more when its turn comes.
        if self._last is None or self._last.data is not data:
            logged = _read(number, data, self._game, "")
            _written_again(number, logged, self._game)
            self._last = logged
        return self._last

    def _first_seen(self, body: bytes) -> Event | None:
        """The choice or the readiness that the body says in the usual way, if it says one."""
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
    """The reader of this game, which remembers bodies from match to match."""
    reader = _readers.get(id(game))
    if reader is None:
        reader = _readers[id(game)] = Reader(game)
    return reader


def check_chain(number: int, around: Logged | Around, before: bytes) -> None:
    """The event has its number and stands behind this link, or has diverged."""
    if (around.sequence, around.previous) != (number, before):
        expected = f"event {number} behind {before.hex()}"
        raise Diverged(number, Check.CHAIN, expected, f"event {around.sequence} behind {around.previous.hex()}")


def plain_form(game: AnyGame, event: Event) -> str:
    """An event in the words of the plain form."""
    return dumps(LineWriter(game).body(event))


def read_opened(first: bytes) -> proto.Opened:
    """What event 1 says, as far as anybody can read it; nothing if it is another event."""
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
