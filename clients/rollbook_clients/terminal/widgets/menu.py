"""A menu of choices, for keys and for the mouse."""

from typing import Any, ClassVar, Final

from rich.text import Text
from textual.binding import Binding
from textual.events import Key
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from rollbook_replays.games.presentation import MenuEntry
from rollbook_replays.games.words import Words

KEYS: Final = "123456789"


class Menu(OptionList):
    """Entries, each with its number; one of several steps leads to the next menu, and Backspace back."""

    BINDINGS: ClassVar = [Binding("backspace", "back", show=False)]

    class Chosen(Message):
        """Somebody has chosen."""

        def __init__(self, choice: Any) -> None:
            super().__init__()
            self.choice = choice

    def __init__(self, words: Words) -> None:
        super().__init__(id="menu")
        self._words = words
        self._levels: list[tuple[MenuEntry, ...]] = []

    def offer(self, entries: tuple[MenuEntry, ...]) -> None:
        """Offer these, and nothing else."""
        self._levels = [entries] if entries else []
        self._fill()

    def _fill(self) -> None:
        self.clear_options()
        if not self._levels:
            return
        entries = self._levels[-1]
        self.add_options(menu_line(number, entry) for number, entry in enumerate(entries))
        if len(self._levels) > 1:
            self.add_option(Option(Text(f"⌫ {self._words('menu.back')}", "dim")))
        self.highlighted = 0

    def on_key(self, event: Key) -> None:
        """Choose by number."""
        if event.character and event.character in KEYS and self._levels:
            number = KEYS.index(event.character)
            if number < len(self._levels[-1]):
                event.stop()
                self._take(number)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Choose by Enter or by the mouse."""
        event.stop()
        self._take(event.option_index)

    def action_back(self) -> None:
        """One menu back."""
        if len(self._levels) > 1:
            self._levels.pop()
            self._fill()

    def _take(self, number: int) -> None:
        if not self._levels:
            return
        if number == len(self._levels[-1]):
            self.action_back()
            return
        entry = self._levels[-1][number]
        if entry.choice is not None:
            self.offer(())
            self.post_message(self.Chosen(entry.choice))
        elif entry.entries:
            self._levels.append(entry.entries)
            self._fill()


def menu_line(number: int, entry: MenuEntry) -> Option:
    """The entry behind its key."""
    key = KEYS[number] if number < len(KEYS) else " "
    line = Text.assemble((f"{key} ", "bold"), entry.label, " …" if entry.entries else "", no_wrap=True)
    line.overflow = "ellipsis"
    if entry.note:
        line.append(f"  {entry.note}", "dim")
    return Option(line, disabled=entry.choice is None and not entry.entries)
