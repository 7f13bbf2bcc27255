"""The state of a match of Allie Gator, what its options mean, and what it awaits.

The stock has no order: a card is drawn by chance when it is drawn.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from rollbook.rules.allie_gator.moves import DECK, HIGHEST_NUMBER, PILES, SEATS, Card, Drawn, Outcome, Stolen, Target
from rollbook.rules.chance import Draw, FirstSeat, first_seat
from rollbook.rules.game import OVER, Awaited, ToChoose
from rollbook.rules.options import Option, Options

# Rulesets

OPTIONS = (Option("teeth_to_end", (3, 4, 5, 6), "teeth with which a seat ends the match; more than 3 make it longer"),)

# State

FIRST_SEAT, LAY_TARGETS, DEAL, CHOOSE, STEALING, REPLACE, NEW_TARGET, REFILL, FINISHED = range(9)
CLOCKWISE, COUNTERCLOCKWISE = 1, -1
DRAWING = frozenset({DEAL, REPLACE, REFILL})
LAYING_TARGET = frozenset({LAY_TARGETS, NEW_TARGET})
CHOOSING = frozenset({CHOOSE})


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
    """Per pile: its targets, one on top of the other; the last one is valid."""
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
    """Return an equal state that shares no list with this one."""
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


# Cards that lie in ascending order, or in any


def numbers_of(ascending: list[Card]) -> list[Card]:
    """The number cards among these cards; number cards come before special cards."""
    return ascending[: bisect_right(ascending, HIGHEST_NUMBER)]


def has_number(ascending: list[Card]) -> bool:
    """Whether there is a number card among these cards."""
    return bool(ascending) and ascending[0] <= HIGHEST_NUMBER


def specials_among(cards: Sequence[Card]) -> int:
    """How many of these cards are special cards."""
    return sum(card > HIGHEST_NUMBER for card in cards)


def index_of(ascending: list[Card], card: object) -> int | None:
    """The index of the card in the list; None if it is not in it."""
    if type(card) is not int:
        return None
    index = bisect_left(ascending, card)
    return index if index < len(ascending) and ascending[index] == card else None


# Chance

TO_CHOOSE = tuple(ToChoose(seat) for seat in range(SEATS[-1]))


def find_awaited(state: State) -> Awaited:
    """What the match awaits: the starting seat, a target, cards of stock or hand, a choice, or nothing more."""
    stage = state.stage
    if stage == CHOOSE:
        return TO_CHOOSE[state.seat]
    if stage in DRAWING:
        return Draw("draw", tuple(state.stock), state.count)
    if stage in LAYING_TARGET:
        # "Spielvorbereitung": special cards are never targets.
        return Draw("target", tuple(numbers_of(state.stock)))
    if stage == STEALING:
        return Draw("steal", tuple(state.hands[state.served]))
    return OVER if stage == FINISHED else first_seat(len(state.hands))


def outcome(state: State, values: tuple[Any, ...]) -> Outcome:
    """Make the awaited outcome from the values that chance gave."""
    stage = state.stage
    if stage in DRAWING:
        return Drawn(state.served, values)
    if stage in LAYING_TARGET:
        return Target(state.pile, values[0])
    return Stolen(values[0]) if stage == STEALING else FirstSeat(values[0])
