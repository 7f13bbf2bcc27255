"""The board of whatever game, as large as the screen allows."""

from __future__ import annotations

from typing import Any

from textual.containers import VerticalScroll
from textual.events import Resize
from textual.widgets import Static

from rollbook_replays.games.blocks import Room
from rollbook_replays.games.presentation import Presentation
from rollbook_replays.games.seats import Seating
from rollbook_replays.renderers import as_rich


class BoardPane(VerticalScroll, can_focus=False):
    """Draws a view; scrolls if there is less room than it takes."""

    def __init__(self) -> None:
        """Be empty."""
        super().__init__(id="board")
        self._canvas = Static()
        self._shown: tuple[Presentation, Any, Seating] | None = None

    def compose(self) -> list[Static]:
        """One canvas."""
        return [self._canvas]

    def show(self, shown: Presentation, view: Any, seating: Seating) -> None:
        """Draw this view from now on."""
        self._shown = (shown, view, seating)
        self._draw()

    def say(self, sentence: str) -> None:
        """Say why there is no board."""
        self._shown = None
        self._canvas.update(sentence)

    def on_resize(self, _event: Resize) -> None:
        """Draw it anew."""
        self._draw()

    def _draw(self) -> None:
        if self._shown is None or not self.size.width:
            return
        shown, view, seating = self._shown
        lines = shown.board(view, seating, Room(self.size.width, self.size.height))
        self._canvas.update(as_rich(lines, shown.palette))
