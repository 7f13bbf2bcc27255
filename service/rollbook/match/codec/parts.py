"""Messages as bytes without a message: the bytes of one are those of its fields, one behind the other by their numbers.

So what is written again and again, such as a column of a board, is serialised by protobuf once and then remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final

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
    """A field of this number, from 1 to 15, that holds bytes or a message."""
    size = len(content)
    if size < 0x80:  # noqa: PLR2004 - what one byte holds of a number
        return bytes((number << 3 | 2, size)) + content
    head = bytearray((number << 3 | 2,))
    while size >= 0x80:  # noqa: PLR2004
        head.append(size & 0x7F | 0x80)
        size >>= 7
    head.append(size)
    return bytes(head) + content
