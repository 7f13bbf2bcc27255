"""Small dialogues: one line to type, or yes and no."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static

from rollbook_replays.games.words import Words


class AskLine(ModalScreen[str | None]):
    """One line of text; None if it is left with Escape."""

    BINDINGS: ClassVar = [("escape", "dismiss", "")]

    def __init__(self, question: str, given: str = "") -> None:
        """Ask this, with an answer to begin with."""
        super().__init__(classes="dialog")
        self._question = question
        self._given = given

    def compose(self) -> ComposeResult:
        """The question and the line."""
        with Vertical():
            yield Static(self._question, markup=False)
            yield Input(self._given)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer."""
        self.dismiss(event.value)


class AskWhether(ModalScreen[bool]):
    """Yes or no; no if it is left with Escape."""

    BINDINGS: ClassVar = [("escape", "no", "")]

    def __init__(self, question: str, words: Words) -> None:
        """Ask this."""
        super().__init__(classes="dialog")
        self._question = question
        self._words = words

    def compose(self) -> ComposeResult:
        """The question and both answers, no first."""
        with Vertical():
            yield Static(self._question, markup=False)
            yield OptionList(self._words("no"), self._words("yes"))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Answer."""
        self.dismiss(event.option_index == 1)

    def action_no(self) -> None:
        """Leave it."""
        self.dismiss(result=False)
