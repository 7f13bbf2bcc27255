"""Small screens above another one: help on `?`, one line to type, or yes and no."""

from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static

from rollbook_clients.terminal.known_game import known_game
from rollbook_replays.games.guide import guide
from rollbook_replays.games.words import Words
from rollbook_replays.renderers import as_rich

WIDE: Final = 74
"""Columns inside a dialogue, beside its scroll bar."""


class Help(ModalScreen[None]):
    """The keys of the screen, and all rules of the game; any key that closes things closes it."""

    BINDINGS: ClassVar = [("escape,question_mark,enter,q", "dismiss", "")]

    def __init__(self, words: Words, topic: str, game: str = "") -> None:
        """Help on this topic, and on this game if there is one."""
        super().__init__(classes="dialog")
        self._text = Text("\n\n").join(
            part for part in (Text(words(f"help.{topic}")), rules_of(game, words), Text(words("help.close"))) if part
        )

    def compose(self) -> ComposeResult:
        """One text."""
        with VerticalScroll():
            yield Static(self._text, markup=False)

    def on_click(self) -> None:
        """So does the mouse."""
        self.dismiss()


def rules_of(game: str, words: Words) -> Text:
    """The game in one paragraph below its title, and then at length."""
    known = known_game(game) if game else None
    if known is None:
        return Text()
    said = words.also(known.shown.texts)
    parts = [Text(known.rules.title.upper(), "bold")]
    if "help" in said:
        parts.append(Text(" ".join(said("help").split())))
    if rules := guide(known.shown, words.language, WIDE):
        parts += [Text(), as_rich(rules, {}, wraps=True)]
    return Text("\n").join(parts)


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

    def __init__(self, question: str, words: Words, *, yes: str = "", no: str = "") -> None:
        """Ask, with other words for yes and no where there are any."""
        super().__init__(classes="dialog")
        self._question = question
        self._answers = (no or words("no"), yes or words("yes"))

    def compose(self) -> ComposeResult:
        """The question and both answers, no first."""
        with Vertical():
            yield Static(self._question, markup=False)
            yield OptionList(*self._answers)

    def on_mount(self) -> None:
        """As high as its answers."""
        self.query_one(OptionList).styles.height = "auto"

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Answer."""
        self.dismiss(event.option_index == 1)

    def action_no(self) -> None:
        """Leave it."""
        self.dismiss(result=False)
