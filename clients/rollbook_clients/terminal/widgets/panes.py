"""What a match shows: the board of whatever game, as large as the screen allows, and the log in words."""

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
    """Draws a view; scrolls if there is less room than it takes."""

    class Pointed(Message):
        """A place of the board was clicked."""

        def __init__(self, spot: str) -> None:
            super().__init__()
            self.spot = spot

    def __init__(self) -> None:
        super().__init__(id="board")
        self._canvas = Static()
        self._shown: tuple[Presentation, Any, Seating, Spotlight] | str | None = None
        """What is drawn, or what is said instead."""
        self._invitation = ""

    def compose(self) -> list[Static]:
        """One canvas."""
        return [self._canvas]

    def show(self, shown: Presentation, view: Any, seating: Seating, spotlight: Spotlight = NOTHING_MARKED) -> None:
        """Draw this view from now on."""
        if self._shown != (shown, view, seating, spotlight):
            self._shown = (shown, view, seating, spotlight)
            self._draw()

    def say(self, sentence: str) -> None:
        """Say why there is no board."""
        if self._shown != sentence:
            self._shown = sentence
            self._draw()

    def invite(self, invitation: str) -> None:
        """Show this line above the board, across the whole width, so that it can be selected in one piece."""
        if self._invitation != invitation:
            self._invitation = invitation
            self._draw()

    def on_resize(self, _event: Resize) -> None:
        """Draw it anew."""
        self._draw()

    def on_click(self, event: Click) -> None:
        """Say which place it is."""
        if SPOT in event.style.meta:
            self.post_message(self.Pointed(event.style.meta[SPOT]))

    def _draw(self) -> None:
        if self._shown is None or not self.size.width:
            return
        wide, high = self.size
        above = [line.styled(STRONG) for line in _broken(self._invitation, wide)]
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
        """On a canvas of just this size: one that measures itself may keep what it measured for an earlier drawing.

        It does so if styles have changed, as they do at some sizes of the terminal, and a layout comes before this.
        """
        self._canvas.styles.width = max(wide, 1)
        self._canvas.styles.height = max(high, 1)
        self._canvas.update(drawn)


def _broken(invitation: str, wide: int) -> list[Text]:
    """In one line, or with what it calls in a line of its own: whoever selects that has all of it."""
    if not invitation or len(invitation) <= wide:
        return [Text.of(invitation)] if invitation else []
    command, _, link = invitation.rpartition(" ")
    return [Text.of(command), *(Text.of(link[at : at + wide]) for at in range(0, len(link), wide))]


class StoryLog(RichLog, can_focus=False):
    """Lines, the latest at the bottom."""

    def __init__(self) -> None:
        super().__init__(id="story", wrap=True, max_lines=MOST_LINES, min_width=10)
        self._told: deque[RichText] = deque(maxlen=MOST_LINES)
        self._wide = 0

    def add(self, told: Iterable[Sentence], palette: Mapping[str, str]) -> None:
        """Append what happened, without what the next line says as well."""
        for line in told:
            if not line.is_implied:
                self._told.append(as_rich([line.text], palette, wraps=True))
                self.write(self._told[-1])

    def tell(self, told: Sequence[Sentence], palette: Mapping[str, str]) -> None:
        """Begin anew with these lines."""
        self._told.clear()
        self.clear()
        self.add(told[-MOST_LINES:], palette)

    def on_resize(self, event: Resize) -> None:
        """Lay the lines out anew, so that none is cut off and none wraps that need not."""
        if self._wide and event.size.width != self._wide:
            self.clear()
            for line in self._told:
                self.write(line)
        self._wide = event.size.width
