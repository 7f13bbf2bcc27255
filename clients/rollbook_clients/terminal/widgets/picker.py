"""Picks the pieces that a choice is put together from, and says at every moment what they would do."""

from collections.abc import Mapping
from operator import attrgetter
from string import ascii_letters
from typing import Final

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Click, Key
from textual.message import Message
from textual.widgets import OptionList, Static

from rollbook_clients.terminal.widgets.menu import KEYS, Menu, menu_line, moved_note
from rollbook_replays.games.presentation import MenuEntry, Picking, Piece
from rollbook_replays.games.words import Words
from rollbook_replays.renderers import as_rich
from rollbook_replays.text import Text as Drawn

PIECE: Final = "piece"
"""Marks the cells of a piece with its number. An action there would make it a link, in colours of its own."""


class Pieces(Static):
    """The pieces of a picker, which can be clicked."""

    class Clicked(Message):
        """A piece was clicked."""

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    def on_click(self, event: Click) -> None:
        """Say which piece lies there."""
        if PIECE in event.style.meta:
            self.post_message(self.Clicked(event.style.meta[PIECE]))


class Picker(Vertical, can_focus=True):
    """The pieces, each with a letter, and below them what can be done with those that are picked."""

    def __init__(self, words: Words) -> None:
        super().__init__(id="picker")
        self._words = words
        self._picking: Picking | None = None
        self._palette: Mapping[str, str] = {}
        self._picked: set[int] = set()
        """The names of the picked pieces."""
        self._shown = Pieces(id="pieces")
        self._actions = OptionList(id="actions")
        self._actions.can_focus = False
        self._room = 0

    def compose(self) -> ComposeResult:
        """Pieces above, actions below."""
        yield self._shown
        yield self._actions

    def point(self, spot: str) -> None:
        """Somebody clicked there on the board: pick the piece that lies there."""
        for number, piece in enumerate(self._picking.pieces if self._picking is not None else ()):
            if str(piece.name) == spot:
                self._pick(number)

    def share(self, rows: int) -> None:
        """Take so many rows together with the notes below."""
        if rows != self._room:
            self._room = rows
            self._draw()

    @property
    def rows(self) -> int:
        """How many lines it takes."""
        return self._shown.size.height + self._actions.option_count

    def offer(self, picking: Picking, palette: Mapping[str, str]) -> None:
        """Offer these pieces, none picked."""
        self._picking = picking
        self._palette = palette
        self._picked = set()
        self._draw()

    def on_key(self, event: Key) -> None:
        """Letters pick pieces, numbers and Enter act."""
        if self._picking is None:
            return
        key = event.character or ""
        if key and key in ascii_letters[: len(self._picking.pieces)]:
            event.stop()
            self._pick(ascii_letters.index(key))
        elif event.key == "enter" or (key and key in KEYS):
            event.stop()
            self._act(0 if event.key == "enter" else KEYS.index(key))

    def on_resize(self) -> None:
        """Lay the pieces out anew."""
        self._draw()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """The mouse acts as well."""
        event.stop()
        self._act(event.option_index)

    def on_pieces_clicked(self, event: Pieces.Clicked) -> None:
        """The mouse picks as well."""
        event.stop()
        self._pick(event.number)

    def _pick(self, number: int) -> None:
        """Pick a piece, or leave it again."""
        if self._picking is not None and number < len(self._picking.pieces):
            self._picked ^= {self._picking.pieces[number].name}
            self._draw()

    def _act(self, number: int) -> None:
        """Choose, or pick everything or nothing, which is the last line."""
        if self._picking is None:
            return
        entries = self._picking.entries(self._picked)
        if number == len(entries):
            every = {piece.name for piece in self._picking.pieces}
            self._picked = set() if self._picked == every else every
        elif number < len(entries) and entries[number].choice is not None:
            self._picking = None
            self.post_message(Menu.Considered())
            self.post_message(Menu.Chosen(entries[number].choice, entries[number].label))
        self._draw()

    def _draw(self) -> None:
        if self._picking is None or not self.size.width:
            return
        entries = self._picking.entries(self._picked)
        wide = self.size.width - 2
        forms = [
            _flowing([self._chip(number, form(piece)) for number, piece in enumerate(self._picking.pieces)], wide)
            for form in (attrgetter("text"), attrgetter("short"), _shortest)
        ]
        # Why the first cannot be done comes first, if its line has no room for that.
        note = moved_note(entries[0], wide - 1)
        possible = next((entry for entry in entries if entry.choice is not None), entries[0])
        room = self._room - len(entries) - 1 - len(Text(note).wrap(self.app.console, wide))
        self._shown.update(next((form for form in forms if len(form.split()) <= room), forms[-1]))
        about = entries[0].about or possible.about
        pieces = tuple(piece.name for piece in self._picking.pieces)
        self.post_message(Menu.Considered(picked=frozenset(self._picked), about=about, note=note, pieces=pieces))
        lines = [menu_line(number, entry, wide - 1) for number, entry in enumerate(entries)]
        every = menu_line(len(entries), MenuEntry(self._words("picking.all")), 0)
        every.disabled = False
        self._actions.clear_options()
        self._actions.add_options([*lines, every])

    def _chip(self, number: int, shown: Drawn) -> Text:
        assert self._picking is not None  # noqa: S101 - only drawn while something is offered
        piece = self._picking.pieces[number]
        is_picked = piece.name in self._picked
        text = as_rich([shown], self._palette)
        chip = Text.assemble("[" if is_picked else " ", text, "]" if is_picked else " ")
        chip.stylize(text.spans[0].style if text.spans else "")
        if is_picked:
            chip.stylize("reverse")
        letter = ascii_letters[number] if number < len(ascii_letters) else " "
        chip = Text.assemble((letter, "bold"), chip)
        chip.stylize(Style(meta={PIECE: number}))
        return chip


def _shortest(piece: Piece) -> Drawn:
    """The first cell, in its style."""
    return Drawn.of(*((part[:1], style) for part, style in piece.short.spans[:1]))


def _flowing(chips: list[Text], wide: int) -> Text:
    """The chips in as many lines as they take."""
    lines = [Text()]
    for chip in chips:
        if lines[-1] and lines[-1].cell_len + 1 + chip.cell_len > wide:
            lines.append(Text())
        if lines[-1]:
            lines[-1].append(" ")
        lines[-1].append_text(chip)
    return Text("\n", no_wrap=True, overflow="crop").join(lines)
