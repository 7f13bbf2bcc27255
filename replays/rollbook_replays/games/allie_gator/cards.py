"""The cards of Allie Gator by name and by sign."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rollbook.rules.allie_gator.moves import GIFT, RAISE, REVERSE, SPECIALS, STEAL, Card
from rollbook_replays.games.words import Words

SIGNS: Final = {REVERSE: "⇄", STEAL: "⇐", RAISE: "⇑", GIFT: "♥"}


def card_name(card: Card, words: Words) -> str:
    """Its number, or what it is called."""
    return words(f"special.{SPECIALS[card]}") if card in SPECIALS else str(card)


def card_names(cards: Iterable[Card], words: Words) -> str:
    """One after the other."""
    return " ".join(card_name(card, words) for card in cards)


def card_style(card: Card) -> str:
    """That of a number card or of a special card."""
    return "special" if card in SPECIALS else "card"
