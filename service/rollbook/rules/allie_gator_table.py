"""The table of Allie Gator: its cards, the moves that are made with them, and the state of a match.

The stock has no order: a card is drawn by chance when it is drawn. Cards are numbers, so that folds are fast; a special
card is any number above the highest number card.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NewType, TypeAlias, cast

from rollbook.rules.chance import FirstSeat
from rollbook.rules.game import Words
from rollbook.rules.options import Options

# Components

Card = NewType("Card", Annotated[int, Words({71: "reverse", 72: "steal", 73: "raise", 74: "gift"})])
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

# Moves


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

# State

FIRST_SEAT, LAY_TARGETS, DEAL, CHOOSE, STEALING, REPLACE, NEW_TARGET, REFILL, FINISHED = range(9)
CLOCKWISE, COUNTERCLOCKWISE = 1, -1


@dataclass(slots=True)
class State:
    """A match of Allie Gator; hands and stock are sorted, everything else lies in the order in which it came."""

    teeth_to_end: int
    stage: int
    round: int
    starter: int
    """The starting seat of the round."""
    seat: int
    """Whose turn it is."""
    direction: int
    chip: int
    """The pile at which the chip lies."""
    targets: list[list[Card]]
    """Per pile: its targets, the one that counts last."""
    laid: list[list[Card]]
    """Per pile: the cards below its target, the top one last."""
    hands: list[list[Card]]
    penalties: list[list[Card]]
    teeth: list[int]
    stock: list[Card]
    pile: int
    """The pile that awaits its target, while one is drawn."""
    served: int
    """The seat that draws, or is robbed, while that is awaited."""
    count: int
    """How many cards are drawn, while a draw is awaited."""


def begin(options: Options, seats: int) -> State:
    """All cards in the stock, before the starting seat is drawn."""
    return State(
        teeth_to_end=cast("int", options["teeth_to_end"]),
        stage=FIRST_SEAT,
        round=1,
        starter=0,
        seat=0,
        direction=CLOCKWISE,
        chip=0,
        targets=[[] for _ in PILES],
        laid=[[] for _ in PILES],
        hands=[[] for _ in range(seats)],
        penalties=[[] for _ in range(seats)],
        teeth=[0] * seats,
        stock=list(DECK),
        pile=0,
        served=0,
        count=0,
    )


def copy(state: State) -> State:
    """A state of its own, equal to this one."""
    return State(
        state.teeth_to_end,
        state.stage,
        state.round,
        state.starter,
        state.seat,
        state.direction,
        state.chip,
        [targets.copy() for targets in state.targets],
        [laid.copy() for laid in state.laid],
        [hand.copy() for hand in state.hands],
        [penalties.copy() for penalties in state.penalties],
        state.teeth.copy(),
        state.stock.copy(),
        state.pile,
        state.served,
        state.count,
    )


def numbers_of(ascending: list[Card]) -> list[Card]:
    """The number cards; they come before the special ones."""
    return ascending[: bisect_right(ascending, HIGHEST_NUMBER)]


def has_number(ascending: list[Card]) -> bool:
    """Whether there is a number card among them."""
    return bool(ascending) and ascending[0] <= HIGHEST_NUMBER


def specials_among(cards: Sequence[Card]) -> int:
    """How many of them are special cards."""
    return sum(card > HIGHEST_NUMBER for card in cards)
