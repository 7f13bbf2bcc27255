"""The board of a match, scaled to the screen, and the log in words."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from rich.text import Text as RichText
from textual.containers import VerticalScroll
from textual.events import Click, Resize
from textual.message import Message
from textual.widgets import RichLog, Static

from rollbook_replays.games.blocks import Room, breadth
from rollbook_replays.games.presentation import NOTHING_MARKED, Presentation, Sentence, Spotlight
from rollbook_replays.games.seats import Seating
from rollbook_replays.renderers import as_rich
from rollbook_replays.text import SPOT, STRONG, Text

MOST_LINES: Final = 2_000


class BoardPane(VerticalScroll, can_focus=False):
    """Draws a view of any game; scrolls if the board is larger than the pane."""

    class Pointed(Message):
        """A spot of the board was clicked."""

        def __init__(self, spot: str) -> None:
            super().__init__()
            self.spot = spot

    def __init__(self) -> None:
        super().__init__(id="board")
        self._canvas = Static()
        self._shown: tuple[Presentation, Any, Seating, Spotlight] | str | None = None
        """What is drawn: a view, or a sentence in its place."""
        self._invitation = ""

    def compose(self) -> list[Static]:
        """The single canvas."""
        return [self._canvas]

    def show(self, shown: Presentation, view: Any, seating: Seating, spotlight: Spotlight = NOTHING_MARKED) -> None:
        """Draw this view from now on."""
        if self._shown != (shown, view, seating, spotlight):
            self._shown = (shown, view, seating, spotlight)
            self._draw()

    def say(self, sentence: str) -> None:
        """Show a sentence in place of the board."""
        if self._shown != sentence:
            self._shown = sentence
            self._draw()

    def invite(self, invitation: str) -> None:
        """Show this line above the board, unbroken if it fits, so that it can be selected as a whole."""
        if self._invitation != invitation:
            self._invitation = invitation
            self._draw()

    def on_resize(self, _event: Resize) -> None:
        """Draw the board again."""
        self._draw()

    def on_click(self, event: Click) -> None:
        """Report the clicked spot."""
        if SPOT in event.style.meta:
            self.post_message(self.Pointed(event.style.meta[SPOT]))

    def _draw(self) -> None:
        if self._shown is None or not self.size.width:
            return
        wide, high = self.size
        above = [line.with_style(STRONG) for line in _break_invitation(self._invitation, wide)]
        lines: list[Text] = []
        palette: Mapping[str, str] = {}
        if isinstance(self._shown, str):
            lines = [Text.of(self._shown)]
        else:
            shown, view, seating, spotlight = self._shown
            lines = shown.board(view, seating, Room(wide, max(high - len(above), 1)), spotlight)
            palette = shown.palette
        self._put(as_rich([*above, *lines], palette), breadth([*above, *lines]), len(above) + len(lines))

    def _put(self, drawn: RichText, wide: int, high: int) -> None:
        """Set the canvas to exactly this size: with automatic size it may keep the size of an earlier drawing.

        That happens if styles have changed, as they do at some sizes of the terminal, and a layout runs before this
        call.
        """
        self._canvas.styles.width = max(wide, 1)
        self._canvas.styles.height = max(high, 1)
        self._canvas.update(drawn)


def _break_invitation(invitation: str, wide: int) -> list[Text]:
    """One line, or the command and the link on separate lines, so that the link can be selected without other text."""
    if not invitation or len(invitation) <= wide:
        return [Text.of(invitation)] if invitation else []
    command, _, link = invitation.rpartition(" ")
    return [Text.of(command), *(Text.of(link[at : at + wide]) for at in range(0, len(link), wide))]


class StoryLog(RichLog, can_focus=False):
    """The log of a match, the latest line at the bottom."""

    def __init__(self) -> None:
        super().__init__(id="story", wrap=True, max_lines=MOST_LINES, min_width=10)
        self._told: deque[RichText] = deque(maxlen=MOST_LINES)
        self._wide = 0

    def add(self, told: Iterable[Sentence], palette: Mapping[str, str]) -> None:
        """Append sentences; leaves out those that the next sentence implies."""
        for line in told:
            if not line.is_implied:
                self._told.append(as_rich([line.text], palette, wraps=True))
                self.write(self._told[-1])

    def tell(self, told: Sequence[Sentence], palette: Mapping[str, str]) -> None:
        """Replace all lines by these."""
        self._told.clear()
        self.clear()
        self.add(told[-MOST_LINES:], palette)

    def on_resize(self, event: Resize) -> None:
        """Wrap all lines again for the new width."""
        if self._wide and event.size.width != self._wide:
            self.clear()
            for line in self._told:
                self.write(line)
        self._wide = event.size.width
