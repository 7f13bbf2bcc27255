"""The board of whatever game, as large as the screen allows."""

from __future__ import annotations

from textual.containers import VerticalScroll
from textual.events import Resize
from textual.widgets import Static

from rollbook.v1.games_pb2 import View
from rollbook_clients.terminal import boards
from rollbook_clients.terminal.blocks import Room, as_text
from rollbook_clients.terminal.seating import Seating


class Board(VerticalScroll, can_focus=False):
    """Draws a view; scrolls if there is less room than it takes."""

    def __init__(self) -> None:
        """Be empty."""
        super().__init__(id="board")
        self._canvas = Static()
        self._shown: tuple[View, Seating] | None = None

    def compose(self) -> list[Static]:
        """One canvas."""
        return [self._canvas]

    def show(self, view: View, seating: Seating) -> None:
        """Draw this view from now on."""
        self._shown = (view, seating)
        self._draw()

    def on_resize(self, _event: Resize) -> None:
        """Draw it anew."""
        self._draw()

    def _draw(self) -> None:
        if self._shown is None or not self.size.width:
            return
        view, seating = self._shown
        self._canvas.update(as_text(boards.draw(view, seating, Room(self.size.width, self.size.height))))
