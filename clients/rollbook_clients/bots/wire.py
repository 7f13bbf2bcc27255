"""What a bot gets to see, read from messages: views, legal choices and options as the rules themselves would give them.

The service fills messages from the fields of dataclasses, by name; here they are read back the same way. A word in the
rules is a number of an enum in messages, and a hand that is hidden is an empty list.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from types import NoneType
from typing import Any, cast, get_args, get_type_hints

from google.protobuf.message import Message

from rollbook.match.codec.messages import face_numbers, read_choice
from rollbook.rules import allie_gator
from rollbook.rules.game import Choices, Game, Listed
from rollbook.rules.options import Options
from rollbook.rules.wuerfelzoo import TurnChoices
from rollbook.v1.table_pb2 import LegalChoices, View


class NotKnown(ValueError):
    """A message of a game, or of a form, that this program does not know."""


def read_view(game: Game[Any, Any, Any], message: View) -> Any:
    """What `Game.view` gave the seat that this message is for."""
    if message.WhichOneof("view") != game.name:
        raise NotKnown(f"the view is none of {game.name}")
    view = _read(get_type_hints(game.view)["return"], getattr(message, game.name))
    return _with_open_hands(view) if isinstance(view, allie_gator.View) else view


def read_legal(game: Game[Any, Any, Any], message: LegalChoices) -> Choices[Any]:
    """What `Game.legal` gave."""
    form = message.WhichOneof("choices")
    if form == "wuerfelzoo_turn":
        return cast("TurnChoices", _read(TurnChoices, message.wuerfelzoo_turn))
    if form != game.name:
        raise NotKnown(f"these are no legal choices of {game.name}")
    return Listed(read_choice(game, choice) for choice in getattr(message, form).choices)


def read_options(game: Game[Any, Any, Any], message: Message, seats: int) -> Options:
    """All options of a match of so many seats; what the message leaves out has its default."""
    given = {
        field.name: _word(field, value) if field.enum_type is not None else value
        for field, value in message.ListFields()
    }
    return game.settle(given, seats)


def _with_open_hands(view: allie_gator.View) -> allie_gator.View:
    """A hand without cards is no secret: an empty list is hidden only where the seat holds any."""
    players = tuple(
        replace(player, hand=()) if player.hand is None and not player.hand_size else player for player in view.players
    )
    return replace(view, players=players)


def _read(kind: type[Any], message: Message) -> Any:
    """A dataclass, every field from the field of its name."""
    hints = get_type_hints(kind)
    return kind(*[_field(hints[field.name], message, field.name) for field in fields(kind)])


def _field(hint: Any, message: Message, name: str) -> Any:
    field = message.DESCRIPTOR.fields_by_name[name]
    value = getattr(message, name)
    optional = NoneType in get_args(hint)
    if field.is_repeated:
        items = tuple(_item(_inner(hint), field, item) for item in value)
        return None if optional and not items else items
    if field.enum_type is not None:
        return _word(field, value) if value else None
    return None if field.has_presence and not message.HasField(name) else value


def _item(hint: Any, field: Any, item: Any) -> Any:
    if field.enum_type is not None:
        return _word(field, item)
    if field.message_type is None:
        return item
    if is_dataclass(hint):
        return _read(cast("type[Any]", hint), item)
    # Protobuf has no lists of lists but lists of messages that hold one.
    (inner,) = item.DESCRIPTOR.fields
    return _field(hint, item, inner.name)


def _inner(hint: Any) -> Any:
    """What a tuple, or a tuple that may be missing, holds."""
    whole = next((part for part in get_args(hint) if get_args(part)), hint) if NoneType in get_args(hint) else hint
    return get_args(whole)[0]


def _word(field: Any, number: int) -> str:
    words = {of: word for word, of in face_numbers(field.enum_type).items()}
    if number not in words:
        raise NotKnown(f"{number} is no {field.name} that is known here")
    return words[number]
