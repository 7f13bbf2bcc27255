"""Help on `?`: the keys of the screen, and the game in short."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from rollbook_clients.terminal.known_game import known_game
from rollbook_replays.games.words import Words


class Help(ModalScreen[None]):
    """Any key that closes things closes it."""

    BINDINGS: ClassVar = [("escape,question_mark,enter,q", "dismiss", "")]

    def __init__(self, words: Words, topic: str, game: str = "") -> None:
        """Help on this topic, and on this game if there is one."""
        super().__init__(classes="dialog")
        parts = (words(f"help.{topic}"), _rules_of(game, words), words("help.close"))
        self._text = "\n\n".join(part for part in parts if part)

    def compose(self) -> ComposeResult:
        """One text."""
        with VerticalScroll():
            yield Static(self._text, markup=False)

    def on_click(self) -> None:
        """So does the mouse."""
        self.dismiss()


def _rules_of(game: str, words: Words) -> str:
    """The game in one paragraph below its title."""
    known = known_game(game) if game else None
    said = None if known is None else words.also(known.shown.texts)
    if known is None or said is None or "help" not in said:
        return ""
    return f"{known.rules.title.upper()}\n{' '.join(said('help').split())}"
