"""Reads text files for people line by line, and refuses wrong lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

BYTE_ORDER_MARK: Final = "\ufeff"
LONGEST_SHOWN: Final = 40


class WrongLine(Exception):
    """The first wrong line and the reason; a command puts the file's name before it."""

    def __init__(self, line: int, reason: str) -> None:
        """`line` is the number of the line, from 1."""
        super().__init__(line, reason)
        self.line = line
        self.reason = reason

    def __str__(self) -> str:
        """The line's number and the reason."""
        return f"{self.line}: {self.reason}"


def text_of(data: bytes) -> str:
    """Decode the bytes as UTF-8; raises WrongLine."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as wrong:
        raise WrongLine(data.count(b"\n", 0, wrong.start) + 1, "not UTF-8") from None


def content(text: str) -> Iterator[tuple[int, str]]:
    r"""The lines with content, and their numbers.

    Only a byte-order mark, Windows line ends, blank lines and comments are skipped.

    >>> list(content("\ufeff# mine\r\n\r\none\r\n two"))
    [(3, 'one'), (4, ' two')]
    """
    begin, number = len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0, 0
    while begin < len(text):
        end = text.find("\n", begin)
        line = text[begin:] if end < 0 else text[begin:end].removesuffix("\r")
        number, begin = number + 1, len(text) if end < 0 else end + 1
        if line.strip(" \t") and not line.startswith("#"):
            yield number, line


def sanitise(text: str) -> str:
    r"""A piece of an untrusted line, safe to show on a terminal.

    >>> print(sanitise("\x1b[2J"))
    '\x1b[2J'
    """
    return ascii(text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "…")
