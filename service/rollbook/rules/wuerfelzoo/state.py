"""The state of a match of Würfelzoo, what its options mean, and what it awaits.

Two lists, indexed by die, contain where each die is and what it shows, without a second copy: audits fold millions of
events, and moves mostly look up dice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, cast

from rollbook.rules.chance import Draw, FirstSeat, Throw, first_seat
from rollbook.rules.game import OVER, Awaited, ToChoose
from rollbook.rules.options import Option, Options
from rollbook.rules.places import Score
from rollbook.rules.wuerfelzoo.moves import (
    DEALT,
    FACES,
    NO_FACE,
    NUMBER_OF_DICE,
    PENALTIES,
    SEATS,
    Drawn,
    Outcome,
    Rolled,
)

# Rulesets


def into_bag(state: State, dice: Iterable[int]) -> None:
    """The basic game: dice that leave the table can be drawn again at once."""
    for die in dice:
        state.where[die] = BAG
        state.faces[die] = NO_FACE


def into_box(state: State, dice: Iterable[int]) -> None:
    """Option `box` ("Alternative Regeln"): dice that leave the table wait in the box until the bag has run empty."""
    for die in dice:
        state.where[die] = BOX
        state.faces[die] = NO_FACE


def after_one_round(_state: State) -> bool:
    """The basic game: one round decides."""
    return True


def points_reached(state: State) -> bool:
    """Option `rounds_to` ("Mehrere Runden spielen"): a seat has reached or passed these points."""
    return max(state.points) >= state.ruleset.rounds_to


def scores_of_one_round(state: State) -> list[Score]:
    """Score a match of one round: by the dice in front of each seat; at the end, the winner before all others."""
    if state.stage == FINISHED:
        return [(seat == state.seat, -points) for seat, points in enumerate(state.points)]
    return [-penalty(state, seat) for seat in range(len(state.points))]


def scores_of_all_rounds(state: State) -> list[Score]:
    """A seat with fewer points of all finished rounds has a higher score."""
    return [-points for points in state.points]


@dataclass(frozen=True, slots=True)
class Ruleset:
    """The values and functions that follow from the options of a match."""

    rounds_to: int
    discard: Callable[[State, Iterable[int]], None]
    is_over: Callable[[State], bool]
    """Whether the round that has just ended is the last."""
    scores: Callable[[State], list[Score]]


OPTIONS = (
    Option("rounds_to", range(1000), "points that end the match after a round, the fewest win; 0: one round decides"),
    Option("box", (False, True), "dice that leave the table go back into the bag only when it is empty"),
)

# State

FIRST_SEAT, DEAL, DEAL_ROLL, TURN, USE, ADD, TURN_ROLL, FINISHED = range(8)
CHOOSING = frozenset({TURN, USE})
DRAWING = frozenset({DEAL, ADD})
ROLLING = frozenset({DEAL_ROLL, TURN_ROLL})
BAG, BOX, TABLE, NOBODY = -1, -2, -3, -4


@dataclass(slots=True)
class State:
    """A match of Würfelzoo."""

    ruleset: Ruleset
    stage: int
    seat: int
    """Whose turn it is; while dice are dealt, the seat that starts; at the end, the winner of the round."""
    round: int
    points: list[int]
    """Per seat: the penalty points of all finished rounds."""
    where: list[int]
    """Per die: the seat it lies in front of, BAG, BOX, or TABLE for the middle and the x2 that have been played."""
    faces: list[str]
    """Per die: what it shows, NO_FACE in bag and box and until it is thrown."""
    middle: tuple[int, ...]
    """The animals in the middle, ascending."""
    species: str
    """The species in the middle; NO_FACE if the middle is empty."""
    owner: int
    """The seat that laid the animals in the middle, or NOBODY."""
    doubles: tuple[int, ...]
    """The x2 dice that were played and are not spent yet, ascending."""
    uses: int
    """How many times the ability is still to be used."""
    drawer: int
    """The seat that draws dice, and throws them."""
    thrown: tuple[int, ...]
    """The dice that are to be thrown, ascending."""


def begin(options: Options, seats: int) -> State:
    """All dice in the bag, before the starting seat is drawn."""
    rounds_to = cast("int", options["rounds_to"])
    return State(
        ruleset=Ruleset(
            rounds_to=rounds_to,
            discard=into_box if options["box"] else into_bag,
            is_over=points_reached if rounds_to else after_one_round,
            scores=scores_of_all_rounds if rounds_to else scores_of_one_round,
        ),
        stage=FIRST_SEAT,
        seat=0,
        round=1,
        points=[0] * seats,
        where=[BAG] * NUMBER_OF_DICE,
        faces=[NO_FACE] * NUMBER_OF_DICE,
        middle=(),
        species=NO_FACE,
        owner=NOBODY,
        doubles=(),
        uses=0,
        drawer=0,
        thrown=(),
    )


def copy(state: State) -> State:
    """Return an equal state that shares no list with this one."""
    return State(
        state.ruleset,
        state.stage,
        state.seat,
        state.round,
        state.points.copy(),
        state.where.copy(),
        state.faces.copy(),
        state.middle,
        state.species,
        state.owner,
        state.doubles,
        state.uses,
        state.drawer,
        state.thrown,
    )


# What lies where


def dice_at(state: State, place: int) -> tuple[int, ...]:
    """The dice at a place, ascending; a place is a seat, BAG, BOX or TABLE."""
    return tuple([die for die, there in enumerate(state.where) if there == place])


def penalty(state: State, seat: int) -> int:
    """Return the penalty points of the dice in front of the seat ("Die Tiere und ihre Eigenschaften")."""
    return sum(PENALTIES[state.faces[die]] for die in dice_at(state, seat))


def is_seat(state: State, seat: object) -> bool:
    """Whether this is the number of a seat; False for a boolean."""
    return type(seat) is int and 0 <= seat < len(state.points)


def is_die(die: object) -> bool:
    """Whether this is the number of a die; False for a boolean."""
    return type(die) is int and 0 <= die < NUMBER_OF_DICE


# Chance

TO_CHOOSE = tuple(ToChoose(seat) for seat in range(SEATS[-1]))


def find_awaited(state: State) -> Awaited:
    """What the match awaits: the starting seat, drawn dice, a throw, a choice of the seat to move, or nothing more."""
    stage = state.stage
    if stage in CHOOSING:
        return TO_CHOOSE[state.seat]
    if stage in ROLLING:
        return Throw("roll", tuple([FACES[die] for die in state.thrown]))
    if stage in DRAWING:
        return Draw("draw", dice_at(state, BAG), number_to_draw(state))
    return OVER if stage == FINISHED else first_seat(len(state.points))


def number_to_draw(state: State) -> int:
    """How many dice the awaited draw takes out of the bag."""
    return DEALT[len(state.points)] if state.stage == DEAL else 1


def outcome(state: State, values: tuple[Any, ...]) -> Outcome:
    """Make the awaited outcome from the values that chance gave."""
    stage = state.stage
    if stage in ROLLING:
        return Rolled(state.thrown, values)
    return Drawn(state.drawer, values) if stage in DRAWING else FirstSeat(values[0])
