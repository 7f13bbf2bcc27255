"""Small screens above another one: help on `?`, one line to type, or yes and no."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static

from rollbook_clients.terminal.known_game import known_game
from rollbook_replays.games.words import Words


class Help(ModalScreen[None]):
    """The keys of the screen, and the game in short; any key that closes things closes it."""

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


class AskLine(ModalScreen[str | None]):
    """One line of text; None if it is left with Escape."""

    BINDINGS: ClassVar = [("escape", "dismiss", "")]

    def __init__(self, question: str, given: str = "") -> None:
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
