"""Converts the options of a game into their protobuf message."""

from collections.abc import Mapping

from google.protobuf.message import Message

from rollbook.match.codec.words import numbers_of
from rollbook.match.codec.wrappers import wrap
from rollbook.v1.games_pb2 import Options
from rollbook_clients.sdk.games import list_known, message_of
from rollbook_clients.sdk.refusals import Malformed


def options_of(game: str, given: Mapping[str, object] | Message | None) -> Options:
    """The options of a game as a message, from names and values or the game's own message; raises Malformed if invalid.

    >>> options = options_of("raffzahn", {"edition": "original"})
    >>> str(options.raffzahn.edition), options.raffzahn.HasField("announce")
    ('2', False)
    """
    message = _empty(game)
    if isinstance(given, Message):
        if given.DESCRIPTOR is not message.DESCRIPTOR:
            raise Malformed("OPTION_UNKNOWN", f"{given.DESCRIPTOR.name} are no options of {game}")
        return wrap(Options(), given)
    for name, value in (given or {}).items():
        field = message.DESCRIPTOR.fields_by_name.get(name)
        if field is None:
            allowed = ",".join(message.DESCRIPTOR.fields_by_name)
            raise Malformed("OPTION_UNKNOWN", f"{game} has no option {name!r}", {"option": name, "allowed": allowed})
        try:
            if field.enum_type is not None and isinstance(value, str):
                # A string selects the enum value whose name ends with it.
                setattr(message, name, numbers_of(field.enum_type)[value])
            else:
                setattr(message, name, value)
        except (KeyError, TypeError, ValueError):
            why = f"option {name!r} of {game} cannot be {value!r}"
            raise Malformed("OPTION_VALUE_UNKNOWN", why, {"option": name, "value": str(value)}) from None
    return wrap(Options(), message)


def _empty(game: str) -> Message:
    kind = message_of(Options, game)
    if kind is None:
        raise Malformed("GAME_UNKNOWN", f"there is no game {game!r}", {"allowed": ",".join(list_known())})
    return kind()
