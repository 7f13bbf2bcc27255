"""A menu of choices, for keyboard and mouse."""

from typing import Any, ClassVar, Final

from rich.cells import cell_len
from rich.text import Text
from textual.binding import Binding
from textual.events import Key
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from rollbook_replays.games.presentation import MenuEntry
from rollbook_replays.games.words import Words

KEYS: Final = "123456789"
MARGIN: Final = 3
"""Columns of the list beside its lines: padding and scroll bar."""


class Menu(OptionList):
    """Numbered entries; an entry with several steps opens a submenu, and Backspace goes back."""

    BINDINGS: ClassVar = [Binding("backspace", "back", show=False)]

    class Chosen(Message):
        """The user has selected a choice."""

        def __init__(self, choice: Any, label: str = "") -> None:
            super().__init__()
            self.choice = choice
            self.label = label

    class Considered(Message):
        """The cursor is on a choice, or pieces are picked for one; the user has not chosen yet."""

        def __init__(
            self,
            choice: Any = None,
            picked: frozenset[int] = frozenset(),
            about: str = "",
            note: str = "",
            pieces: tuple[int, ...] = (),
        ) -> None:
            """`note` is the entry's note if its line has no room for it, else empty."""
            super().__init__()
            self.choice = choice
            self.picked = picked
            self.note = note
            self.pieces = pieces
            self.about = about

    class Scrolled(Message):
        """The visible part of the list has changed."""

    def __init__(self, words: Words) -> None:
        super().__init__(id="menu")
        self._words = words
        self._levels: list[tuple[MenuEntry, ...]] = []
        self._lit: int | None = None

    def offer(self, entries: tuple[MenuEntry, ...]) -> None:
        """Replace all entries by these."""
        self._levels = [entries] if entries else []
        self._fill()

    def _fill(self) -> None:
        self.clear_options()
        self._lit = None
        if not self._levels:
            self.post_message(self.Considered())
            return
        entries = self._levels[-1]
        self.add_options(menu_line(number, entry, self._wide) for number, entry in enumerate(entries))
        if len(self._levels) > 1:
            self.add_option(Option(Text(f"⌫ {self._words('menu.back')}", "dim")))
        self.highlighted = 0

    @property
    def _wide(self) -> int:
        """Columns of a line; 0 before the first layout."""
        return max(self.size.width - MARGIN, 0)

    def on_resize(self) -> None:
        """Show the notes that fit into the new width."""
        for number, entry in enumerate(self._levels[-1] if self._levels else ()):
            line = line_of(number, entry, self._wide, is_lit=number == self._lit)
            self.replace_option_prompt_at_index(number, line)
        self._consider()

    def watch_scroll_target_y(self) -> None:
        """Report the scrolling, because the control shows how many entries are out of sight."""
        self.post_message(self.Scrolled())

    def on_key(self, event: Key) -> None:
        """Select an entry by its number."""
        if event.character and event.character in KEYS and self._levels:
            number = KEYS.index(event.character)
            if number < len(self._levels[-1]):
                event.stop()
                self._take(number)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Mark the highlighted entry with a pointer as well as by colour, and report it."""
        event.stop()
        entries = self._levels[-1] if self._levels else ()
        for number, is_lit in ((self._lit, False), (event.option_index, True)):
            if number is not None and number < min(len(entries), self.option_count):
                line = line_of(number, entries[number], self._wide, is_lit=is_lit)
                self.replace_option_prompt_at_index(number, line)
        self._lit = event.option_index
        self._consider()

    def _consider(self) -> None:
        """Report the entry that the cursor is on."""
        if self._lit is None or not self._levels:
            return
        entries = self._levels[-1]
        entry = entries[self._lit] if self._lit < len(entries) else MenuEntry("")
        note = moved_note(entry, self._wide)
        self.post_message(self.Considered(entry.choice, about=entry.about, note=note))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Select an entry by Enter or mouse."""
        event.stop()
        self._take(event.option_index)

    def point(self, spot: str) -> None:
        """Highlight the next entry for a clicked spot; select it if it is the only one and highlighted already."""
        entries = self._levels[-1] if self._levels else ()
        fitting = [number for number, entry in enumerate(entries) if spot in _spots(entry)]
        if not fitting:
            return
        if fitting == [self.highlighted]:
            self._take(fitting[0])
        else:
            self.highlighted = next((number for number in fitting if number > (self._lit or 0)), fitting[0])

    def action_back(self) -> None:
        """Go back to the previous menu."""
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
            self.post_message(self.Chosen(entry.choice, entry.label))
        elif entry.entries:
            self._levels.append(entry.entries)
            self._fill()


def moved_note(entry: MenuEntry, wide: int) -> str:
    """The note of an entry if its line has no room for it; empty otherwise."""
    return entry.note if line_of(0, entry).cell_len > wide else ""


def _spots(entry: MenuEntry) -> set[str]:
    """The spots of the board that an entry or its submenus act on."""
    return {*entry.spots, *(spot for behind in entry.entries for spot in _spots(behind))}


def menu_line(number: int, entry: MenuEntry, wide: int) -> Option:
    """The list's option for an entry."""
    return Option(line_of(number, entry, wide), disabled=entry.choice is None and not entry.entries)


def line_of(number: int, entry: MenuEntry, wide: int = 0, *, is_lit: bool = False) -> Text:
    """Key, label and note, with a pointer if `is_lit`; a note that does not fit is left out as a whole."""
    key = KEYS[number] if number < len(KEYS) else " "
    more = " …" if entry.entries else ""
    line = Text.assemble("›" if is_lit else " ", (f"{key} ", "bold"), entry.label, more, no_wrap=True)
    line.overflow = "ellipsis"
    note = f"  {entry.note}" if entry.note else ""
    if not wide or line.cell_len + cell_len(note) <= wide:
        line.append(note, "dim")
    return line
