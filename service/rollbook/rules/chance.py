"""Chance as a player: describes exactly what a state wants thrown or drawn; the draw itself happens elsewhere.

The owner of the fair dice reads one of these values, draws from it in the stated order and passes the values to
`Game.outcome`. The order of faces and items is part of the rules: `fairness.md` numbers them from 0.
"""

from dataclasses import dataclass
from typing import TypeAlias

Value: TypeAlias = int | str


@dataclass(frozen=True, slots=True)
class Throw:
    """Several dice, thrown one after the other; each results in one of its faces."""

    name: str
    dice: tuple[tuple[Value, ...], ...]


@dataclass(frozen=True, slots=True)
class Draw:
    """`count` of the items, drawn one after the other and not put back."""

    name: str
    items: tuple[Value, ...]
    count: int = 1


@dataclass(frozen=True, slots=True)
class FirstSeat:
    """Outcome: the seat that starts."""

    seat: int


def first_seat(seats: int) -> Draw:
    """The first draw of every game: the seat that starts."""
    return Draw("first_seat", tuple(range(seats)))
