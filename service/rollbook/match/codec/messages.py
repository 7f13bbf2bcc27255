"""Choices and outcomes as protobuf messages, and back, derived from the fields of their dataclasses.

A choice message comes from an untrusted client: any content becomes either a choice or an `Invalid` refusal, and the
rules decide whether the choice is legal. The hidden part of an outcome is not in its message but returned separately.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import cache, lru_cache
from typing import Any, Final

from google.protobuf.message import Message

from rollbook.match.codec.moves import LONGEST_LIST, Unreadable, hidden_pieces, is_optional
from rollbook.match.codec.parts import MOST_REMEMBERED
from rollbook.match.codec.stubs import stubs_of
from rollbook.match.codec.words import numbers_of, words_of
from rollbook.match.codec.wrappers import content, unwrap, wrap
from rollbook.rules.catalogue import AnyGame
from rollbook.rules.options import LONGEST_REPEATED
from rollbook.rules.refusals import Invalid, Reason
from rollbook.v1 import games_pb2 as proto

LONGEST_REMEMBERED: Final = 64
"""Longest choice, in bytes, that is cached; an untrusted one may be longer, with unknown fields."""

COUNT = "count"
"""The field with the length of a hidden tuple."""

# Choices


def write_choice(game: AnyGame, choice: Any) -> proto.Choice:
    """The choice as a message, its lists ascending."""
    return wrap(proto.Choice(), stubs_of(game).choice(**choice_values(game, choice)))


def choice_values(game: AnyGame, choice: Any) -> dict[str, Any]:
    """The fields of the game's choice message, as its constructor takes them, lists ascending."""
    kind: Any = type(choice)
    name, values = _choice_writer(game, kind)
    return {name: values(choice)}


@cache
def _choice_writer(game: AnyGame, kind: Any) -> tuple[str, Callable[[Any], dict[str, Any]]]:
    """The name of this kind of choice, and a function that returns the fields of its message."""
    name = _name(game.choices, kind)
    described = _message_of(stubs_of(game).choice, name).fields_by_name
    written = [(field.name, described[field.name]) for field in fields(kind)]

    def values(choice: Any) -> dict[str, Any]:
        found = {}
        for name, field in written:
            value = getattr(choice, name)
            if isinstance(value, tuple):
                value = sorted(_number(field, item) for item in value)
            elif value is not None:
                value = _number(field, value)
            found[name] = value
        return found

    return name, values


def read_choice(game: AnyGame, sent: proto.Choice) -> Any:
    """The choice of this game in a message; raises Invalid if there is none, or one of another game."""
    data = sent.SerializeToString(deterministic=True)
    return _remembered_choice(game, data) if len(data) <= LONGEST_REMEMBERED else _read_choice(game, sent)


@lru_cache(MOST_REMEMBERED)
def _remembered_choice(game: AnyGame, data: bytes) -> Any:
    """Caches choices by their bytes, since few are common; refusals are not cached."""
    return _read_choice(game, proto.Choice.FromString(data))


def _read_choice(game: AnyGame, sent: proto.Choice) -> Any:
    message = unwrap(sent, stubs_of(game).choice)
    if message is None:
        held = content(sent)
        raise _nothing_chosen(game) if held is None else _of_another_game(game, held)
    return choice_in(game, message)


def choice_in(game: AnyGame, message: Message) -> Any:
    """The choice in the game's choice message, lists ascending; raises Invalid if there is none."""
    kind = message.WhichOneof("kind")
    if kind is None:
        raise _nothing_chosen(game)
    chosen: Message = getattr(message, kind)
    choice = game.choices[kind]
    return choice(*[_read_chosen(choice, kind, chosen, field.name) for field in fields(choice)])


def _nothing_chosen(game: AnyGame) -> Invalid:
    return Invalid(
        Reason.NOTHING_CHOSEN,
        "the message holds no choice that is known here",
        learn=f"choices of {game.name}: {', '.join(game.choices)}",
    )


def _of_another_game(game: AnyGame, held: str) -> Invalid:
    return Invalid(
        Reason.MOVE_OF_ANOTHER_GAME,
        f"this is a choice of {held[:LONGEST_REPEATED]}, not of {game.name}",
        learn=f"choices of {game.name}: {', '.join(game.choices)}",
    )


def _read_chosen(choice: type[Any], kind: str, chosen: Message, name: str) -> Any:
    field = chosen.DESCRIPTOR.fields_by_name[name]
    value = getattr(chosen, name)
    if field.is_repeated:
        if len(value) > LONGEST_LIST:
            why = f"{kind} names {len(value)} in {name}; no list is longer than {LONGEST_LIST}"
            raise Invalid(Reason.TOO_MANY_NAMED, why)
        return tuple(sorted(sent_word(field, item) for item in value))
    if chosen.HasField(name):
        return sent_word(field, value)
    if is_optional(choice, name):
        return None
    raise Invalid(Reason.FIELD_MISSING, f"{kind} does not say its {name}", learn=f"set {name} of {kind}", field=name)


# Outcomes


def write_outcome(game: AnyGame, outcome: Any) -> proto.Outcome:
    """The outcome as a message, without what it hides."""
    kind: Any = type(outcome)
    name, values = _outcome_writer(game, kind)
    return wrap(proto.Outcome(), stubs_of(game).outcome(**{name: values(outcome)}))


@cache
def _outcome_writer(game: AnyGame, kind: Any) -> tuple[str, Callable[[Any], dict[str, Any]]]:
    """The name of this kind of outcome, and a function that returns the fields of its message."""
    name = _name(game.outcomes, kind)
    described = _message_of(stubs_of(game).outcome, name).fields_by_name
    written = [(field.name, described.get(field.name)) for field in fields(kind)]

    def values(outcome: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, field in written:
            value = getattr(outcome, name)
            if field is None:
                if COUNT in described:
                    found[COUNT] = len(value)
            elif isinstance(value, tuple):
                found[name] = [_number(field, item) for item in value]
            else:
                found[name] = _number(field, value)
        return found

    return name, values


def write_hidden(game: AnyGame, outcome: Any) -> proto.HiddenOutcome | None:
    """The hidden part of an outcome as a message; None if it hides nothing, or its hidden part is unknown."""
    kind: Any = type(outcome)
    name = hiding(game, kind)
    if name is None:
        return None
    value = getattr(outcome, name)
    hidden = value if isinstance(value, tuple) else (value,)
    if None in hidden:
        return None
    hidden_message, field = _hidden_type(game)
    message = hidden_message()
    getattr(message, field.name).extend([_number(field, item) for item in hidden])
    return wrap(proto.HiddenOutcome(), message)


@cache
def hiding(game: AnyGame, outcome: Any) -> str | None:
    """The field that outcomes of this kind hide, which their message lacks; None if they hide none."""
    described = _message_of(stubs_of(game).outcome, _name(game.outcomes, outcome)).fields_by_name
    return next((field.name for field in fields(outcome) if field.name not in described), None)


def read_outcome(game: AnyGame, written: proto.Outcome, hidden: proto.HiddenOutcome | None = None) -> Any:
    """The outcome in a message, with its hidden part if that is given."""
    message = unwrap(written, stubs_of(game).outcome)
    kind = None if message is None else message.WhichOneof("kind")
    if message is None or kind is None:
        raise Unreadable(f"this is no outcome of {game.name} that is known here")
    happened: Message = getattr(message, kind)
    pieces = None if hidden is None else _read_hidden(game, hidden)
    outcome = game.outcomes[kind]
    return outcome(*[_read_happened(happened, field.name, pieces) for field in fields(outcome)])


def _read_hidden(game: AnyGame, hidden: proto.HiddenOutcome) -> tuple[Any, ...]:
    kind, field = _hidden_type(game)
    message = unwrap(hidden, kind)
    if message is None:
        raise Unreadable(f"what lies beside the event is not of {game.name}")
    return tuple(read_word(field, item) for item in getattr(message, field.name))


@cache
def _hidden_type(game: AnyGame) -> tuple[type[Message], Any]:
    """The message type of the hidden part, and its only field."""
    kind = stubs_of(game).hidden
    if kind is None:
        raise Unreadable(f"{game.name} hides nothing")
    (field,) = kind.DESCRIPTOR.fields
    return kind, field


def _read_happened(happened: Message, name: str, hidden: Sequence[Any] | None) -> Any:
    described = happened.DESCRIPTOR.fields_by_name
    field = described.get(name)
    if field is not None:
        value = getattr(happened, name)
        return tuple(read_word(field, item) for item in value) if field.is_repeated else read_word(field, value)
    if COUNT in described:
        count: int = getattr(happened, COUNT)
        if hidden is not None and len(hidden) != count:
            raise Unreadable(f"{count} are hidden, and {len(hidden)} lie beside the event")
        return hidden_pieces(count) if hidden is None else tuple(hidden)
    if hidden is not None and len(hidden) != 1:
        raise Unreadable(f"one is hidden, and {len(hidden)} lie beside the event")
    return None if hidden is None else hidden[0]


# Both


def _name(vocabulary: Mapping[str, type[Any]], move: type[Any]) -> str:
    return next(name for name, kind in vocabulary.items() if kind is move)


def _message_of(wrapper: type[Message], name: str) -> Any:
    """The descriptor of the message in a field of this one."""
    return wrapper.DESCRIPTOR.fields_by_name[name].message_type


def _number(field: Any, item: Any) -> Any:
    return item if field.enum_type is None else numbers_of(field.enum_type)[item]


def read_word(field: Any, value: Any) -> Any:
    """The value of a field, as a word if the field is an enum; raises Unreadable for an unknown number."""
    if field.enum_type is None:
        return value
    word = words_of(field.enum_type).get(value)
    if word is None:
        raise Unreadable(f"{value} is no {field.name} that is known here")
    return word


def sent_word(field: Any, value: Any) -> Any:
    """The value of a field from a client; an unknown number of an enum becomes text, which the rules refuse."""
    return value if field.enum_type is None else words_of(field.enum_type).get(value, str(value))
