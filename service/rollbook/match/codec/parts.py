"""Messages as bytes without a message: the bytes of one are those of its fields, one behind the other by their numbers.

So what is written again and again, such as a column of a board, is serialised by protobuf once and then remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any, Final

_SEVEN_BITS: Final = 0x7F
_MORE: Final = 0x80

MOST_REMEMBERED: Final = 4_096
"""Bytes that one field is remembered as; behind that it begins anew."""


class Remembered(dict[Any, bytes]):
    """By value the bytes that are made of it, each made when it is first asked for."""

    def __init__(self, make: Callable[[Any], bytes]) -> None:
        """Remember nothing yet."""
        self._make = make

    def __missing__(self, value: Hashable) -> bytes:
        """Make them."""
        if len(self) >= MOST_REMEMBERED:
            self.clear()
        made = self[value] = self._make(value)
        return made


def length_delimited(number: int, content: bytes) -> bytes:
    """A field of this number that holds bytes or a message."""
    return _prefix(number, len(content)) + content


@lru_cache(MOST_REMEMBERED)
def _prefix(number: int, size: int) -> bytes:
    """Which field it is and how many bytes follow."""
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
