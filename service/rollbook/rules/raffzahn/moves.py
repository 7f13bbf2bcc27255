"""The moves of Raffzahn, and the tiles and dice that they are made with."""

from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from rollbook.rules.chance import FirstSeat
from rollbook.rules.options import shorten_value
from rollbook.rules.refusals import Invalid, Reason

# Components

NAME = "raffzahn"
SEATS = range(3, 7)

TILES = range(1, 41)
TEETH = {tile: 1 + tile // 6 for tile in TILES}
"""Teeth of every tile (ruling: the even division that fits what the rulebooks show)."""

STAR = "star"
ROTTEN = "rotten"
YELLOW = ("10", "20", "30", STAR, STAR, ROTTEN)
BLUE = ("1", "2", "3", "4", "5", STAR)
DICE = (YELLOW, BLUE, BLUE)
ALL_DICE = (0, 1, 2)

THROWS = 3
OPEN_TILES_BEFORE_SAFE = 3
TEETH_FOR_A_MISS = 3
SMALL_STAR_THROW = 2
GREAT_STAR_THROW = 3

Faces: TypeAlias = tuple[str, ...]
"""The dice as they lie, yellow first; none before the first throw of a turn."""

# Choices


@dataclass(frozen=True, slots=True)
class Roll:
    """Choice: throw these dice again (0 is yellow), perhaps after announcing a tile."""

    dice: tuple[int, ...]
    announce: int | None = None


@dataclass(frozen=True, slots=True)
class Take:
    """Choice: take the tile that the throw offers and lay it open or safe."""

    tile: int
    safe: bool


@dataclass(frozen=True, slots=True)
class Pass:
    """Choice: end the turn without a tile."""


@dataclass(frozen=True, slots=True)
class Surrender:
    """Choice: the tiles that a miss costs."""

    tiles: tuple[int, ...]


# Outcomes


@dataclass(frozen=True, slots=True)
class Rolled:
    """Outcome: all three dice as they lie after the throw, yellow first."""

    dice: Faces


Choice: TypeAlias = Roll | Take | Pass | Surrender
Outcome: TypeAlias = FirstSeat | Rolled
CHOICES: dict[str, type[Choice]] = {"roll": Roll, "take": Take, "pass": Pass, "surrender": Surrender}
OUTCOMES: dict[str, type[Outcome]] = {"first_seat": FirstSeat, "roll": Rolled}
VOCABULARY: tuple[type, ...] = (*OUTCOMES.values(), *CHOICES.values())

ROLLED: dict[Faces, Rolled] = {dice: Rolled(dice) for dice in product(*DICE)}
"""Every throw there can be, made once."""

# Sets of tiles as bit masks: bit 7 is tile 7


def mask(tiles: tuple[int, ...] | range) -> int:
    """Tiles as a mask."""
    return sum(1 << tile for tile in tiles)


def list_tiles(tiles: int) -> tuple[int, ...]:
    """The tiles of a mask, ascending."""
    return tuple(tile for tile in TILES if tiles >> tile & 1)


def lowest(tiles: int) -> int:
    """The lowest tile of a mask that is not empty."""
    return (tiles & -tiles).bit_length() - 1


def highest(tiles: int) -> int:
    """The highest tile of a mask that is not empty."""
    return tiles.bit_length() - 1


def no_such_tile(tile: int) -> Invalid:
    """The refusal of a number that no tile has."""
    allowed = f"{TILES[0]} to {TILES[-1]}"
    return Invalid(Reason.TILE_UNKNOWN, f"there is no tile {shorten_value(tile)}, only {allowed}", allowed=allowed)
