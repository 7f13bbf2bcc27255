"""Questions about cards that lie in ascending order, or in any."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from rollbook.rules.allie_gator.moves import HIGHEST_NUMBER, Card


def numbers_of(ascending: list[Card]) -> list[Card]:
    """The number cards; they come before the special ones."""
    return ascending[: bisect_right(ascending, HIGHEST_NUMBER)]


def has_number(ascending: list[Card]) -> bool:
    """Whether there is a number card among them."""
    return bool(ascending) and ascending[0] <= HIGHEST_NUMBER


def specials_among(cards: Sequence[Card]) -> int:
    """How many of them are special cards."""
    return sum(card > HIGHEST_NUMBER for card in cards)


def index_of(ascending: list[Card], card: object) -> int | None:
    """Where the card is among them, None if it is not."""
    if type(card) is not int:
        return None
    index = bisect_left(ascending, card)
    return index if index < len(ascending) and ascending[index] == card else None
