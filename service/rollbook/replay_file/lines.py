"""How text files of keys and heads are refused."""

from __future__ import annotations


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
