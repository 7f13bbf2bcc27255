"""Picks the pieces that form a choice, and shows at every step what the picked pieces would do."""

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
"""Key of the metadata that marks a piece's cells with its number. A click action would be drawn like a link."""


class Pieces(Static):
    """The pieces of a picker, which can be clicked."""

    class Clicked(Message):
        """A piece was clicked."""

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    def on_click(self, event: Click) -> None:
        """Report the clicked piece."""
        if PIECE in event.style.meta:
            self.post_message(self.Clicked(event.style.meta[PIECE]))


class Picker(Vertical, can_focus=True):
    """The pieces, each with a letter, and below them the actions for the picked ones."""

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
        """Yield the pieces, and below them the actions."""
        yield self._shown
        yield self._actions

    def point(self, spot: str) -> None:
        """Pick the piece at the clicked spot of the board."""
        for number, piece in enumerate(self._picking.pieces if self._picking is not None else ()):
            if str(piece.name) == spot:
                self._pick(number)

    def share(self, rows: int) -> None:
        """Limit pieces, actions and the note below them to this many rows."""
        if rows != self._room:
            self._room = rows
            self._draw()

    @property
    def rows(self) -> int:
        """Number of rows that pieces and actions take."""
        return self._shown.size.height + self._actions.option_count

    def offer(self, picking: Picking, palette: Mapping[str, str]) -> None:
        """Offer these pieces, with none picked."""
        self._picking = picking
        self._palette = palette
        self._picked = set()
        self._draw()

    def on_key(self, event: Key) -> None:
        """Letters pick pieces; numbers and Enter select an action."""
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
        """Draw the pieces for the new width."""
        self._draw()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Select an action by mouse."""
        event.stop()
        self._act(event.option_index)

    def on_pieces_clicked(self, event: Pieces.Clicked) -> None:
        """Pick a piece by mouse."""
        event.stop()
        self._pick(event.number)

    def _pick(self, number: int) -> None:
        """Pick a piece, or put it back if it is picked."""
        if self._picking is not None and number < len(self._picking.pieces):
            self._picked ^= {self._picking.pieces[number].name}
            self._draw()

    def _act(self, number: int) -> None:
        """Choose by an action's number; the number after the last action picks all pieces or none."""
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
        # The note of the first action has priority: it may be the reason why the action is impossible.
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
        assert self._picking is not None  # noqa: S101 - drawn only while pieces are offered
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
    """The first cell of a piece's short form, in its style."""
    return Drawn.of(*((part[:1], style) for part, style in piece.short.spans[:1]))


def _flowing(chips: list[Text], wide: int) -> Text:
    """The chips, wrapped to lines of `wide` cells."""
    lines = [Text()]
    for chip in chips:
        if lines[-1] and lines[-1].cell_len + 1 + chip.cell_len > wide:
            lines.append(Text())
        if lines[-1]:
            lines[-1].append(" ")
        lines[-1].append_text(chip)
    return Text("\n", no_wrap=True, overflow="crop").join(lines)
