"""Events read from their bytes, and the proof that these are the only bytes that mean them.

Protobuf lets the same event be written in many ways: fields twice, out of order, or unknown ones in between. Whoever
wants to smuggle something into a log that all folds overlook would use that. So an event counts as read only if it is
written again to the same bytes.
"""

from __future__ import annotations

from typing import Any, Final

from google.protobuf.message import DecodeError

from rollbook.match.envelope import ENVELOPE, Logged, read_bytes, write_bytes
from rollbook.match.events import Event, Opened
from rollbook.match.fairness import SCHEME
from rollbook.match.notation import LineWriter, dumps
from rollbook.match.vocabulary import Unreadable
from rollbook.rules.catalogue import find
from rollbook.rules.game import Game
from rollbook.rules.refusals import Refused
from rollbook.v1 import events_pb2 as proto
from rollbook_replays.diverging import Diverged
from rollbook_replays.verdicts import Check

AnyGame = Game[Any, Any, Any]

CANONICAL: Final = "an event of these rules, in the one way in which it is written"


def unknown_rules(first: bytes) -> str | None:
    """What this program would have to know to read on behind event 1; None if it does."""
    opened = proto.Event.FromString(first).opened
    if not opened.game:
        return None
    if opened.envelope != ENVELOPE:
        return f"a program that knows envelope {opened.envelope}"
    if opened.fairness != SCHEME:
        return f"a program that knows dice by {opened.fairness[:40]!r}"
    try:
        find(opened.game, opened.ruleset)
    except Refused:
        return f"a program that knows ruleset {opened.ruleset} of {opened.game[:40]!r}"
    return None


def read_first(data: bytes, match_id: str) -> tuple[AnyGame, Logged]:
    """Event 1, and the game that it opens."""
    logged = _read(1, data, None, match_id)
    opened = logged.event
    assert isinstance(opened, Opened)  # noqa: S101 - nothing else is read without a game
    game = find(opened.game, opened.ruleset)
    _written_again(1, logged, game)
    return game, logged


def read_event(number: int, data: bytes, game: AnyGame) -> Logged:
    """Any other event; what it hides stays hidden."""
    logged = _read(number, data, game, "")
    _written_again(number, logged, game)
    return logged


def revealed_secret(last: bytes) -> bytes | None:
    """The secret, if these bytes are a seal; whether they are a good one is looked at when their turn comes."""
    try:
        written = proto.Event.FromString(last)
    except DecodeError:
        return None
    return written.sealed.secret if written.WhichOneof("body") == "sealed" else None


def told(game: AnyGame, event: Event) -> str:
    """An event in the words of the plain form."""
    return dumps(LineWriter(game).body(event))


def _read(number: int, data: bytes, game: AnyGame | None, match_id: str) -> Logged:
    try:
        return read_bytes(data, b"", game, match_id)
    except (Unreadable, Refused) as unreadable:
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
