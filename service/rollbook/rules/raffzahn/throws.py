"""Throws of Raffzahn: their sums, and their results for the seat.

The sums of all combinations of faces are computed once, because audits fold millions of throws.
"""

from dataclasses import dataclass
from itertools import product

from rollbook.rules.raffzahn.moves import DICE, ROTTEN, STAR, TILES, Faces

# Throws


@dataclass(frozen=True, slots=True)
class Thrown:
    """A throw on the table: the sum, in which a star counts 0, the stars, and whether a tooth is rotten."""

    number: int
    stars: int
    rotten: bool


THROWN: dict[Faces, Thrown] = {
    dice: Thrown(sum(int(face) for face in dice if face.isdigit()), dice.count(STAR), ROTTEN in dice)
    for dice in product(*DICE)
}
"""The sum and stars of every combination of faces."""

# Results


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a throw, and the actions that it leaves to the seat."""

    tile: int | None
    """The tile on offer."""
    may_roll: bool = True
    """Whether the result allows another throw; the number of throws is checked elsewhere."""
    may_pass: bool = True
    fulfils: bool = True
    """Whether taking the tile fulfils an announcement of it."""


MISS = Result(tile=None)
OWN_HIT = Result(tile=None, may_roll=False, may_pass=False)
HIT = {tile: Result(tile) for tile in TILES}
OPTIONAL_STARS = HIT
"""Original, "Sternwurf": the tile may be taken, as with a hit."""
SMALL_STARS = {tile: Result(tile, may_pass=False, fulfils=False) for tile in TILES}
"""Revised, "Kleiner Sternwurf": the tile, or another throw; "Ansage": no star throw fulfils it."""
GREAT_STARS = {tile: Result(tile, may_roll=False, may_pass=False, fulfils=False) for tile in TILES}
"""Revised, "Großer Sternwurf": the tile has to be taken."""
