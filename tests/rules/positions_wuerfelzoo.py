"""Positions of Würfelzoo for tests, in words: the faces of the dice of each seat.

A face means the free die of the lowest identity that has the face.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rollbook.rules.chance import FirstSeat
from rollbook.rules.options import OptionValue
from rollbook.rules.wuerfelzoo import GAME
from rollbook.rules.wuerfelzoo.moves import FACES, NO_FACE, Choice, Drawn, Rolled
from rollbook.rules.wuerfelzoo.state import BAG, BOX, NOBODY, TABLE, TURN, State

Move = Choice | FirstSeat | Drawn | Rolled


def position(
    *hands: str,
    seat: int = 0,
    middle: str = "",
    owner: int | None = None,
    bag: int | None = None,
    box: int = 0,
    points: Sequence[int] | None = None,
    options: dict[str, OptionValue] | None = None,
) -> State:
    """Return a state at the beginning of a turn; the dice of a seat are faces with spaces between.

    `middle` are the animals in the middle and `owner` the seat that laid them, by default the one before. Of the other
    dice `box` go into the box and `bag` into the bag, by default all; the rest is removed from the game.
    """
    state = GAME.start(options or {}, len(hands))
    state.where = [TABLE] * len(state.where)
    free = list(range(len(FACES)))
    for number, hand in enumerate(hands):
        _put(state, free, hand, number)
    state.middle = tuple(sorted(_put(state, free, middle, TABLE)))
    if state.middle:
        state.species = state.faces[state.middle[0]]
        state.owner = (seat - 1) % len(hands) if owner is None else owner
    else:
        state.owner = NOBODY
    for die in free[:box]:
        state.where[die] = BOX
    for die in free[box:] if bag is None else free[box : box + bag]:
        state.where[die] = BAG
    if points is not None:
        state.points = list(points)
    state.seat = seat
    state.stage = TURN
    return state


def _put(state: State, free: list[int], faces: str, place: int) -> list[int]:
    dice = []
    for face in faces.split():
        die = next(die for die in free if face in FACES[die])
        free.remove(die)
        dice.append(die)
        state.where[die] = place
        state.faces[die] = face
    return dice


def dice(state: State, seat: int, *faces: str) -> tuple[int, ...]:
    """The dice in front of a seat that show one of these faces, or all its dice, ascending."""
    return tuple(
        die for die, there in enumerate(state.where) if there == seat and (not faces or state.faces[die] in faces)
    )


def die(state: State, seat: int, face: str) -> int:
    """The lowest die in front of a seat that shows the face."""
    return dice(state, seat, face)[0]


def shows(state: State, seat: int) -> list[str]:
    """Return the faces of the dice in front of a seat, sorted."""
    return sorted(state.faces[die] for die in dice(state, seat))


def bag(state: State) -> tuple[int, ...]:
    """The dice in the bag."""
    return tuple(die for die, there in enumerate(state.where) if there == BAG)


def box(state: State) -> tuple[int, ...]:
    """The dice in the box."""
    return tuple(die for die, there in enumerate(state.where) if there == BOX)


def unthrown(state: State) -> bool:
    """Whether all dice in bag and box have no face."""
    return all(state.faces[die] == NO_FACE for die in (*bag(state), *box(state)))


def after(state: State, *moves: Move) -> State:
    """Return the state after all moves."""
    return GAME.fold(state, moves)


def deal(state: State, first: int, hands: Iterable[Sequence[int]], face: int = 0) -> State:
    """A round that starts with this seat; each hand is drawn from the first seat on, and each die shows that face."""
    moves: list[Move] = [FirstSeat(first)]
    for number, hand in enumerate(hands):
        thrown = tuple(sorted(hand))
        moves.append(Drawn((first + number) % len(state.points), tuple(hand)))
        moves.append(Rolled(thrown, tuple(FACES[die][face] for die in thrown)))
    return after(state, *moves)
