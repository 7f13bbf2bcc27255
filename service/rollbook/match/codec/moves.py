"""A game's choices and outcomes as JSON fields, and back, derived from the fields of its dataclasses.

Names and order of the fields are those of the dataclass. In a choice a field that is None is left out. In an outcome
None means hidden from the viewer, written as null (a list with its `count`). Lists in choices are ascending.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from types import NoneType, UnionType
from typing import Annotated, Any, Final, NewType, Self, Union, get_args, get_origin, get_type_hints

from rollbook.rules.game import NumberWords

JsonObject = dict[str, Any]

LONGEST_LIST: Final = 100
"""Longest list in any game; the largest game has 88 pieces."""


class Unreadable(ValueError):
    """Text that is not a line of the plain form."""


class ClaimedPieces(tuple[None, ...]):  # noqa: SLOT001 - no tuple can have slots
    """A claimed number of hidden pieces above that of any game, kept as a number only to save memory.

    `len` returns the claimed number, so that it can be written again, shown and refused; the tuple holds a single None.
    """

    _count: int

    def __new__(cls, count: int) -> Self:
        """Claim `count` pieces."""
        claimed = super().__new__(cls, (None,))
        claimed._count = count
        return claimed

    def __len__(self) -> int:
        """The claimed number."""
        return self._count

    def __eq__(self, other: object) -> bool:
        """Compare the claimed numbers, so that a cache keeps different claims and real hidden pieces apart."""
        return isinstance(other, ClaimedPieces) and self._count == other._count

    def __ne__(self, other: object) -> bool:
        """The opposite of `__eq__`; tuples define their own."""
        return not self == other

    def __hash__(self) -> int:
        """Hash of the claimed number."""
        return hash((ClaimedPieces, self._count))


def hidden_pieces(count: int) -> tuple[None, ...]:
    """A tuple of hidden pieces; a ClaimedPieces if they are more than any list in any game has.

    >>> hidden_pieces(2), len(hidden_pieces(300_000_000))
    ((None, None), 300000000)
    """
    return (None,) * count if count <= LONGEST_LIST else ClaimedPieces(count)


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    optional: bool
    many: bool
    read: Callable[[Any], Any]
    write: Callable[[Any], Any]


def _exactly(kind: type, words: str) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if type(value) is not kind:
            raise Unreadable(f"must be {words}")
        return value

    return read


def _in_words(words: NumberWords) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Functions that write and read numbers of which some are words."""
    numbers = {word: number for number, word in words.of.items()}

    def read(value: Any) -> Any:
        if type(value) is str and value in numbers:
            return numbers[value]
        if type(value) is not int or value in words.of:
            raise Unreadable(f"must be a number or one of {', '.join(numbers)}")
        return value

    def write(value: Any) -> Any:
        return words.of.get(value, value)

    return read, write


def _as_is(value: Any) -> Any:
    return value


_READERS: dict[Any, Callable[[Any], Any]] = {
    int: _exactly(int, "a whole number"),
    bool: _exactly(bool, "true or false"),
    str: _exactly(str, "a string"),
}


def _field(name: str, hint: Any) -> _Field:
    hint, optional = _without_none(hint)
    many = get_origin(hint) is tuple
    if many:
        hint, hidden = _without_none(get_args(hint)[0])
        optional = optional or hidden
    words = _words_of(hint)
    read, write = (_READERS[hint], _as_is) if words is None else _in_words(words)
    return _Field(name, optional, many, read, write)


def _words_of(hint: Any) -> NumberWords | None:
    """The words in the annotation of a type, or of its supertype; None if it has none."""
    if isinstance(hint, NewType):
        hint = hint.__supertype__
    marks = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    return next((mark for mark in marks if isinstance(mark, NumberWords)), None)


def _without_none(hint: Any) -> tuple[Any, bool]:
    if get_origin(hint) not in {Union, UnionType}:
        return hint, False
    (inner,) = (part for part in get_args(hint) if part is not NoneType)
    return inner, True


_known: Final[dict[type, tuple[_Field, ...]]] = {}


def _fields_of(kind: type[Any]) -> tuple[_Field, ...]:
    """The fields of a kind of move; cached, because there are many lines and few kinds."""
    found = _known.get(kind)
    if found is None:
        hints = get_type_hints(kind, include_extras=True)
        found = _known[kind] = tuple(_field(field.name, hints[field.name]) for field in fields(kind))
    return found


def is_optional(kind: type, name: str) -> bool:
    """Whether a move of this kind may leave the field out."""
    return next(field.optional for field in _fields_of(kind) if field.name == name)


def write_choice(choice: Any) -> JsonObject:
    """The fields of a choice."""
    written: JsonObject = {}
    for field in _fields_of(type(choice)):
        value = getattr(choice, field.name)
        if value is None:
            continue
        written[field.name] = [field.write(item) for item in sorted(value)] if field.many else field.write(value)
    return written


def write_outcome(outcome: Any) -> JsonObject:
    """The fields of an outcome; what is hidden is null."""
    written: JsonObject = {}
    for field in _fields_of(type(outcome)):
        value = getattr(outcome, field.name)
        if not field.many:
            written[field.name] = None if value is None else field.write(value)
        elif field.optional and value and value[0] is None:
            written[field.name] = None
            written["count"] = len(value)
        else:
            written[field.name] = [field.write(item) for item in value]
    return written


def read_choice(kind: type[Any], written: Mapping[str, Any]) -> Any:
    """The choice of this kind with these fields, its lists ascending."""
    return _read(kind, written, absent_is_none=True)


def read_outcome(kind: type[Any], written: Mapping[str, Any]) -> Any:
    """The outcome of this kind with these fields."""
    return _read(kind, written, absent_is_none=False)


def _read(kind: type[Any], written: Mapping[str, Any], *, absent_is_none: bool) -> Any:
    values: list[Any] = []
    for field in _fields_of(kind):
        if field.name not in written:
            if not (absent_is_none and field.optional):
                raise Unreadable(f"{field.name} is missing")
            values.append(None)
            continue
        try:
            values.append(_read_field(field, written, choice=absent_is_none))
        except Unreadable as wrong:
            raise Unreadable(f"{field.name} {wrong}") from None
    return kind(*values)


def _read_field(field: _Field, written: Mapping[str, Any], *, choice: bool) -> Any:
    value = written[field.name]
    if not field.many:
        return None if value is None and field.optional and not choice else field.read(value)
    if value is None and field.optional:
        count = written.get("count")
        if type(count) is not int or not 0 < count <= LONGEST_LIST:
            raise Unreadable("is hidden and needs its count")
        return (None,) * count
    if type(value) is not list or len(value) > LONGEST_LIST:
        raise Unreadable(f"must be a list of at most {LONGEST_LIST}")
    items = [field.read(item) for item in value]
    return tuple(sorted(items) if choice else items)


def is_hidden(outcome: Any) -> bool:
    """Whether the outcome hides something from its viewer."""
    return any(_hides(getattr(outcome, field.name)) for field in _fields_of(type(outcome)) if field.optional)


def with_hidden(seen: Any, true: Any) -> Any:
    """The seen outcome, completed from the true one where it hides something of the same kind and number."""
    if type(seen) is not type(true):
        return seen
    hidden = {
        field.name: getattr(true, field.name)
        for field in _fields_of(type(seen))
        if field.optional
        and _hides(getattr(seen, field.name))
        and (not field.many or len(getattr(seen, field.name)) == len(getattr(true, field.name)))
    }
    return replace(seen, **hidden) if hidden else seen


def _hides(value: Any) -> bool:
    return value is None or (type(value) is tuple and None in value)
