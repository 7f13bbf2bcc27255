"""Converts choices and outcomes directly to bytes and back, without protobuf messages; the bytes are the same.

An audit verifies for every event of a log that its bytes are the canonical ones, and protobuf messages would cost it
more time than the rules do. Tables made once for each kind of move handle the common contents: numbers below 128,
words, and lists of both. For anything else the functions return None; the caller then uses `messages`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any, Final

from google.protobuf.any_pb2 import Any as Other
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from rollbook.match.codec.messages import COUNT, hiding
from rollbook.match.codec.moves import LONGEST_LIST, is_optional
from rollbook.match.codec.parts import tag_of, varint
from rollbook.match.codec.stubs import stubs_of
from rollbook.match.codec.words import numbers_of
from rollbook.match.codec.wrappers import OTHER, place, type_url
from rollbook.rules.catalogue import AnyGame
from rollbook.v1 import events_pb2, games_pb2

BELOW: Final = 128
"""Numbers and lengths below this are written as one byte, which is the number."""

MOST_REMEMBERED: Final = 1 << 12
"""Cache size: hidden parts per kind of outcome."""

_SIZED: Final = 2
_WHOLE_NUMBERS: Final = frozenset({FieldDescriptor.TYPE_INT32, FieldDescriptor.TYPE_UINT32})


@dataclass(frozen=True, slots=True)
class _FieldTable:
    """One field of a kind of move."""

    name: str
    tag: int
    many: bool
    value: Callable[[Any], Any]
    """Returns the value of this field of a move."""
    write: Callable[[Any], bytes]
    """Returns tag and value; raises an error that `_KindTable.write` catches if they cannot be written here."""
    read: Callable[[Any], Any]
    """Returns the value from its byte, the bytes of a list, or None; raises KeyError if it is not canonical."""


class _KindTable:
    """Writes moves of one kind, and reads them if nothing in them is hidden."""

    def __init__(self, kind: type[Any], layers: tuple[bytes, ...], of: list[_FieldTable]) -> None:
        """`layers` are the tags around the fields, from the outside in, each before the length of its content."""
        self.openings = tuple(_opening(layers, length) for length in range(BELOW))
        """The bytes before the fields, by the length of the fields."""
        self._kind = kind
        self._written = tuple((field.value, field.write) for field in of)
        self._reads = tuple((field.tag, field.many, field.read) for field in of)

    def write(self, move: Any) -> bytes | None:
        """The bytes of the move; None if they cannot be written here."""
        try:
            body = b"".join([write(value(move)) for value, write in self._written])
            return self.openings[len(body)] + body
        except (IndexError, KeyError, TypeError, ValueError):
            return None

    def read(self, body: bytes) -> Any:
        """The move with these fields; None unless the bytes are canonical: fields ascend, each at most once."""
        values = []
        at = 0
        try:
            for tag, many, read in self._reads:
                if at == len(body) or body[at] != tag:
                    values.append(read(None))
                elif many:
                    behind = at + 2 + body[at + 1]
                    values.append(read(body[at + 2 : behind]))
                    at = behind
                else:
                    values.append(read(body[at + 1]))
                    at += 2
        except (IndexError, KeyError):
            return None
        return self._kind(*values) if at == len(body) else None


class Compact:
    """Converts the moves of one game; every method returns None for what only `messages` can convert."""

    def __init__(self, game: AnyGame) -> None:
        """Make the tables of all kinds of moves."""
        stubs = stubs_of(game)
        happened = (_tag(events_pb2.Event, "happened"), _tag(events_pb2.Happened, "outcome"))
        hidden = (_tag(events_pb2.Private, "hidden"),)
        outcomes: list[tuple[str, Any]] = list(game.outcomes.items())
        self._outcomes = {
            kind: _outcome_kind(kind, stubs.outcome, name, happened, hiding(game, kind)) for name, kind in outcomes
        }
        self._hidden = {
            kind: _hidden_writer(kind, stubs.hidden, hidden, name)
            for _, kind in outcomes
            if (name := hiding(game, kind)) is not None
        }
        choices = [_choice_kind(kind, stubs.choice, name) for name, kind in game.choices.items()]
        self._choices = {
            opening: (kind, len(opening) + length)
            for kind in choices
            if kind is not None
            for length, opening in enumerate(kind.openings)
        }
        """Kind and total length of a choice, by the bytes before its fields."""
        self._widths = sorted({len(opening) for opening in self._choices})

    def write_happened(self, outcome: Any) -> bytes | None:
        """The bytes of an event with this outcome after the link of the event before, without what it hides."""
        kind = self._outcomes.get(type(outcome))
        return None if kind is None else kind.write(outcome)

    def private(self, outcome: Any) -> bytes | None:
        """The private part of such an event, if all that it hides is known; empty if it hides nothing."""
        hidden = self._hidden.get(type(outcome))
        return b"" if hidden is None else hidden(outcome)

    def choice(self, data: bytes) -> Any:
        """The choice with these canonical bytes of a `Choice`."""
        for width in self._widths:
            kind, length = self._choices.get(data[:width], (None, 0))
            if kind is not None:
                return kind.read(data[width:]) if length == len(data) else None
        return None


@cache
def compact_of(game: AnyGame) -> Compact:
    """The tables of a game."""
    return Compact(game)


# The tables


def _outcome_kind(
    kind: type[Any], message: type[Message], name: str, around: tuple[bytes, ...], hides: str | None
) -> _KindTable | None:
    of = []
    for field in _fields_of(message, name):
        if field.name == COUNT and hides is not None:
            of.append(_field(field, _number_of(attrgetter(hides))))
        else:
            of.append(_field(field, attrgetter(field.name)))
    return _make_table(kind, (*around, *_layers(games_pb2.Outcome, message), _tag(message, name)), of)


def _number_of(pieces: Callable[[Any], Any]) -> Callable[[Any], int]:
    return lambda move: len(pieces(move))


def _hidden_writer(
    kind: type[Any], message: type[Message] | None, around: tuple[bytes, ...], hides: str
) -> Callable[[Any], bytes | None]:
    """Returns a function that writes what an outcome hides; cached, because few values are common."""
    assert message is not None  # noqa: S101 - a game that hides something has a message for it
    of = [_field(field, _in_a_tuple) for field in message.DESCRIPTOR.fields]
    table = _make_table(kind, (*around, *_layers(games_pb2.HiddenOutcome, message)), of)
    hidden = attrgetter(hides)
    written = lru_cache(MOST_REMEMBERED)(table.write if table is not None else _nothing)
    return lambda move: written(hidden(move))


def _in_a_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _nothing(_value: Any) -> None:
    """Returns None: such hidden parts cannot be written here."""


def _choice_kind(kind: type[Any], message: type[Message], name: str) -> _KindTable | None:
    names = {field.name for field in fields(kind)}
    of = [
        _field(field, attrgetter(field.name), chosen=True, optional=is_optional(kind, field.name))
        for field in _fields_of(message, name)
        if field.name in names
    ]
    in_order = [field.name for field in of if field is not None] == [field.name for field in fields(kind)]
    return _make_table(kind, (*_layers(games_pb2.Choice, message), _tag(message, name)), of) if in_order else None


def _make_table(kind: type[Any], layers: tuple[bytes, ...], of: list[_FieldTable | None]) -> _KindTable | None:
    known = [field for field in of if field is not None]
    return _KindTable(kind, layers, known) if len(known) == len(of) else None


def _fields_of(message: type[Message], name: str) -> list[Any]:
    described = message.DESCRIPTOR.fields_by_name[name].message_type
    assert described is not None  # noqa: S101 - every kind of move is a message
    return sorted(described.fields, key=lambda field: field.number)


def _field(
    field: Any, value: Callable[[Any], Any], *, chosen: bool = False, optional: bool = False
) -> _FieldTable | None:
    """The table of a field; None if its type or number is not supported here."""
    numbers = _numbers(field)
    tag = field.number << 3 | (_SIZED if field.is_repeated else 0)
    if numbers is None or tag >= BELOW or (field.is_repeated and not field.is_packed):
        return None
    if field.is_repeated:
        words = None if field.enum_type is None else numbers
        return _FieldTable(
            field.name, tag, field.is_repeated, value, _list_writer(tag, words, ascending=chosen), _list_reader(words)
        )
    written: dict[Any, bytes] = {value: bytes([tag, number]) for value, number in numbers.items()}
    if not field.has_presence:
        written |= {value: b"" for value, number in numbers.items() if not number}
    if optional:
        written[None] = b""
    # A field that is not written reads as None here.
    meanings = {data[1] if data else None: value for value, data in written.items()}
    return _FieldTable(field.name, tag, field.is_repeated, value, written.__getitem__, meanings.__getitem__)


def _numbers(field: Any) -> dict[Any, int] | None:
    """The number of every supported value of a field; None if it has another type."""
    if field.enum_type is not None:
        return {word: number for word, number in numbers_of(field.enum_type).items() if 0 < number < BELOW}
    if field.type == FieldDescriptor.TYPE_BOOL:
        return {False: 0, True: 1}
    return {number: number for number in range(BELOW)} if field.type in _WHOLE_NUMBERS else None


def _list_writer(tag: int, words: Mapping[Any, int] | None, *, ascending: bool) -> Callable[[Any], bytes]:
    """Returns a function that writes a list, of words if there are any; the lists of choices are sorted by number."""
    openings = [b"", *(bytes((tag, length)) for length in range(1, LONGEST_LIST + 1))]

    def write(items: tuple[Any, ...]) -> bytes:
        data = bytes(items if words is None else [words[item] for item in items])
        if not data.isascii():
            raise ValueError
        return openings[len(data)] + (bytes(sorted(data)) if ascending else data)

    return write


def _list_reader(words: Mapping[Any, int] | None) -> Callable[[bytes | None], tuple[Any, ...]]:
    """Returns a function that reads a list of a choice; such lists ascend, and are left out if empty."""
    meanings = None if words is None else {number: word for word, number in words.items()}

    def read(data: bytes | None) -> tuple[Any, ...]:
        if data is None:
            return ()
        if not 0 < len(data) <= LONGEST_LIST or not data.isascii() or data != bytes(sorted(data)):
            raise KeyError
        return tuple(data) if meanings is None else tuple([meanings[number] for number in data])

    return read


def _tag(message: type[Message], name: str) -> bytes:
    return tag_of(message.DESCRIPTOR.fields_by_name[name].number)


def _layers(wrapper: type[Message], message: type[Message]) -> tuple[bytes, ...]:
    """The tags around a game's message in a wrapper."""
    name = place(wrapper, message)
    if name != OTHER:
        return (_tag(wrapper, name),)
    url = type_url(message).encode("ascii")
    return _tag(wrapper, name), _tag(Other, "type_url") + varint(len(url)) + url + _tag(Other, "value")


def _opening(layers: tuple[bytes, ...], length: int) -> bytes:
    """The bytes of all layers before a content of this length."""
    opening = b""
    for layer in reversed(layers):
        opening = layer + varint(length + len(opening)) + opening
    return opening
