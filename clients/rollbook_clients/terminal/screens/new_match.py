"""The form for a new match: one line per setting, with the values that are allowed."""

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from rollbook.rules.catalogue import current
from rollbook.rules.options import Option as GameOption
from rollbook.rules.options import OptionValue
from rollbook.rules.refusals import RefusedByRules
from rollbook.v1.match_pb2 import OpenMatchRequest
from rollbook_clients.sdk.options import options_of
from rollbook_clients.terminal.clocks import clock_name, delay_name
from rollbook_clients.terminal.screens.dialogues import Help
from rollbook_replays.games import presentation
from rollbook_replays.games.presentation import option_name, option_value
from rollbook_replays.games.words import Words

SHARED_LINES: Final = ("game", "seats", "turn", "delay", "private")
"""The settings that every game has."""
TURN_SECONDS: Final = (0, 30, 60, 120, 300, 3_600, 86_400, 259_200)
DELAY_SECONDS: Final = (0, 10, 30, 60, 300)
ROUND_NUMBERS: Final = (0, 10, 20, 30, 50, 100)
"""Values offered for an option whose values are a range of numbers, which may have hundreds."""


class NewMatch(ModalScreen[OpenMatchRequest | None]):
    """Up and down select a line, left and right change its value; Enter opens the match."""

    BINDINGS: ClassVar = [
        ("escape", "dismiss", ""),
        ("question_mark", "help", ""),
        ("left", "change(-1)", ""),
        ("right", "change(1)", ""),
        # With priority over the list, which would treat Enter as a click on its line.
        Binding("enter", "open", show=False, priority=True),
    ]

    def __init__(self, words: Words) -> None:
        """Start with the game that needs the fewest seats, and the default values."""
        super().__init__(classes="dialog")
        self._words = words
        fewest = min(current(), key=lambda name: (current()[name].seats[0], current()[name].seats[-1]))
        self._wished: dict[str, Any] = {"game": fewest}
        """The selected values. If a game does not allow one, `_agreed` holds the first allowed one instead."""
        self._agreed: dict[str, Any] = {}
        self._lines: list[tuple[str, Sequence[Any]]] = []
        self._list = OptionList()
        self._wrong = Static(markup=False)
        self._hints = Static(Text(words("opening.keys"), "dim"), markup=False)

    def compose(self) -> ComposeResult:
        """Yield the lines, the reason why the settings are invalid, and the keys."""
        with Vertical():
            yield Static(Text(self._words("opening.title"), "bold"))
            yield self._list
            yield self._wrong
            yield self._hints

    def on_mount(self) -> None:
        """Show the lines, with the cursor on the line that opens the match."""
        self._list.styles.height = "auto"
        self._show(keep=False)

    def _show(self, *, keep: bool = True) -> None:
        game = current()[self._wished["game"]]
        self._lines = [("game", tuple(current())), ("seats", tuple(game.seats))]
        self._lines += [(option.name, _values(option)) for option in game.options]
        self._lines += [("turn", TURN_SECONDS), ("delay", DELAY_SECONDS), ("private", (False, True))]
        wished = self._wished
        self._agreed = {name: wished[name] if wished.get(name) in values else values[0] for name, values in self._lines}
        at = self._list.highlighted if keep else None
        self._list.clear_options()
        self._list.add_options([*(self._line(name) for name, _ in self._lines), Option(self._words("opening.open"))])
        self._list.highlighted = len(self._lines) if at is None else min(at, len(self._lines))
        self._wrong.update(self._why_not())

    def _line(self, name: str) -> Option:
        words = self._words
        value = self._agreed[name]
        label = words(f"opening.{name}") if name in SHARED_LINES else ""
        if name == "game":
            said = current()[value].title
        elif name == "turn":
            said = clock_name(value, words)
        elif name == "delay":
            said = delay_name(value, words)
        elif isinstance(value, bool):
            said = words("yes" if value else "no")
        else:
            said = str(value)
        if name not in SHARED_LINES:
            label, said = self._option(name, said)
        return Option(Text.assemble(f"{label:<40} ", ("‹ ", "dim"), (said, "bold"), (" ›", "dim")))

    def _option(self, name: str, said: str) -> tuple[str, str]:
        """The game's label for an option, and for its value."""
        game = current()[self._agreed["game"]]
        words = self._words.also(presentation(game.name).texts)
        option = next(option for option in game.options if option.name == name)
        value = self._agreed[name]
        return option_name(option, words), said if isinstance(value, bool) else option_value(option, value, words)

    def _options(self) -> dict[str, OptionValue]:
        game = current()[self._agreed["game"]]
        return {option.name: self._agreed[option.name] for option in game.options}

    def _why_not(self) -> str:
        """The rules' objection to the settings; empty if they are valid."""
        try:
            current()[self._agreed["game"]].settle(self._options(), self._agreed["seats"])
        except RefusedByRules as refused:
            return str(refused)
        return ""

    def action_help(self) -> None:
        """Show the keys, and the rules of the selected game."""
        self.app.push_screen(Help(self._words, "opening", self._agreed["game"]))

    def action_change(self, by: int) -> None:
        """Select the next value of the highlighted line (`by` 1), or the previous one (-1)."""
        at = self._list.highlighted
        if at is None or at >= len(self._lines):
            return
        name, values = self._lines[at]
        now = values.index(self._agreed[name])
        self._wished[name] = values[(now + by) % len(values)]
        self._show()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """For a click: select the next value, or open the match."""
        event.stop()
        if event.option_index < len(self._lines):
            self._list.highlighted = event.option_index
            self.action_change(1)
        else:
            self.action_open()

    def action_open(self) -> None:
        """Return the request for the match, if its settings are valid."""
        if not self._why_not():
            request = OpenMatchRequest(
                seats=self._agreed["seats"],
                turn_seconds=self._agreed["turn"],
                spectator_delay_seconds=self._agreed["delay"],
                is_private=self._agreed["private"],
            )
            request.options.CopyFrom(options_of(self._agreed["game"], self._options()))
            self.dismiss(request)


def _values(option: GameOption) -> Sequence[OptionValue]:
    return ROUND_NUMBERS if isinstance(option.values, range) else tuple(option.values)
