"""The log of a match in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rich.text import Text
from textual.widgets import RichLog

MOST_LINES: Final = 2_000


class Story(RichLog, can_focus=False):
    """Lines, the latest at the bottom."""

    def __init__(self) -> None:
        """Be empty."""
        super().__init__(id="story", wrap=True, max_lines=MOST_LINES, min_width=10)

    def add(self, lines: Iterable[Text]) -> None:
        """Append what happened."""
        for line in lines:
            self.write(line)

    def tell(self, lines: list[Text]) -> None:
        """Begin anew with these lines."""
        self.clear()
        self.add(lines[-MOST_LINES:])
