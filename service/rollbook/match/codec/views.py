"""Options, views and legal choices as protobuf messages, and back, by the names and types of their fields.

Bots read the rules' own objects from them, and boards what they draw.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import fields, is_dataclass
from functools import cache, partial
from operator import attrgetter
from types import NoneType
from typing import Any, cast, get_args, get_type_hints

from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from rollbook.match.codec.messages import choice_in, choice_values, read_word, sent_word
from rollbook.match.codec.moves import Unreadable
from rollbook.match.codec.parts import Remembered, length_delimited
from rollbook.match.codec.stubs import stubs_of
from rollbook.match.codec.words import numbers_of
from rollbook.match.codec.wrappers import OTHER, place, unwrap, wrap
from rollbook.rules.catalogue import AnyGame
from rollbook.rules.game import Choices, Listed
from rollbook.rules.options import Options, OptionValue
from rollbook.rules.refusals import Invalid, Reason
from rollbook.v1 import games_pb2 as proto

LISTED = "choices"
DESCRIBED = "described"

# Options


def write_options(game: AnyGame, options: Options) -> proto.Options:
    """All options as a message."""
    kind = stubs_of(game).options
    described = kind.DESCRIPTOR.fields_by_name
    values = {name: _write_value(described[name], value) for name, value in options.items()}
    return wrap(proto.Options(), kind(**values))


def given_options(game: AnyGame, sent: proto.Options) -> dict[str, OptionValue]:
    """The options in a message, without those left out; raises a refusal for options that the game does not have."""
    message = unwrap(sent, stubs_of(game).options)
    if message is None:
        raise Invalid(Reason.GAME_UNKNOWN, f"these are no options of {game.name}")
    if len(UnknownFieldSet(message)):
        names = ", ".join(option.name for option in game.options)
        raise Invalid(Reason.OPTION_UNKNOWN, f"{game.name} has no such option", allowed=names)
    return {field.name: sent_word(field, value) for field, value in message.ListFields()}


def read_options(game: AnyGame, written: proto.Options, seats: int) -> Options:
    """All options of a match with this number of seats; those left out of the message have their defaults."""
    return game.settle(given_options(game, written), seats)


# Views


def write_view(game: AnyGame, view: Any) -> proto.View:
    """A view of the game as a message."""
    kind = stubs_of(game).view
    return wrap(proto.View(), kind(**_values(view, kind.DESCRIPTOR)))


def write_view_bytes(game: AnyGame, view: Any) -> bytes:
    """The serialised message, made of cached parts where possible."""
    kind = stubs_of(game).view
    viewed: Any = type(view)
    written = _bytes_writer(viewed, cast("Any", kind))(view)
    return _wrapped_bytes(proto.View, kind, written)


def read_view(game: AnyGame, sent: proto.View) -> Any:
    """The view that `Game.view` returned for the message's perspective."""
    message = unwrap(sent, stubs_of(game).view)
    if message is None:
        raise Unreadable(f"the view is none of {game.name}")
    return _read(_view_kind(game), message)


@cache
def _view_kind(game: AnyGame) -> Any:
    return get_type_hints(game.view)["return"]


# Legal choices


def write_legal(game: AnyGame, choices: Choices[Any]) -> proto.LegalChoices:
    """Legal choices as a message, listed or described."""
    kind = stubs_of(game).legal_choices
    values: dict[str, Any]
    if game.described is not None and isinstance(choices, game.described):
        values = {DESCRIBED: _values(choices, kind.DESCRIPTOR.fields_by_name[DESCRIBED].message_type)}
    else:
        values = {LISTED: [choice_values(game, choice) for choice in choices]}
    return wrap(proto.LegalChoices(), kind(**values))


def write_legal_bytes(game: AnyGame, choices: Choices[Any]) -> bytes:
    """The serialised message, made of cached parts where possible."""
    if type(choices) is Listed:
        return _listed_bytes(game)[choices]
    return write_legal(game, choices).SerializeToString()


@cache
def _listed_bytes(game: AnyGame) -> Remembered:
    return Remembered(lambda choices: write_legal(game, choices).SerializeToString())


def read_legal(game: AnyGame, sent: proto.LegalChoices) -> Choices[Any]:
    """The choices that `Game.legal` returned."""
    message = unwrap(sent, stubs_of(game).legal_choices)
    if message is None:
        raise Unreadable(f"these are no legal choices of {game.name}")
    if game.described is not None and message.HasField(DESCRIBED):
        return cast("Choices[Any]", _read(game.described, getattr(message, DESCRIBED)))
    return Listed(choice_in(game, choice) for choice in getattr(message, LISTED))


# Dataclasses, written


def _values(value: Any, described: Any) -> dict[str, Any]:
    """The fields of a message from those of a dataclass, as the message's constructor takes them."""
    kind: Any = type(value)
    written: dict[str, Any] = _values_writer(kind, described)(value)
    return written


@cache
def _values_writer(kind: Any, described: Any) -> Callable[[Any], dict[str, Any]]:
    """Returns a function from a dataclass of this kind to the fields of its message, which have the same names."""
    names = tuple(field.name for field in fields(kind))
    if not names:
        return lambda _value: {}
    get = attrgetter(*names) if len(names) > 1 else lambda value: (getattr(value, names[0]),)
    converted = [(name, write) for name in names if (write := _writer(described.fields_by_name[name])) is not None]

    def write_values(value: Any) -> dict[str, Any]:
        found = dict(zip(names, get(value)))  # noqa: B905 - as many as there are names
        for name, write in converted:
            if found[name] is not None:
                found[name] = write(found[name])
        return found

    return write_values


def _writer(field: Any) -> Callable[[Any], Any] | None:
    """Returns a function that converts values of this field for protobuf; None if they need no conversion."""
    if field.enum_type is not None:
        words = numbers_of(field.enum_type)
        return (lambda value: [words[word] for word in value]) if field.is_repeated else words.__getitem__
    return None if field.message_type is None else partial(_messages, field.message_type)


def _write_value(field: Any, value: Any) -> Any:
    write = _writer(field)
    return value if write is None or value is None else write(value)


def _messages(described: Any, values: Iterable[Any]) -> list[dict[str, Any]]:
    """Protobuf has no lists of lists; lists of messages with one list each take their place."""
    return [
        _inner_list(described, value) if isinstance(value, tuple) else _values(value, described) for value in values
    ]


def _inner_list(described: Any, values: tuple[Any, ...]) -> dict[str, Any]:
    (inner,) = described.fields
    return {inner.name: _write_value(inner, values)}


# Bytes


def _wrapped_bytes(wrapper: type[Message], kind: type[Message], content: bytes) -> bytes:
    """The bytes of a wrapper around a game's message."""
    name = place(wrapper, kind)
    if name == OTHER:
        return wrap(wrapper(), kind.FromString(content)).SerializeToString(deterministic=True)
    return length_delimited(wrapper.DESCRIPTOR.fields_by_name[name].number, content)


@cache
def _bytes_writer(kind: Any, message: type[Message]) -> Callable[[Any], bytes]:
    """Returns a function from a dataclass of this kind to the bytes of its message."""
    described = sorted(
        (message.DESCRIPTOR.fields_by_name[field.name] for field in fields(kind)), key=lambda field: field.number
    )
    get = attrgetter(*[field.name for field in described])
    written = [_field_bytes(message, field) for field in described]

    def whole(value: Any) -> bytes:
        return b"".join([write(item) for write, item in zip(written, get(value))])  # noqa: B905 - of the same fields

    return whole


def _field_bytes(message: type[Message], field: Any) -> Callable[[Any], bytes]:
    """Returns a function that serialises one field; no bytes for an absent one."""
    name, write = field.name, _writer(field) or (lambda value: value)
    if field.message_type is None or not field.is_repeated:
        return Remembered(
            lambda value: b"" if value is None else message(**{name: write(value)}).SerializeToString()
        ).__getitem__
    item = Remembered(lambda value: message(**{name: write((value,))}).SerializeToString()).__getitem__
    return lambda values: b"" if values is None else b"".join(map(item, values))


# Dataclasses, read


def _read(kind: Any, message: Message) -> Any:
    """Make a dataclass from the fields of a message, by their names."""
    return _reader(kind, message.DESCRIPTOR)(message)


@cache
def _reader(kind: Any, described: Any) -> Callable[[Any], Any]:
    """Returns a function from a message to a dataclass of this kind."""
    hints = get_type_hints(kind)
    readers = [_field_reader(hints[field.name], described.fields_by_name[field.name]) for field in fields(kind)]
    return lambda message: kind(*[read(message) for read in readers])


def _field_reader(hint: Any, field: Any) -> Callable[[Any], Any]:
    """Returns a function that reads one field of a message."""
    name, get = field.name, attrgetter(field.name)
    if field.is_repeated:
        return _list_reader(hint, field)
    if field.enum_type is not None:
        return lambda message: read_word(field, value) if (value := get(message)) else None
    return (lambda message: get(message) if message.HasField(name) else None) if field.has_presence else get


def _list_reader(hint: Any, field: Any) -> Callable[[Any], Any]:
    get, read = attrgetter(field.name), _item_reader(_inner(hint), field)
    if NoneType not in get_args(hint):
        return lambda message: read(get(message))
    # An empty optional list means a hidden one, unless the number beside it is 0.
    size = f"{field.name}_size"
    has_size = size in field.containing_type.fields_by_name
    return lambda message: read(get(message)) or (() if has_size and getattr(message, size) == 0 else None)


def _item_reader(hint: Any, field: Any) -> Callable[[Iterable[Any]], tuple[Any, ...]]:
    """Returns a function that reads the items of a repeated field."""
    if field.message_type is not None:
        read = _reader(cast("Hashable", hint), field.message_type) if is_dataclass(hint) else _inner_reader(hint, field)
        return lambda items: tuple(map(read, items))
    return tuple if field.enum_type is None else lambda items: tuple([read_word(field, item) for item in items])


def _inner_reader(hint: Any, field: Any) -> Callable[[Any], Any]:
    """Protobuf has no lists of lists; lists of messages with one list each take their place."""
    (inner,) = field.message_type.fields
    return _field_reader(hint, inner)


def _inner(hint: Any) -> Any:
    """The item type of a tuple, or of an optional one."""
    whole = next((part for part in get_args(hint) if get_args(part)), hint) if NoneType in get_args(hint) else hint
    return get_args(whole)[0]
