"""Chance as a player: what a state wants thrown or drawn, said exactly, and never done here.

Whoever holds the fair dice reads one of these values, draws from it in the stated order and hands the values back to
`Game.outcome`. The order of faces and items is part of the rules: `fairness.md` numbers them from 0.
"""

from dataclasses import dataclass
from typing import TypeAlias

Value: TypeAlias = int | str


@dataclass(frozen=True, slots=True)
class Throw:
    """Several dice, thrown one after the other; each gives one of its faces."""

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
    """What every game awaits first: one of its seats."""
    return Draw("first_seat", tuple(range(seats)))
