"""The program around the screens: its looks, its language, its keys."""

from typing import ClassVar

from textual.app import App
from textual.screen import Screen

from rollbook_replays.games.words import Words


class Terminal(App[int]):
    """Shows one screen first, and ends with an exit code."""

    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - as textual has it
        (0, "-narrow"),
        (128, "-wide"),  # 80 of a board, 4 around it, 44 of the log
    ]
    VERTICAL_BREAKPOINTS = [  # noqa: RUF012 - as textual has it
        (0, "-low"),
        (32, "-high"),
    ]
    BINDINGS: ClassVar = [("ctrl+c", "quit", ""), ("ctrl+q", "quit", "")]
    CSS = """
    Screen { background: #0d1117; color: #e6edf3; }
    .bar { height: 1; width: 100%; background: #161b22; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }
    #title { text-style: bold; background: #1f6feb; color: #ffffff; }
    #hints { color: #8b949e; }
    MatchScreen { layout: grid; grid-size: 2; grid-columns: 3fr 2fr; grid-rows: 1 1 14 1fr 1; }
    MatchScreen.-high { grid-rows: 1 1 22 1fr 1; }
    MatchScreen.-wide { grid-columns: 1fr 1fr; }
    MatchScreen .bar, MatchScreen #board { column-span: 2; }
    MatchScreen.-wide #control { column-span: 2; }
    #board { padding: 0; scrollbar-size-vertical: 1; }
    MatchScreen.-wide #board { padding: 1 2; }
    #board > Static { width: auto; height: auto; }
    #control { background: #161b22; height: 100%; }
    #story { background: #0d1117; padding: 0 1; scrollbar-size-vertical: 1; height: 100%; }
    MatchScreen.-wide #story { dock: right; width: 44; border-left: solid #30363d; }
    OptionList { border: none; padding: 0; background: #161b22; height: 1fr; scrollbar-size-vertical: 1; }
    OptionList:focus { border: none; background: #161b22; }
    OptionList > .option-list--option { padding: 0 1; }
    OptionList > .option-list--option-highlighted { background: #1f6feb; color: #ffffff; text-style: bold; }
    #message { height: auto; padding: 0 1; color: #e3b341; }
    #message:empty { display: none; }
    #picker > #pieces { height: auto; padding: 0 1; }
    #waiting { padding: 0 1; }
    .dialog { align: center middle; background: #0d1117 70%; }
    .dialog > * { width: 80; max-width: 100%; height: auto; max-height: 94%; background: #161b22;
        border: round #1f6feb; padding: 0 1; }
    Input { border: none; height: 1; padding: 0 1; background: #0d1117; }
    Input:focus { border: none; background: #21262d; }
    """

    def __init__(self, first: Screen[None], words: Words) -> None:
        super().__init__()
        self._first = first
        self.words = words

    def on_mount(self) -> None:
        """Show it."""
        self.push_screen(self._first)

    async def action_quit(self) -> None:
        """Out, from anywhere."""
        self.exit(0)
