"""The moves of Würfelzoo, and the dice that they are made with."""

from dataclasses import dataclass
from typing import TypeAlias

from rollbook.rules.chance import FirstSeat

# Components

NAME = "wuerfelzoo"
SEATS = range(2, 6)

SPECIES = ("worm", "squirrel", "fox", "boar", "bear", "elephant")
"""The animals from small to large."""

TRAP = "trap"
DOUBLE = "x2"
NO_FACE = ""
"""The face of a die that has not been thrown."""

SIZES = {species: size for size, species in enumerate(SPECIES)}
PENALTIES = {"elephant": 6, "bear": 5, "boar": 4, "fox": 3, "squirrel": 2, "worm": 1, TRAP: 0, DOUBLE: 7, NO_FACE: 0}

# "Hinweis zu den Würfeln": opposite faces are equal, except on the dice on which a trap is opposite an x2.
KINDS = (
    (("elephant", "elephant"), ("worm", "worm"), (TRAP, TRAP)),
    (("bear", "bear"), ("squirrel", "squirrel"), (TRAP, TRAP)),
    (("boar", "boar"), ("fox", "fox"), (TRAP, DOUBLE)),
    (("elephant", "elephant"), ("fox", "fox"), ("squirrel", "squirrel")),
    (("bear", "bear"), ("boar", "boar"), ("worm", "worm")),
)
DICE_OF_A_KIND = 10
AXES = tuple(kind for kind in KINDS for _ in range(DICE_OF_A_KIND))
FACES_OF_KIND = {kind: tuple(face for axis in kind for face in axis) for kind in KINDS}
FACES = tuple(FACES_OF_KIND[axes] for axes in AXES)
"""The six faces of every die, in the order in which chance numbers them."""

NUMBER_OF_DICE = len(FACES)
DEALT = {2: 12, 3: 12, 4: 12, 5: 10}
"""Dice of a seat at the beginning of a round, by the number of seats ("Spielvorbereitung")."""

# Choices


@dataclass(frozen=True, slots=True)
class Play:
    """Choice: lay these dice, animals of one species and any x2 with them."""

    dice: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reroll:
    """Choice: throw these of the seat's dice again instead of laying any."""

    dice: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Bear:
    """Choice: the die, of this seat or another, that is thrown again."""

    die: int


@dataclass(frozen=True, slots=True)
class Boar:
    """Choice: swap one of the seat's dice for one of another seat."""

    own: int
    other: int


@dataclass(frozen=True, slots=True)
class Fox:
    """Choice: the die that another seat loses."""

    die: int


@dataclass(frozen=True, slots=True)
class Squirrel:
    """Choice: the other seat that gets one more die."""

    target: int


@dataclass(frozen=True, slots=True)
class Worm:
    """Choice: give one of the seat's dice to another seat."""

    own: int
    target: int


# Outcomes


@dataclass(frozen=True, slots=True)
class Drawn:
    """Outcome: the dice that a seat draws from the bag, in the order in which they come."""

    seat: int
    dice: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Rolled:
    """Outcome: the dice that are thrown, ascending, and what each shows."""

    dice: tuple[int, ...]
    faces: tuple[str, ...]


Choice: TypeAlias = Play | Reroll | Bear | Boar | Fox | Squirrel | Worm
Outcome: TypeAlias = FirstSeat | Drawn | Rolled
CHOICES: dict[str, type[Choice]] = {
    "play": Play,
    "reroll": Reroll,
    "bear": Bear,
    "boar": Boar,
    "fox": Fox,
    "squirrel": Squirrel,
    "worm": Worm,
}
OUTCOMES: dict[str, type[Outcome]] = {"first_seat": FirstSeat, "draw": Drawn, "roll": Rolled}
VOCABULARY: tuple[type, ...] = (*OUTCOMES.values(), *CHOICES.values())
