"""What a throw of Raffzahn shows, and what it can come to.

What the faces of three dice show is worked out once: audits fold millions of these events.
"""

from dataclasses import dataclass
from itertools import product

from rollbook.rules.raffzahn.moves import DICE, ROTTEN, STAR, TILES, Faces

# Throws


@dataclass(frozen=True, slots=True)
class Thrown:
    """What lies on the table: the sum, in which a star counts 0, the stars, and whether a tooth is rotten."""

    number: int
    stars: int
    rotten: bool


THROWN: dict[Faces, Thrown] = {
    dice: Thrown(sum(int(face) for face in dice if face.isdigit()), dice.count(STAR), ROTTEN in dice)
    for dice in product(*DICE)
}
"""What all faces that can lie together show."""

# Results


@dataclass(frozen=True, slots=True)
class Result:
    """What a throw comes to, and what it leaves to the seat."""

    tile: int | None
    """The tile on offer."""
    may_roll: bool = True
    """Whether the seat may throw again, as far as throws are left."""
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
