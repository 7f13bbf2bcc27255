"""The Textual application: style sheet, minimum size, title, bell and quitting."""

from collections.abc import Callable
from typing import ClassVar, Final

from textual.app import App, ComposeResult
from textual.containers import Container
from textual.events import Resize
from textual.geometry import Size
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from rollbook_clients.terminal.preferences import Preferences
from rollbook_clients.terminal.screens.play_now import Wish
from rollbook_replays.games.words import Words
from rollbook_replays.text import printable

SMALLEST: Final = (80, 24)
"""Minimum columns and rows; every screen fits into this size."""
PUSH_TITLE, POP_TITLE = "\x1b[22;2t", "\x1b[23;2t"


class TooSmall(ModalScreen[None]):
    """Covers the current screen while the terminal is too small, and shows the required size."""

    def __init__(self, words: Words) -> None:
        super().__init__(classes="covering")
        self._words = words
        self._said = Static(markup=False)

    def compose(self) -> ComposeResult:
        """Yield the label for the sentence."""
        with Container():
            yield self._said

    def on_mount(self) -> None:
        """Show the current and the required size."""
        self.say(self.app.size)

    def say(self, size: Size) -> None:
        """Update the sentence with this size of the terminal."""
        columns, rows = SMALLEST
        said = self._words("size.too_small", columns=columns, rows=rows, wide=size.width, high=size.height)
        self._said.update(said)


class Terminal(App[int]):
    """Runs one first screen and returns an exit code."""

    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - declared like this in textual
        (0, "-narrow"),
        (128, "-wide"),  # 80 columns of a board, 4 around it, 44 of the log
        (140, "-wider"),
    ]
    VERTICAL_BREAKPOINTS = [  # noqa: RUF012 - declared like this in textual
        (0, "-low"),
        (29, "-middle"),
        (32, "-high"),
        (38, "-higher"),
    ]
    BINDINGS: ClassVar = [("ctrl+c", "quit", ""), ("ctrl+q", "quit", "")]
    CSS = """
    Screen { background: #0d1117; color: #e6edf3; }
    .bar { height: 1; width: 100%; background: #161b22; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }
    #title { text-style: bold; background: #1f6feb; color: #ffffff; }
    #hints { color: #8b949e; }
    MatchScreen { layout: grid; grid-size: 2; grid-columns: 3fr 2fr; grid-rows: 1 1 14 1fr 1; }
    MatchScreen.-middle { grid-rows: 1 1 16 1fr 1; }
    MatchScreen.-high { grid-rows: 1 1 1fr 9 1; }
    MatchScreen.-higher { grid-rows: 1 1 1fr 13 1; }
    MatchScreen.-wide, MatchScreen.-wider { grid-columns: 1fr 1fr; }
    MatchScreen .bar, MatchScreen #board { column-span: 2; }
    MatchScreen.-wide #control, MatchScreen.-wider #control { column-span: 2; }
    #board { padding: 0; scrollbar-size-vertical: 1; }
    MatchScreen.-wide #board, MatchScreen.-wider #board { padding: 1 2; }
    #board > Static { text-wrap: nowrap; }
    #control { background: #161b22; height: 100%; }
    #control > ContentSwitcher { height: 1fr; }
    #story { background: #0d1117; padding: 0 1; scrollbar-size-vertical: 1; height: 100%; overflow-x: hidden; }
    MatchScreen.-wide #story { dock: right; width: 44; border-left: solid #30363d; }
    MatchScreen.-wider #story { dock: right; width: 50; border-left: solid #30363d; }
    OptionList { border: none; padding: 0; background: #161b22; height: 1fr; scrollbar-size-vertical: 1; }
    OptionList:focus { border: none; background: #161b22; }
    OptionList > .option-list--option { padding: 0 1; }
    #menu, #actions, #matches { text-wrap: nowrap; text-overflow: ellipsis; }
    OptionList > .option-list--option-highlighted { background: #1f6feb; color: #ffffff; text-style: bold; }
    #message { padding: 0 1; color: #e3b341; display: none; }
    #more { padding: 0 2; color: #79c0ff; display: none; }
    #about { padding: 0 2; color: #8b949e; display: none; }
    #picker > #pieces { height: auto; padding: 0 1; }
    #waiting { padding: 0 1; }
    .dialog { align: center middle; background: #0d1117 70%; }
    .dialog > * { width: 80; max-width: 100%; height: auto; max-height: 94%; background: #161b22;
        border: round #1f6feb; padding: 0 1; }
    .covering { align: center middle; background: #0d1117; }
    .covering > * { width: 100%; height: 100%; align: center middle; }
    .covering Static { width: auto; max-width: 100%; height: auto; text-align: center; }
    Input { border: none; height: 1; padding: 0 1; background: #0d1117; }
    Input:focus { border: none; background: #21262d; }
    """

    def __init__(self, first: Screen[None], words: Words, preferences: Preferences | None = None) -> None:
        super().__init__()
        self._first = first
        self.words = words
        self.preferences = preferences or Preferences()
        self._too_small = TooSmall(words)
        self._titled = ""
        self.play_now: Callable[[Wish], None] | None = None
        """Finds a table and goes there; None without a lobby."""
        self.wish: Wish | None = None
        """What the user wanted to play last."""

    def on_mount(self) -> None:
        """Save the terminal's title and show the first screen."""
        self._write(PUSH_TITLE)
        self.push_screen(self._first)
        self._cover_if_too_small(self.size)

    def on_unmount(self) -> None:
        """Restore the terminal's title."""
        self._write(POP_TITLE)

    def on_resize(self, event: Resize) -> None:
        """Cover the screen if the terminal became too small, so that no content is cut off."""
        self._cover_if_too_small(event.size)

    def _cover_if_too_small(self, size: Size) -> None:
        is_small = size.width < SMALLEST[0] or size.height < SMALLEST[1]
        is_covered = self.screen is self._too_small
        if is_covered and is_small:
            self._too_small.say(size)
        elif is_covered:
            self.pop_screen()
        elif is_small and len(self.screen_stack) > 1:
            self.push_screen(self._too_small)

    def entitle(self, title: str) -> None:
        """Set the terminal's title, which is visible from other windows and tabs."""
        if title != self._titled:
            self._titled = title
            self._write(f"\x1b]2;{printable(title)}\x07")

    def ring(self) -> None:
        """Ring the terminal bell if the preferences allow it."""
        if self.preferences.bell:
            self.bell()

    def _write(self, codes: str) -> None:
        if self._driver is not None and not self.is_headless:
            self._driver.write(codes)

    async def action_quit(self) -> None:
        """Quit; calls the screen's `action_quit_program` instead if it has one, which may ask first."""
        leave = getattr(self.screen, "action_quit_program", None)
        if leave is None:
            self.exit(0)
        else:
            leave()
