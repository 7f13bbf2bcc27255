"""Messages written in the one canonical way: the only bytes that mean what they mean."""

from __future__ import annotations

from google.protobuf.message import Message


def is_canonical(message: Message, data: bytes) -> bool:
    """Whether the message, which was read from these bytes, is written so; unknown fields are taken out of it.

    Protobuf keeps what it does not know and writes it again, so it has to go before the bytes are compared. What stands
    in the value of an `Any` is not looked at: only the program that knows its message can do that.
    """
    message.DiscardUnknownFields()
    return message.SerializeToString(deterministic=True) == data
