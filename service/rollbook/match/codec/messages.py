"""Choices, outcomes and views as protobuf messages, moves also back, derived from the fields of their dataclasses.

A choice message is what a stranger sends: whatever it holds is read into a choice or refused as `Invalid`, and whether
the choice is legal is for the rules to say. What an outcome hides is not in its message but given out beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any

from google.protobuf.message import Message

from rollbook.match.codec.moves import LONGEST_LIST, Unreadable, is_optional
from rollbook.rules.game import Game
from rollbook.rules.refusals import Invalid, Reason

AnyGame = Game[Any, Any, Any]


def read_choice(game: AnyGame, message: Message) -> Any:
    """The choice that the game's choice message holds, its lists ascending; refused if it holds none."""
    kind = message.WhichOneof("kind")
    if kind is None:
        raise Invalid(
            Reason.NOTHING_CHOSEN,
            "the message holds no choice that is known here",
            learn=f"choices of {game.name}: {', '.join(game.choices)}",
        )
    chosen: Message = getattr(message, kind)
    choice = game.choices[kind]
    return choice(*[_chosen(choice, kind, chosen, field.name) for field in fields(choice)])


def _chosen(choice: type[Any], kind: str, chosen: Message, name: str) -> Any:
    field = chosen.DESCRIPTOR.fields_by_name[name]
    value = getattr(chosen, name)
    if field.is_repeated:
        if len(value) > LONGEST_LIST:
            why = f"{kind} names {len(value)} in {name}; no list is longer than {LONGEST_LIST}"
            raise Invalid(Reason.TOO_MANY_NAMED, why)
        return tuple(sorted(value))
    if chosen.HasField(name):
        return value
    if is_optional(choice, name):
        return None
    raise Invalid(Reason.FIELD_MISSING, f"{kind} does not say its {name}", learn=f"set {name} of {kind}", field=name)


def write_choice(game: AnyGame, choice: Any, message: Message) -> None:
    """Fill the game's choice message, its lists ascending."""
    chosen: Message = getattr(message, _kind(game.choices, choice))
    chosen.SetInParent()
    for field in fields(choice):
        value = getattr(choice, field.name)
        if isinstance(value, tuple):
            getattr(chosen, field.name).extend(sorted(value))
        elif value is not None:
            setattr(chosen, field.name, value)


def write_outcome(game: AnyGame, outcome: Any, message: Message) -> tuple[int, ...]:
    """Fill the game's outcome message, and give out what it hides: cards, which do not go into it."""
    kind = _kind(game.outcomes, outcome)
    happened: Message = getattr(message, kind)
    happened.SetInParent()
    hidden: tuple[int, ...] = ()
    for field in fields(outcome):
        value = getattr(outcome, field.name)
        described = happened.DESCRIPTOR.fields_by_name.get(field.name)
        if described is None:
            hidden = value if isinstance(value, tuple) else (value,)
            if "count" in happened.DESCRIPTOR.fields_by_name:
                setattr(happened, "count", len(hidden))  # noqa: B010 - the field of one message of many
        elif isinstance(value, tuple):
            getattr(happened, field.name).extend(_number(described, item) for item in value)
        else:
            setattr(happened, field.name, value)
    return hidden


def read_outcome(game: AnyGame, message: Message, hidden: Sequence[int] | None = None) -> Any:
    """The outcome that the game's outcome message holds, with what lies hidden beside it if that is at hand."""
    kind = message.WhichOneof("kind")
    if kind is None:
        raise Unreadable("the outcome is of a kind that is not known here")
    happened: Message = getattr(message, kind)
    outcome = game.outcomes[kind]
    return outcome(*[_happened(happened, field.name, hidden) for field in fields(outcome)])


def _happened(happened: Message, name: str, hidden: Sequence[int] | None) -> Any:
    field = happened.DESCRIPTOR.fields_by_name.get(name)
    if field is not None:
        value = getattr(happened, name)
        return tuple(_word(field, item) for item in value) if field.is_repeated else value
    if "count" in happened.DESCRIPTOR.fields_by_name:
        count: int = happened.count  # type: ignore[attr-defined]  # just looked up
        if hidden is not None and len(hidden) != count:
            raise Unreadable(f"{count} cards are hidden, and {len(hidden)} lie beside the event")
        return (None,) * count if hidden is None else tuple(hidden)
    if hidden is not None and len(hidden) != 1:
        raise Unreadable(f"one card is hidden, and {len(hidden)} lie beside the event")
    return None if hidden is None else hidden[0]


def _kind(vocabulary: Mapping[str, type[Any]], move: Any) -> str:
    return next(name for name, kind in vocabulary.items() if kind is type(move))


@cache
def face_numbers(enum: Any) -> dict[str, int]:
    """Faces are words in the rules and numbers of an enum in messages: `star` is RAFFZAHN_FACE_STAR."""
    prefix = enum.values_by_number[0].name.removesuffix("UNSPECIFIED")
    return {value.name.removeprefix(prefix).lower(): value.number for value in enum.values if value.number}


@cache
def _faces(enum: Any) -> dict[int, str]:
    return {number: face for face, number in face_numbers(enum).items()}


def _number(field: Any, item: Any) -> int:
    return int(item) if field.enum_type is None else face_numbers(field.enum_type)[item]


def _word(field: Any, item: int) -> Any:
    if field.enum_type is None:
        return item
    face = _faces(field.enum_type).get(item)
    if face is None:
        raise Unreadable(f"{item} is no face that is known here")
    return face


def fill(message: Message, value: Any) -> None:
    """Put every field of a dataclass into the field of its name; there has to be one."""
    for field in fields(value):
        _put(message, field.name, getattr(value, field.name))


def _put(message: Message, name: str, value: Any) -> None:
    described = message.DESCRIPTOR.fields_by_name[name]
    if value is None:
        return
    if described.enum_type is not None:
        words = face_numbers(described.enum_type)
        value = tuple(words[word] for word in value) if described.is_repeated else words[value]
    if described.message_type is not None:
        _add_messages(getattr(message, name), value)
    elif described.is_repeated:
        getattr(message, name).extend(value)
    else:
        setattr(message, name, value)


def _add_messages(repeated: Any, values: Iterable[Any]) -> None:
    for value in values:
        added = repeated.add()
        if isinstance(value, tuple):
            # Protobuf has no lists of lists but lists of messages that hold one.
            (inner,) = added.DESCRIPTOR.fields
            _put(added, inner.name, value)
        else:
            fill(added, value)
