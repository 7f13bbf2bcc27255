"""The moves of Allie Gator, and the cards and piles that they are made with.

Cards are numbers, so that folds are fast; a special card is any number above the highest number card.
"""

from dataclasses import dataclass
from typing import Annotated, NewType, TypeAlias

from rollbook.rules.chance import FirstSeat
from rollbook.rules.game import NumberWords

# Components

NAME = "allie_gator"
SEATS = range(2, 6)

Card = NewType("Card", Annotated[int, NumberWords({71: "reverse", 72: "steal", 73: "raise", 74: "gift"})])
"""A number card by its number, or one of the special cards below; cards of one special kind are alike."""

REVERSE, STEAL, RAISE, GIFT = map(Card, range(71, 75))
SPECIALS = {REVERSE: "reverse", STEAL: "steal", RAISE: "raise", GIFT: "gift"}
COPIES = {REVERSE: 6, STEAL: 5, RAISE: 4, GIFT: 3}
NUMBERS = tuple(map(Card, range(1, 71)))
HIGHEST_NUMBER = NUMBERS[-1]
DECK = (*NUMBERS, *(special for special, copies in COPIES.items() for _ in range(copies)))
"""All the cards in their canonical order, which is ascending."""

PILES = (0, 1)
HAND = 5
MOST_TEETH = 6

# Choices


@dataclass(frozen=True, slots=True)
class Number:
    """Choice: lay a number card onto a pile."""

    card: Card
    pile: int


@dataclass(frozen=True, slots=True)
class Reverse:
    """Choice: turn the order of play round."""


@dataclass(frozen=True, slots=True)
class Steal:
    """Choice: take a card from another hand; without a target only where no other seat has a card."""

    target: int | None = None


@dataclass(frozen=True, slots=True)
class Raise:
    """Choice: cover a pile's target with a higher number card of the hand."""

    card: Card
    pile: int


@dataclass(frozen=True, slots=True)
class Gift:
    """Choice: give a pile's top card to another seat as a penalty card; with neither named, without an effect."""

    pile: int | None = None
    target: int | None = None


@dataclass(frozen=True, slots=True)
class Snap:
    """Choice: take everything at the chip; the card becomes the new target where the hand has to give one."""

    card: Card | None = None


# Outcomes


@dataclass(frozen=True, slots=True)
class Target:
    """Outcome: the number card that becomes the target of a pile."""

    pile: int
    card: Card


@dataclass(frozen=True, slots=True)
class Drawn:
    """Outcome: cards from the stock for a seat's hand, in the order drawn; None for what the viewer may not see."""

    seat: int
    cards: tuple[Card | None, ...]


@dataclass(frozen=True, slots=True)
class Stolen:
    """Outcome: the card that a steal takes out of the robbed hand; None where the viewer may not see it."""

    card: Card | None


Choice: TypeAlias = Number | Reverse | Steal | Raise | Gift | Snap
Outcome: TypeAlias = FirstSeat | Target | Drawn | Stolen
CHOICES: dict[str, type[Choice]] = {
    "number": Number,
    "reverse": Reverse,
    "steal": Steal,
    "raise": Raise,
    "gift": Gift,
    "snap": Snap,
}
OUTCOMES: dict[str, type[Outcome]] = {"first_seat": FirstSeat, "target": Target, "draw": Drawn, "steal": Stolen}
VOCABULARY: tuple[type, ...] = (*CHOICES.values(), *OUTCOMES.values())
