"""The wrapper messages of games.proto, which hold a message of any game: in its own field, or in `other`.

This module does not load the rules, so that clients without rules can share it.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, TypeVar

from google.protobuf.any_pb2 import Any as Other
from google.protobuf.message import DecodeError, Message

Wrapper = TypeVar("Wrapper", bound=Message)
Held = TypeVar("Held", bound=Message)

OTHER: Final = "other"
_URL: Final = "type.googleapis.com/"


def wrap(wrapper: Wrapper, message: Message) -> Wrapper:
    """Put a game's message into its field of the wrapper, and return the wrapper."""
    name = _fields(wrapper.DESCRIPTOR).get(message.DESCRIPTOR.full_name, OTHER)
    field = getattr(wrapper, name)
    if name == OTHER:
        field.Pack(message, deterministic=True)
    else:
        field.SetInParent()
        field.CopyFrom(message)
    return wrapper


def place(wrapper: type[Message], message: type[Message]) -> str:
    """The name of the wrapper's field for a game's message."""
    return _fields(wrapper.DESCRIPTOR).get(message.DESCRIPTOR.full_name, OTHER)


def type_url(message: type[Message]) -> str:
    """The type URL of a message in `other`."""
    return _URL + message.DESCRIPTOR.full_name


def unwrap(wrapper: Message, kind: type[Held]) -> Held | None:
    """The message of this kind in the wrapper; None if there is none, or if it is not in canonical form."""
    name = wrapper.WhichOneof("game")
    if name is None:
        return None
    held = getattr(wrapper, name)
    if name == OTHER:
        listed = kind.DESCRIPTOR.full_name in _fields(wrapper.DESCRIPTOR)
        return None if listed else _unpack(held, kind)
    return held if isinstance(held, kind) else None


def content(wrapper: Message) -> str | None:
    """The content of the wrapper: the name of a listed game, or the full name of a message; None if it is empty."""
    name: str | None = wrapper.WhichOneof("game")
    if name != OTHER:
        return name
    url: str = getattr(wrapper, OTHER).type_url
    return url.removeprefix(_URL)


def list_games(wrapper: type[Message]) -> tuple[str, ...]:
    """The games that have a field of their own, by name."""
    return tuple(sorted(_fields(wrapper.DESCRIPTOR).values()))


def _unpack(other: Other, kind: type[Held]) -> Held | None:
    if other.type_url != type_url(kind):
        return None
    try:
        held = kind.FromString(other.value)
    except DecodeError:
        return None
    return held if held.SerializeToString(deterministic=True) == other.value else None


@cache
def _fields(wrapper: Any) -> dict[str, str]:
    """The field of every listed game, by the full name of its message."""
    fields = wrapper.oneofs_by_name["game"].fields
    return {field.message_type.full_name: field.name for field in fields if field.name != OTHER}
