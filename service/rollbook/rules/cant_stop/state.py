"""The state of a match of Can't Stop, what its options mean, and what it awaits.

Sets of columns are bit masks, as in `offers.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from rollbook.rules.cant_stop.moves import FACES, LENGTHS, ROLLED, SEATS, Outcome
from rollbook.rules.cant_stop.offers import BASIC_OFFER, HASTY_OFFER, NO_OFFER, Combinations, Offer
from rollbook.rules.chance import FirstSeat, Throw, Value, first_seat
from rollbook.rules.game import OVER, Awaited, ToChoose
from rollbook.rules.options import Option, Options
from rollbook.rules.refusals import Invalid, Reason

# Rulesets


def stop_anywhere(_state: State) -> bool:
    """The basic game: a seat may stop after every advance."""
    return True


def stop_on_free_fields(state: State) -> bool:
    """Variant 3: no runner may stand on a field with another seat's marker."""
    return not any(
        state.runners >> column & 1 and markers[column] == state.reached[column]
        for seat, markers in enumerate(state.markers)
        if seat != state.seat
        for column in LENGTHS
    )


@dataclass(frozen=True, slots=True)
class Ruleset:
    """The values and functions that follow from the options of a match."""

    columns_to_win: int
    offer: Callable[[Combinations, int, int, int, int], Offer]
    may_stop: Callable[[State], bool]


OPTIONS = (
    Option("columns_to_win", (3, 4, 5), "columns that win the match; variant 1: 4 with three seats, 5 with two"),
    Option("hasty", (False, True), "variant 2: runners must come into play as fast as possible"),
    Option("free_fields", (False, True), "variant 3: no stopping on a field with another seat's marker"),
)

SEATS_OF_VARIANT_1 = {4: 3, 5: 2}


def combine(options: Options, seats: int) -> None:
    """Variant 1 asks for 4 columns of three seats and 5 of two."""
    columns = cast("int", options["columns_to_win"])
    if SEATS_OF_VARIANT_1.get(columns, seats) != seats:
        raise Invalid(
            Reason.OPTIONS_DO_NOT_COMBINE,
            f"columns_to_win {columns} cannot be played by {seats} seats",
            learn="allowed: 3 with any seats, 4 with three seats, 5 with two",
            option="columns_to_win",
            seats=seats,
        )


# State

NOBODY = -1
FIRST_SEAT, ROLL, ADVANCE, GO_ON, FINISHED = range(5)


@dataclass(slots=True)
class State:
    """A match of Can't Stop; columns index the lists, so entries 0 and 1 are never used."""

    ruleset: Ruleset
    stage: int
    seat: int
    markers: list[list[int]]
    """Per seat: the height of its marker in every column, 0 for none."""
    winners: list[int]
    """Per column: the seat that won it, or NOBODY."""
    won: int
    """The columns that are won, as a mask."""
    reached: list[int]
    """The markers of the seat whose turn it is, and in their place its runners where it has some."""
    runners: int
    """The columns with a runner, as a mask."""
    closed: int
    """The columns where no runner can be placed or moved: won, or with the runner on the number field."""
    dice: tuple[int, ...]
    offer: Offer
    """The legal advances of the thrown dice, while an advance is awaited."""


START_OF_COLUMNS = [0] * (max(LENGTHS) + 1)


def begin(options: Options, seats: int) -> State:
    """An empty board, before the starting seat is drawn."""
    return State(
        ruleset=Ruleset(
            columns_to_win=cast("int", options["columns_to_win"]),
            offer=HASTY_OFFER if options["hasty"] else BASIC_OFFER,
            may_stop=stop_on_free_fields if options["free_fields"] else stop_anywhere,
        ),
        stage=FIRST_SEAT,
        seat=0,
        markers=[START_OF_COLUMNS.copy() for _ in range(seats)],
        winners=[NOBODY] * len(START_OF_COLUMNS),
        won=0,
        reached=START_OF_COLUMNS.copy(),
        runners=0,
        closed=0,
        dice=(),
        offer=NO_OFFER,
    )


def copy(state: State) -> State:
    """Return an equal state that shares no list with this one."""
    return State(
        state.ruleset,
        state.stage,
        state.seat,
        [markers.copy() for markers in state.markers],
        state.winners.copy(),
        state.won,
        state.reached.copy(),
        state.runners,
        state.closed,
        state.dice,
        state.offer,
    )


# Chance

FOUR_DICE = Throw("roll", (FACES,) * 4)
TO_CHOOSE = tuple(ToChoose(seat) for seat in range(SEATS[-1]))


def find_awaited(state: State) -> Awaited:
    """What the match awaits: the starting seat, four dice, a choice of the seat whose turn it is, or nothing more."""
    stage = state.stage
    if stage == ROLL:
        return FOUR_DICE
    if stage == FIRST_SEAT:
        return first_seat(len(state.markers))
    return OVER if stage == FINISHED else TO_CHOOSE[state.seat]


def outcome(state: State, values: tuple[Value, ...]) -> Outcome:
    """Make the awaited outcome from the values that chance gave."""
    if state.stage == FIRST_SEAT:
        return FirstSeat(cast("int", values[0]))
    return ROLLED[values]
