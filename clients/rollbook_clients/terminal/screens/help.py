"""Help on `?`: the keys of the screen, and the game in short."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from rollbook.rules.catalogue import current
from rollbook_clients.terminal.language import Words


class Help(ModalScreen[None]):
    """Any key that closes things closes it."""

    BINDINGS: ClassVar = [("escape,question_mark,enter,q", "dismiss", "")]

    def __init__(self, words: Words, topics: tuple[str, ...]) -> None:
        """Help on these topics."""
        super().__init__(classes="dialog")
        self._text = "\n\n".join(_flowing(words(f"help.{topic}"), topic) for topic in (*topics, "close"))

    def compose(self) -> ComposeResult:
        """One text."""
        with VerticalScroll():
            yield Static(self._text, markup=False)

    def on_click(self) -> None:
        """So does the mouse."""
        self.dismiss()


def _flowing(text: str, topic: str) -> str:
    """Rules are one paragraph below their title; keys stand in columns and stay as they are."""
    if topic not in current():
        return text
    title, _, rules = text.partition("\n")
    return f"{title}\n{' '.join(rules.split())}"
