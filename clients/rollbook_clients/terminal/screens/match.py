"""What every screen with a board has: title, status, board, something to choose from, the log, hints."""

from __future__ import annotations

from typing import Any, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from rollbook.v1 import raffzahn_pb2
from rollbook_clients.terminal.language import Words
from rollbook_clients.terminal.screens.help import Help
from rollbook_clients.terminal.widgets.board import Board
from rollbook_clients.terminal.widgets.story import Story


class MatchScreen(Screen[None]):
    """One match on the screen."""

    BINDINGS: ClassVar = [("question_mark", "help", ""), ("escape", "leave", "")]

    def __init__(self, words: Words, topic: str) -> None:
        """Help is about this topic."""
        super().__init__()
        self.words = words
        self.game = ""
        self._topic = topic
        self.title_bar = Static(id="title", classes="bar", markup=False)
        self.status_bar = Static(id="status", classes="bar", markup=False)
        self.board = Board()
        self.story = Story()
        self.hints = Static(id="hints", classes="bar", markup=False)

    def control(self) -> Widget:
        """What stands below the board."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        """From above."""
        yield self.title_bar
        yield self.status_bar
        yield self.board
        yield self.control()
        yield self.story
        yield self.hints

    def action_help(self) -> None:
        """Keys and rules."""
        self.app.push_screen(Help(self.words, (self._topic, self.game) if self.game else (self._topic,)))

    def action_leave(self) -> None:
        """Back to where one came from, or out."""
        if len(self.app.screen_stack) > 2:  # noqa: PLR2004 - the blank screen and the first lie below
            self.dismiss()
        else:
            self.app.exit(0)


def hint(words: Words, *actions: tuple[str, str]) -> Text:
    """Keys and what they do; each can be clicked."""
    line = Text(no_wrap=True, overflow="ellipsis")
    for key, action in actions:
        said = words(f"hint.{action}")
        part = Text.assemble((key, "bold"), " ", said)
        part.apply_meta({"@click": f"screen.{action}"})
        line.append_text(part)
        line.append("  ")
    return line


def options_in_words(game: str, options: Any, words: Words) -> str:
    """What of a match differs from the usual."""
    said = []
    if game == "cant_stop":
        if options.columns_to_win not in {0, 3}:
            said.append(words("option.columns_to_win", value=options.columns_to_win))
        said += [words(f"option.{name}") for name in ("hasty", "free_fields") if getattr(options, name)]
    elif game == "raffzahn":
        if options.edition == raffzahn_pb2.RAFFZAHN_EDITION_ORIGINAL:
            said.append(words("option.edition.original"))
        said += [words("option.announce")] if options.announce else []
    elif game == "wuerfelzoo":
        said += [words("option.rounds_to", value=options.rounds_to)] if options.rounds_to else []
        said += [words("option.box")] if options.box else []
    elif game == "allie_gator" and options.teeth_to_end not in {0, 3}:
        said.append(words("option.teeth_to_end", value=options.teeth_to_end))
    return ", ".join(said)
