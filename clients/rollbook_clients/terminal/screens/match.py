"""Base of all screens with a board: title, status, board, control, log, hints."""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from rollbook_clients.terminal.screens.dialogues import Help
from rollbook_clients.terminal.widgets.panes import BoardPane, StoryLog
from rollbook_replays.games.words import Words


class MatchScreen(Screen[None]):
    """Shows one match."""

    BINDINGS: ClassVar = [("question_mark", "help", ""), ("escape", "leave", ""), ("ctrl+y", "copy", "")]

    def __init__(self, words: Words, topic: str) -> None:
        super().__init__()
        self.words = words
        self.game = ""
        self._topic = topic
        self.title_bar = Static(id="title", classes="bar", markup=False)
        self.status_bar = Static(id="status", classes="bar", markup=False)
        self.board = BoardPane()
        self.story = StoryLog()
        self.hints = Static(id="hints", classes="bar", markup=False)

    @property
    def match_id(self) -> str:
        """The id of the match."""
        raise NotImplementedError

    def control(self) -> Widget:
        """The widget below the board."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        """Yield the widgets, from top to bottom."""
        yield self.title_bar
        yield self.status_bar
        yield self.board
        yield self.control()
        yield self.story
        yield self.hints

    def action_help(self) -> None:
        """Show the keys and the rules of the game."""
        self.app.push_screen(Help(self.words, self._topic, self.game))

    def action_rules(self) -> None:
        """Show the help, for a click on the hint."""
        self.action_help()

    def action_copy(self) -> None:
        """Copy the match's id to the clipboard, and show it in full."""
        self.app.copy_to_clipboard(self.match_id)
        self.app.notify(self.match_id, title=self.words("copied"), markup=False)

    def action_leave(self) -> None:
        """Return to the previous screen, or quit if this is the first."""
        if len(self.app.screen_stack) > 2:  # noqa: PLR2004 - Textual's blank screen and the first screen
            self.dismiss()
        else:
            self.app.exit(0)


def hint(words: Words, *actions: tuple[str, str]) -> Text:
    """The text of the last line: keys with their actions, each clickable."""
    parts = []
    for key, action in actions:
        part = Text.assemble((key_name(key, words), "bold"), " ", words(f"hint.{action}"))
        part.apply_meta({"@click": f"screen.{action}"})
        parts.append(part)
    return Text("  ", no_wrap=True, overflow="ellipsis").join(parts)


def key_name(key: str, words: Words) -> str:
    """The label of a key, translated if there is a translation."""
    named = f"key.{key}"
    return words(named) if named in words else key
