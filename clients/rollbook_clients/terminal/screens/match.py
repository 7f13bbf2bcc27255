"""What every screen with a board has: title, status, board, something to choose from, the log, hints."""

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
    """One match on the screen."""

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
        """Which match it is."""
        raise NotImplementedError

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
        self.app.push_screen(Help(self.words, self._topic, self.game))

    def action_rules(self) -> None:
        """The same."""
        self.action_help()

    def action_copy(self) -> None:
        """Put the match's id where it can be pasted from, and show it in full."""
        self.app.copy_to_clipboard(self.match_id)
        self.app.notify(self.match_id, title=self.words("copied"), markup=False)

    def action_leave(self) -> None:
        """Back to where one came from, or out."""
        if len(self.app.screen_stack) > 2:  # noqa: PLR2004 - the blank screen and the first lie below
            self.dismiss()
        else:
            self.app.exit(0)


def hint(words: Words, *actions: tuple[str, str]) -> Text:
    """Keys and what they do; each can be clicked."""
    parts = []
    for key, action in actions:
        part = Text.assemble((key_name(key, words), "bold"), " ", words(f"hint.{action}"))
        part.apply_meta({"@click": f"screen.{action}"})
        parts.append(part)
    return Text("  ", no_wrap=True, overflow="ellipsis").join(parts)


def key_name(key: str, words: Words) -> str:
    """What is printed on it."""
    named = f"key.{key}"
    return words(named) if named in words else key
