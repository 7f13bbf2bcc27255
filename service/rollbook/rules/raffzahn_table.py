"""The table of Raffzahn: tiles and dice, what a throw comes to in either edition, and where every tile lies.

Sets of tiles are kept as bit masks (bit 7 is tile 7), and what the faces of three dice come to is worked out once:
audits fold millions of these events.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations, product
from typing import TypeAlias, cast

from rollbook.rules.options import Option, Options

# Components

TILES = range(1, 41)
TEETH = {tile: 1 + tile // 6 for tile in TILES}
"""Teeth of every tile (ruling: the even division that fits what the rulebooks show)."""

STAR = "star"
ROTTEN = "rotten"
YELLOW = ("10", "20", "30", STAR, STAR, ROTTEN)
BLUE = ("1", "2", "3", "4", "5", STAR)
DICE = (YELLOW, BLUE, BLUE)

SEATS = range(3, 7)
THROWS = 3
OPEN_TILES_BEFORE_SAFE = 3
TEETH_FOR_A_MISS = 3
SMALL_STAR_THROW = 2
GREAT_STAR_THROW = 3

Faces: TypeAlias = tuple[str, ...]
"""The dice as they lie, yellow first; none before the first throw of a turn."""

# Throws and their results


@dataclass(frozen=True, slots=True)
class Thrown:
    """What lies on the table: the sum, in which a star counts 0, the stars, and whether a tooth is rotten."""

    number: int
    stars: int
    rotten: bool


def _thrown(dice: Faces) -> Thrown:
    return Thrown(
        number=sum(int(face) for face in dice if face.isdigit()),
        stars=dice.count(STAR),
        rotten=ROTTEN in dice,
    )


THROWN: dict[Faces, Thrown] = {dice: _thrown(dice) for dice in product(*DICE)}


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

# Rulesets


def number_result(state: State, number: int) -> Result:
    """Where the tile lies that the sum names: "Beutetreffer", "Eigentreffer", or neither; there is no tile 0."""
    tile = 1 << number
    if state.middle & tile:
        return HIT[number]
    if (state.open_tiles[state.seat] | state.safe_tiles[state.seat]) & tile:
        return OWN_HIT
    if any(tiles & tile for tiles in state.open_tiles):
        return HIT[number]
    return MISS


def revised_result(state: State, thrown: Thrown) -> Result:
    """Revised: stars go before numbers; only a throw with at most one star can hit ("Die Treffer")."""
    if thrown.stars == GREAT_STAR_THROW:
        return GREAT_STARS[highest(state.middle)]
    if thrown.stars == SMALL_STAR_THROW:
        return SMALL_STARS[lowest(state.middle)]
    return number_result(state, thrown.number)


def original_result(state: State, thrown: Thrown) -> Result:
    """Original: hit, own hit, star throw, miss, and what ranks first is alone on offer ("Würfelergebnisse")."""
    result = number_result(state, thrown.number)
    if result is MISS and thrown.stars == GREAT_STAR_THROW:
        return OPTIONAL_STARS[highest(state.middle)]
    if result is MISS and thrown.stars == SMALL_STAR_THROW:
        return OPTIONAL_STARS[lowest(state.middle)]
    return result


def nothing_to_announce(_state: State) -> int:
    """The basic game: no announcements."""
    return 0


def tiles_to_win(state: State) -> int:
    """Variant "Ansage": whatever lies in the middle or open in front of another seat (ruling, for both editions)."""
    tiles = state.middle
    for seat, open_tiles in enumerate(state.open_tiles):
        if seat != state.seat:
            tiles |= open_tiles
    return tiles


@dataclass(frozen=True, slots=True)
class Ruleset:
    """What the options of a match come to."""

    teeth: Mapping[int, int]
    """The teeth of every tile, at least one each."""
    result: Callable[[State, Thrown], Result]
    """What a throw without a rotten tooth comes to."""
    to_announce: Callable[[State], int]
    """The tiles that may be announced, as a mask."""


RESULTS = {"revised": revised_result, "original": original_result}

OPTIONS = (
    Option("edition", tuple(RESULTS), "the rulebook that is played by: the reworked reprint, or the first edition"),
    Option("announce", (False, True), 'variant "Ansage": winning an announced tile gives an extra turn'),
)

# State

FIRST_SEAT, ROLL, DECIDE, SURRENDER, FINISHED = range(5)
ALL_DICE = (0, 1, 2)


@dataclass(slots=True)
class State:
    """A match of Raffzahn; sets of tiles are masks, and a tile that is in none of them is out of the game."""

    ruleset: Ruleset
    stage: int
    seat: int
    middle: int
    open_tiles: list[int]
    """Per seat: its tiles that lie face up."""
    safe_tiles: list[int]
    """Per seat: its tiles that lie face down."""
    throws: int
    """The throws made in this turn."""
    dice: Faces
    rerolled: tuple[int, ...]
    """The dice of the throw that is awaited, or was made last, ascending."""
    announced: int | None
    """The tile announced for that throw."""
    result: Result
    """What the last throw came to, while a choice is awaited."""


def begin(options: Options, seats: int) -> State:
    """All tiles in the middle, before the starting seat is drawn."""
    return State(
        ruleset=Ruleset(
            teeth=TEETH,
            result=RESULTS[cast("str", options["edition"])],
            to_announce=tiles_to_win if options["announce"] else nothing_to_announce,
        ),
        stage=FIRST_SEAT,
        seat=0,
        middle=mask(TILES),
        open_tiles=[0] * seats,
        safe_tiles=[0] * seats,
        throws=0,
        dice=(),
        rerolled=ALL_DICE,
        announced=None,
        result=MISS,
    )


def copy(state: State) -> State:
    """A state of its own, equal to this one."""
    return State(
        state.ruleset,
        state.stage,
        state.seat,
        state.middle,
        state.open_tiles.copy(),
        state.safe_tiles.copy(),
        state.throws,
        state.dice,
        state.rerolled,
        state.announced,
        state.result,
    )


# What lies where


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


def owned(state: State, seat: int) -> tuple[int, ...]:
    """All tiles of a seat, open and safe, ascending."""
    return listed(state.open_tiles[seat] | state.safe_tiles[seat])


def worth(state: State, tiles: tuple[int, ...]) -> int:
    """How many teeth these tiles have together."""
    return sum(state.ruleset.teeth[tile] for tile in tiles)


def may_lay_safe(state: State) -> bool:
    """Three open tiles come first ("Plättchen ablegen")."""
    return state.open_tiles[state.seat].bit_count() >= OPEN_TILES_BEFORE_SAFE


def payments(state: State) -> list[tuple[int, ...]]:
    """All sets of the seat's tiles that a miss can be paid with, none with a tile to spare, in sorted order.

    A tile that pays alone goes alone; the others make three teeth in twos or, with one tooth each, in threes.
    """
    enough: list[tuple[int, ...]] = []
    small = []
    for tile in owned(state, state.seat):
        if state.ruleset.teeth[tile] >= TEETH_FOR_A_MISS:
            enough.append((tile,))
        else:
            small.append(tile)
    for count in (2, 3):
        for tiles in combinations(small, count):
            least = min(state.ruleset.teeth[tile] for tile in tiles)
            if worth(state, tiles) - least < TEETH_FOR_A_MISS <= worth(state, tiles):
                enough.append(tiles)
    return sorted(enough)
