"""Who sits at a table and what is played there: what boards, menus and sentences need besides the view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from rich.text import Text

from rollbook_clients.terminal.blocks import fitted
from rollbook_clients.terminal.language import Words
from rollbook_replays.text import printable

SIGNS: Final = "■▲◆▼★✚"
"""A sign for each seat, so that a board can be read without colours."""

COLOURS: Final = ("#ff7b72", "#79c0ff", "#7ee787", "#e3b341", "#d2a8ff", "#76e3ea")


@dataclass(frozen=True, slots=True)
class Seating:
    """The seats of a match as this person sees them."""

    names: tuple[str, ...]
    """By seat; empty where nobody sits or the name is gone."""
    own: int | None
    """The seat of whoever looks, if any."""
    options: Any
    """The options message of the match's game."""
    words: Words

    def name(self, seat: int) -> str:
        """How the seat is called; a stranger's name cannot steer a terminal."""
        name = self.names[seat] if seat < len(self.names) else ""
        return printable(name) or self.words("seat.number", number=seat + 1)

    def mark(self, seat: int) -> Text:
        """Its sign in its colour."""
        return Text(SIGNS[seat], f"bold {COLOURS[seat]}")

    def player(self, seat: int, wide: int, *, on_turn: bool) -> Text:
        """Pointer, sign and name, in exactly so many cells; the own name is underlined."""
        style = f"bold {COLOURS[seat]}" if on_turn else COLOURS[seat]
        name = fitted(self.name(seat), wide - 4).rstrip()
        line = Text.assemble(("► " if on_turn else "  ", "bold"), self.mark(seat), " ")
        line.append(name, f"{style} underline" if seat == self.own else style)
        line.append(" " * (wide - line.cell_len))
        return line
