"""The players, options and texts of a match, which boards, menus and sentences need in addition to the view."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rollbook.rules.options import OptionValue
from rollbook_replays.games.words import Words
from rollbook_replays.text import Text, fit, printable, width

SIGNS: Final = "■▲◆▼★✚"
"""A sign for each seat, so that a board can be read without colours."""

STRENGTHS: Final = range(1, 4)
"""The strengths of bots: weak, medium, strong."""

BEFORE_NAME: Final = 4
"""Cells for the pointer and the sign before a name."""


def sign(seat: int) -> str:
    """The sign of the seat; its number if there are more seats than signs."""
    return SIGNS[seat] if seat < len(SIGNS) else str(seat)


def seat_style(seat: int) -> str:
    """The name of the style for everything that belongs to the seat."""
    return f"seat{seat}"


@dataclass(frozen=True, slots=True)
class Seating:
    """The seats of a match for one reader."""

    names: tuple[str, ...]
    """By seat; empty for a free seat or a removed name."""
    own: int | None
    """The seat of the reader; None for a spectator."""
    options: Mapping[str, OptionValue]
    """All options of the match, as the rules settled them."""
    words: Words
    """The texts, including those of the game."""
    is_over: bool = False
    """Whether the match has ended, so that no seat is marked as on turn."""
    bots: tuple[str, ...] = ()
    """By seat: the words that mark a bot, such as "bot, strong"; empty for a person."""

    def name(self, seat: int) -> str:
        """The name of the seat, or its number; control characters in a name are replaced."""
        name = self.names[seat] if seat < len(self.names) else ""
        return printable(name) or self.words("seat.number", number=seat + 1)

    def labelled(self, seat: int) -> str:
        """The name, followed by the mark of a bot in brackets, which no person can choose."""
        bot = self.bots[seat] if seat < len(self.bots) else ""
        return f"{self.name(seat)} ({bot})" if bot else self.name(seat)

    def mark(self, seat: int) -> Text:
        """The sign of the seat in its style."""
        return Text.of((sign(seat), f"{seat_style(seat)} strong"))

    def breadth(self, least: int, most: int) -> int:
        """The cells that a player with the longest name needs, limited to the range from `least` to `most`."""
        widest = max((width(self.labelled(seat)) for seat in range(len(self.names))), default=0)
        return max(least, min(most, BEFORE_NAME + widest))

    def player(self, seat: int, wide: int, *, on_turn: bool) -> Text:
        """Pointer, sign and name in exactly `wide` cells."""
        on_turn = on_turn and not self.is_over
        style = seat_style(seat) + (" strong" if on_turn else "") + (" own" if seat == self.own else "")
        name = fit(self.labelled(seat), wide - BEFORE_NAME)
        return Text.of(("► " if on_turn else "  ", "strong"), self.mark(seat), " ", (name, style)).pad(wide)


def strength_mark(strength: int, words: Words) -> str:
    """The words that mark a bot of this strength, 1 to 3; any other number means that it is unknown.

    >>> strength_mark(3, Words("en")), strength_mark(0, Words("en"))
    ('bot, strong', 'bot')
    """
    known = strength if strength in STRENGTHS else 0
    return words(f"bot.{known}")
