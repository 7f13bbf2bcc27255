"""The table of Würfelzoo: its dice, where they lie and what they show, and what the options of a match come to.

Where a die is and what it shows stand in two lists by its identity, and nowhere twice: audits fold millions of events,
and looking a die up is what a move mostly needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import cast

from rollbook.rules.options import Option, Options
from rollbook.rules.places import Score

# Components

SPECIES = ("worm", "squirrel", "fox", "boar", "bear", "elephant")
"""The animals from small to large."""

TRAP = "trap"
DOUBLE = "x2"
NO_FACE = ""
"""What a die shows that has not been thrown."""

SIZES = {species: size for size, species in enumerate(SPECIES)}
PENALTIES = {"elephant": 6, "bear": 5, "boar": 4, "fox": 3, "squirrel": 2, "worm": 1, TRAP: 0, DOUBLE: 7, NO_FACE: 0}

# "Hinweis zu den Würfeln": opposite faces are equal, but for a trap, which sometimes faces an x2.
KINDS = (
    (("elephant", "elephant"), ("worm", "worm"), (TRAP, TRAP)),
    (("bear", "bear"), ("squirrel", "squirrel"), (TRAP, TRAP)),
    (("boar", "boar"), ("fox", "fox"), (TRAP, DOUBLE)),
    (("elephant", "elephant"), ("fox", "fox"), ("squirrel", "squirrel")),
    (("bear", "bear"), ("boar", "boar"), ("worm", "worm")),
)
DICE_OF_A_KIND = 10
AXES = tuple(kind for kind in KINDS for _ in range(DICE_OF_A_KIND))
FACES = tuple(tuple(face for axis in axes for face in axis) for axes in AXES)
"""The six faces of every die, in the order in which chance numbers them."""

NUMBER_OF_DICE = len(FACES)
SEATS = range(2, 6)
DEALT = {2: 12, 3: 12, 4: 12, 5: 10}
"""Dice of a seat at the beginning of a round, by the number of seats ("Spielvorbereitung")."""

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


def once_reached(state: State) -> bool:
    """Option `rounds_to` ("Mehrere Runden spielen"): a seat has reached or passed these points."""
    return max(state.points) >= state.ruleset.rounds_to


def by_the_round(state: State) -> list[Score]:
    """The round's winner before all others, they by their points; before its end, by the dice in front of them."""
    if state.stage == FINISHED:
        return [(seat == state.seat, -points) for seat, points in enumerate(state.points)]
    return [-penalty(state, seat) for seat in range(len(state.points))]


def by_all_rounds(state: State) -> list[Score]:
    """The fewest points of all finished rounds."""
    return [-points for points in state.points]


@dataclass(frozen=True, slots=True)
class Ruleset:
    """What the options of a match come to."""

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
    """What lies in the middle, NO_FACE for nothing."""
    owner: int
    """The seat that laid it, or NOBODY."""
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
            is_over=once_reached if rounds_to else after_one_round,
            scores=by_all_rounds if rounds_to else by_the_round,
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
    """A state of its own, equal to this one."""
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
    """The dice there, ascending: in front of a seat, in BAG, in BOX."""
    return tuple(die for die, there in enumerate(state.where) if there == place)


def penalty(state: State, seat: int) -> int:
    """What the dice in front of the seat count at the end ("Die Tiere und ihre Eigenschaften")."""
    return sum(PENALTIES[state.faces[die]] for die in dice_at(state, seat))


def is_seat(state: State, seat: object) -> bool:
    """Whether there is such a seat; true is no number."""
    return type(seat) is int and 0 <= seat < len(state.points)


def is_die(die: object) -> bool:
    """Whether there is such a die; true is no number."""
    return type(die) is int and 0 <= die < NUMBER_OF_DICE
