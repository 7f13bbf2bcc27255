"""The log of a match in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from textual.widgets import RichLog

from rollbook_replays.games.presentation import Sentence
from rollbook_replays.renderers import as_rich

MOST_LINES: Final = 2_000


class StoryLog(RichLog, can_focus=False):
    """Lines, the latest at the bottom."""

    def __init__(self) -> None:
        """Be empty."""
        super().__init__(id="story", wrap=True, max_lines=MOST_LINES, min_width=10)

    def add(self, told: Iterable[Sentence], palette: Mapping[str, str]) -> None:
        """Append what happened, without what the next line says as well."""
        for line in told:
            if not line.is_implied:
                self.write(as_rich([line.text], palette, wraps=True))

    def tell(self, told: Sequence[Sentence], palette: Mapping[str, str]) -> None:
        """Begin anew with these lines."""
        self.clear()
        self.add(told[-MOST_LINES:], palette)
