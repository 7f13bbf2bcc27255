"""The control below the board: a menu, pieces to pick, or a text on whom the match waits for."""

from typing import Final

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Key, Resize
from textual.widgets import ContentSwitcher, Static

from rollbook_clients.terminal.widgets.menu import Menu
from rollbook_clients.terminal.widgets.picker import Picker
from rollbook_replays.games.presentation import Menu as Offered
from rollbook_replays.games.presentation import Picking, Presentation
from rollbook_replays.games.words import Words
from rollbook_replays.text import Text, fit, width

BESIDE_MESSAGE: Final = 2
BESIDE_ABOUT: Final = 4
"""Columns beside the lines of the message, and of the notes."""


class Control(Vertical):
    """Shows menu, picker or waiting text between messages and notes; choices have priority for the rows."""

    def __init__(self, words: Words) -> None:
        super().__init__(id="control")
        self._words = words
        self.menu = Menu(words)
        self.picker = Picker(words)
        self._message = Static(id="message", markup=False)
        self._said: tuple[str, ...] = ()
        self._waiting = Static(id="waiting", markup=False)
        self._waits_for = ""
        self._more = Static(id="more", markup=False)
        self._about = Static(id="about", markup=False)
        self._note = ""
        self._means = ""
        self._switcher = ContentSwitcher(initial="waiting")

    def compose(self) -> ComposeResult:
        """Yield the message at the top, then the choices, then the notes."""
        yield self._message
        with self._switcher:
            yield self._waiting
            yield self.menu
            yield self.picker
        yield self._more
        yield self._about

    def offer(self, offered: Offered, shown: Presentation | None = None) -> None:
        """Offer these choices and take the focus. `shown` supplies the colours of pieces."""
        if isinstance(offered, Picking):
            self._switcher.current = "picker"
            self.picker.offer(offered, {} if shown is None else shown.palette)
            self.picker.focus()
        else:
            self._switcher.current = "menu"
            self.menu.offer(offered)
            self.menu.focus()
        self._share()

    def hear(self, event: Key) -> None:
        """Handle a key that arrived while no widget had the focus, as after a click on empty space."""
        if self._switcher.current == "picker":
            self.picker.focus()
            self.picker.on_key(event)
        elif self._switcher.current == "menu":
            self.menu.focus()
            self.menu.on_key(event)

    def point(self, spot: str) -> None:
        """Select the choice or piece for a clicked spot of the board."""
        if self._switcher.current == "picker":
            self.picker.point(spot)
        elif self._switcher.current == "menu":
            self.menu.point(spot)

    def wait(self, said: str) -> None:
        """Remove all choices and show this text instead."""
        self._waits_for = said
        self._waiting.update(said)
        self._switcher.current = "waiting"
        self._note = self._means = ""
        self._share()

    def say(self, *messages: str) -> None:
        """Show these messages above the choices, the newest last; older ones are left out if room is short."""
        self._said = tuple(message for message in messages if message)
        self._share()

    def on_menu_considered(self, event: Menu.Considered) -> None:
        """Show the note that its line has no room for, and the explanation if the choices leave enough rows."""
        self._note, self._means = event.note, event.about
        self._share()

    def on_menu_scrolled(self, event: Menu.Scrolled) -> None:
        """Recount the choices that are out of sight."""
        event.stop()
        self._share()

    def on_resize(self, _event: Resize) -> None:
        """Distribute the rows again."""
        self._share()

    def _share(self) -> None:
        """Distribute the rows: first to the choices, at least one to the messages, then to the other texts."""
        wide, high = self.size
        if not wide:
            return
        self.picker.share(high - bool(self._said))
        choices = self._rows_below(wide)
        note, means = (_lines(text, wide - BESIDE_ABOUT) for text in (self._note, self._means))
        said = _within(self._said, wide - BESIDE_MESSAGE, max(high - choices - len(note), 1))
        _put(self._message, said)
        left = high - len(said) - len(note)
        _put(self._about, [*note, *means] if len(means) + choices <= left else note)
        hidden = self._switcher.current == "menu" and choices > left
        _put(self._more, [self._hidden_text(left - 1)] if hidden else [])

    def _rows_below(self, wide: int) -> int:
        """Rows that the visible menu, picker or waiting text needs."""
        match self._switcher.current:
            case "menu":
                return self.menu.option_count
            case "picker":
                return self.picker.rows
        return len(_lines(self._waits_for, wide - BESIDE_MESSAGE))

    def _hidden_text(self, rows: int) -> str:
        """A text on how many choices are out of sight above and below."""
        above = min(round(self.menu.scroll_target_y), self.menu.option_count - rows)
        below = self.menu.option_count - above - rows
        said = [
            self._words("menu.more", count=count, where=where)
            for count, where in ((above, "↑"), (below, "↓"))
            if count > 0
        ]
        return "   ".join(said)


def _put(static: Static, lines: list[str]) -> None:
    """Set the widget's text and exact height; automatic heights can be out of date while sizes change."""
    static.styles.height = max(len(lines), 1)
    static.display = bool(lines)
    if static.content != (said := "\n".join(lines)):
        static.update(said)


def _within(parts: tuple[str, ...], wide: int, most: int) -> list[str]:
    """The last parts that fit into `most` lines; the very last one is cut if it does not fit alone."""
    kept: list[str] = []
    for part in reversed(parts):
        lines = _lines(part, wide)
        if kept and len(lines) + len(kept) > most:
            break
        kept = [*lines, *kept]
    if len(kept) > most:
        kept = [*kept[: most - 1], fit(f"{kept[most - 1]} …", wide)]
    return kept


def _lines(said: str, wide: int) -> list[str]:
    """Wrap a text to lines of at most `wide` columns."""
    lines = []
    for line in said.splitlines():
        for part in Text.of(line).wrap(wide):
            left = part.plain
            while width(left) > wide:
                head = fit(left, wide, "")
                lines.append(head)
                left = left[len(head) :]
            lines.append(left)
    return lines
