"""Modal screens: help, a line of input, and yes or no."""

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
"""Columns inside a dialogue, without its scroll bar."""


class Help(ModalScreen[None]):
    """The keys of the screen and all rules of the game; every key that closes a dialogue closes it."""

    BINDINGS: ClassVar = [("escape,question_mark,enter,q", "dismiss", "")]

    def __init__(self, words: Words, topic: str, game: str = "") -> None:
        """Help on this topic, and on this game if one is given."""
        super().__init__(classes="dialog")
        self._text = Text("\n\n").join(
            part for part in (Text(words(f"help.{topic}")), rules_of(game, words), Text(words("help.close"))) if part
        )

    def compose(self) -> ComposeResult:
        """Yield the text in a scrolling container."""
        with VerticalScroll():
            yield Static(self._text, markup=False)

    def on_click(self) -> None:
        """Close the help."""
        self.dismiss()


def rules_of(game: str, words: Words) -> Text:
    """The rules of a game: title, one paragraph, then the full rules. Empty if the game is unknown."""
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
    """Asks for a line of text; returns None after Escape."""

    BINDINGS: ClassVar = [("escape", "dismiss", "")]

    def __init__(self, question: str, given: str = "") -> None:
        super().__init__(classes="dialog")
        self._question = question
        self._given = given

    def compose(self) -> ComposeResult:
        """Yield the question and the input."""
        with Vertical():
            yield Static(self._question, markup=False)
            yield Input(self._given)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Return the text."""
        self.dismiss(event.value)


class AskWhether(ModalScreen[bool]):
    """Asks for yes or no; returns False after Escape."""

    BINDINGS: ClassVar = [("escape", "no", "")]

    def __init__(self, question: str, words: Words, *, yes: str = "", no: str = "") -> None:
        """`yes` and `no` replace the usual labels of the answers."""
        super().__init__(classes="dialog")
        self._question = question
        self._answers = (no or words("no"), yes or words("yes"))

    def compose(self) -> ComposeResult:
        """Yield the question and both answers, no first."""
        with Vertical():
            yield Static(self._question, markup=False)
            yield OptionList(*self._answers)

    def on_mount(self) -> None:
        """Fit the list's height to its answers."""
        self.query_one(OptionList).styles.height = "auto"

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Return the answer."""
        self.dismiss(event.option_index == 1)

    def action_no(self) -> None:
        """Return False."""
        self.dismiss(result=False)
