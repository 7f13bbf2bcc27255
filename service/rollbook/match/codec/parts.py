"""Builds the bytes of messages from those of their fields, concatenated in the order of their numbers.

So common parts, such as a column of a board, are serialised by protobuf once and then cached.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any, Final

_SEVEN_BITS: Final = 0x7F
_MORE: Final = 0x80

MOST_REMEMBERED: Final = 4_096
"""Cache size per field; a full cache is cleared."""


class Remembered(dict[Any, bytes]):
    """Cache of the bytes of values, each made on first use."""

    def __init__(self, make: Callable[[Any], bytes]) -> None:
        """`make` serialises a value."""
        self._make = make

    def __missing__(self, value: Hashable) -> bytes:
        """Serialise and cache a value."""
        if len(self) >= MOST_REMEMBERED:
            self.clear()
        made = self[value] = self._make(value)
        return made


def length_delimited(number: int, content: bytes) -> bytes:
    """A field of this number that holds bytes or a message."""
    return _prefix(number, len(content)) + content


@lru_cache(MOST_REMEMBERED)
def _prefix(number: int, size: int) -> bytes:
    """The tag of a field and the length of its content."""
    return tag_of(number) + varint(size)


def tag_of(number: int) -> bytes:
    """Return the tag of a field of this number that holds bytes, a list or a message."""
    return varint(number << 3 | 2)


def varint(number: int) -> bytes:
    r"""Write a number as protobuf does: seven bits in each byte, the lowest first.

    >>> varint(5), varint(300)
    (b'\x05', b'\xac\x02')
    """
    written = bytearray()
    while number > _SEVEN_BITS:
        written.append(number & _SEVEN_BITS | _MORE)
        number >>= 7
    return bytes([*written, number])
