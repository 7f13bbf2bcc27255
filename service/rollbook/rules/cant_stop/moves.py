"""The moves of Can't Stop, and the columns and dice that they are made with."""

from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from rollbook.rules.chance import FirstSeat, Value

# Components

NAME = "cant_stop"
SEATS = range(2, 5)

LENGTHS = {2: 3, 3: 5, 4: 7, 5: 9, 6: 11, 7: 13, 8: 11, 9: 9, 10: 7, 11: 5, 12: 3}
"""Fields of every column; the last one is its number field."""

RUNNERS = 3
FACES = (1, 2, 3, 4, 5, 6)

# Choices


@dataclass(frozen=True, slots=True)
class Advance:
    """Choice: the columns in which runners are placed or moved; the same column twice is two steps."""

    columns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Roll:
    """Choice: risk it and throw again."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Choice: mark what the runners have reached and end the turn."""


# Outcomes


@dataclass(frozen=True, slots=True)
class Rolled:
    """Outcome: four dice, in the order in which they were thrown."""

    dice: tuple[int, ...]


Choice: TypeAlias = Advance | Roll | Stop
Outcome: TypeAlias = FirstSeat | Rolled
CHOICES: dict[str, type[Choice]] = {"advance": Advance, "roll": Roll, "stop": Stop}
OUTCOMES: dict[str, type[Outcome]] = {"first_seat": FirstSeat, "roll": Rolled}
VOCABULARY: tuple[type, ...] = (*OUTCOMES.values(), *CHOICES.values())

ROLLED: dict[tuple[Value, ...], Rolled] = {dice: Rolled(dice) for dice in product(FACES, repeat=4)}
"""Every throw there can be, made once."""
