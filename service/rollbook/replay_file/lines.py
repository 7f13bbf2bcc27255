"""Text files that people hand on, line by line: how they are read, and how a line is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

BYTE_ORDER_MARK: Final = "\ufeff"
LONGEST_SHOWN: Final = 40


class WrongLine(Exception):
    """The first line that is not what it has to be, and why; a command puts the file's name before it."""

    def __init__(self, line: int, reason: str) -> None:
        """Keep both apart."""
        super().__init__(line, reason)
        self.line = line
        self.reason = reason

    def __str__(self) -> str:
        """Name the line, then say why."""
        return f"{self.line}: {self.reason}"


def text_of(data: bytes) -> str:
    """The text in these bytes; WrongLine if it is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as wrong:
        raise WrongLine(data.count(b"\n", 0, wrong.start) + 1, "not UTF-8") from None


def content(text: str) -> Iterator[tuple[int, str]]:
    r"""The lines that say something, with their numbers.

    A byte-order mark, ends of lines as Windows has them, blank lines and comments are passed over, and nothing else.

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


def shown(text: str) -> str:
    r"""A piece of a line as it may stand on a terminal, whoever wrote it.

    >>> print(shown("\x1b[2J"))
    '\x1b[2J'
    """
    return ascii(text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "…")
