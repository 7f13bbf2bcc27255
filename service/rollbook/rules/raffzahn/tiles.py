"""Sets of tiles as bit masks: bit 7 is tile 7."""

from __future__ import annotations

from rollbook.rules.options import shortened
from rollbook.rules.raffzahn.moves import TILES
from rollbook.rules.refusals import Invalid, Reason


def mask(tiles: tuple[int, ...] | range) -> int:
    """Tiles as a mask."""
    return sum(1 << tile for tile in tiles)


def listed(tiles: int) -> tuple[int, ...]:
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
    return Invalid(Reason.TILE_UNKNOWN, f"there is no tile {shortened(tile)}, only {allowed}", allowed=allowed)
