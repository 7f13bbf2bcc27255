"""Who sits at a table and what is played there: what boards, menus and sentences need besides the view."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rollbook.rules.options import OptionValue
from rollbook_replays.games.words import Words
from rollbook_replays.text import Text, fitted, printable, width

SIGNS: Final = "■▲◆▼★✚"
"""A sign for each seat, so that a board can be read without colours."""


BEFORE_NAME: Final = 4
"""Cells of pointer and sign."""


def sign(seat: int) -> str:
    """The seat's sign; its number where there are more seats than signs."""
    return SIGNS[seat] if seat < len(SIGNS) else str(seat)


def seat_style(seat: int) -> str:
    """What is of a seat has its style everywhere."""
    return f"seat{seat}"


@dataclass(frozen=True, slots=True)
class Seating:
    """The seats of a match as this person sees them."""

    names: tuple[str, ...]
    """By seat; empty where nobody sits or the name is gone."""
    own: int | None
    """The seat of whoever looks, if any."""
    options: Mapping[str, OptionValue]
    """All options of the match, as the rules settled them."""
    words: Words
    """With those of the game."""
    is_over: bool = False
    """Nobody's turn comes any more, whoever's it was when the match ended."""

    def name(self, seat: int) -> str:
        """How the seat is called; a stranger's name cannot steer a terminal."""
        name = self.names[seat] if seat < len(self.names) else ""
        return printable(name) or self.words("seat.number", number=seat + 1)

    def mark(self, seat: int) -> Text:
        """Its sign in its style."""
        return Text.of((sign(seat), f"{seat_style(seat)} strong"))

    def breadth(self, least: int, most: int) -> int:
        """How many cells players take whose names are all whole, if there are not fewer or more to have."""
        widest = max((width(self.name(seat)) for seat in range(len(self.names))), default=0)
        return max(least, min(most, BEFORE_NAME + widest))

    def player(self, seat: int, wide: int, *, on_turn: bool) -> Text:
        """Pointer, sign and name, in exactly so many cells."""
        on_turn = on_turn and not self.is_over
        style = seat_style(seat) + (" strong" if on_turn else "") + (" own" if seat == self.own else "")
        name = fitted(self.name(seat), wide - BEFORE_NAME)
        return Text.of(("► " if on_turn else "  ", "strong"), self.mark(seat), " ", (name, style)).padded(wide)
