"""The options of a game, by the names that a service gives them, as its messages have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.protobuf.message import Message

from rollbook.v1.match_pb2 import OpenMatchRequest
from rollbook_clients.sdk.refusals import Malformed


def set_options(request: OpenMatchRequest, game: str, options: Mapping[str, object] | Message | None) -> None:
    """Say which game is to be played and how; what cannot be written is refused as the service would.

    >>> request = OpenMatchRequest()
    >>> set_options(request, "raffzahn", {"edition": "original"})
    >>> str(request.raffzahn.edition), request.raffzahn.HasField("announce")
    ('2', False)
    """
    games = [field.name for field in OpenMatchRequest.DESCRIPTOR.oneofs_by_name["options"].fields]
    if game not in games:
        raise Malformed("GAME_UNKNOWN", f"there is no game {game!r}", {"allowed": ",".join(games)})
    message: Message = getattr(request, game)
    message.SetInParent()
    if isinstance(options, Message):
        if options.DESCRIPTOR is not message.DESCRIPTOR:
            raise Malformed("OPTION_UNKNOWN", f"{options.DESCRIPTOR.name} are no options of {game}")
        message.CopyFrom(options)
        return
    for name, value in (options or {}).items():
        field = message.DESCRIPTOR.fields_by_name.get(name)
        if field is None:
            allowed = ",".join(message.DESCRIPTOR.fields_by_name)
            raise Malformed("OPTION_UNKNOWN", f"{game} has no option {name!r}", {"option": name, "allowed": allowed})
        try:
            setattr(message, name, _written(field, value))
        except (TypeError, ValueError):
            why = f"option {name!r} of {game} cannot be {value!r}"
            raise Malformed("OPTION_VALUE_UNKNOWN", why, {"option": name, "value": str(value)}) from None


def _written(field: Any, value: Any) -> Any:
    """A word stands for the value of an enum that ends with it."""
    if field.enum_type is None or not isinstance(value, str):
        return value
    for each in field.enum_type.values:
        if each.name.endswith(f"_{value.upper()}"):
            return each.number
    raise ValueError(value)
