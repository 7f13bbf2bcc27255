"""The state of a match of Raffzahn, what its options mean by the text of each edition, and what it awaits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from rollbook.rules.chance import FirstSeat, Throw, Value, first_seat
from rollbook.rules.game import OVER, Awaited, ToChoose
from rollbook.rules.options import Option, Options
from rollbook.rules.raffzahn.moves import (
    ALL_DICE,
    DICE,
    GREAT_STAR_THROW,
    OPEN_TILES_BEFORE_SAFE,
    ROLLED,
    SEATS,
    SMALL_STAR_THROW,
    TEETH,
    TILES,
    Faces,
    Outcome,
    highest,
    list_tiles,
    lowest,
    mask,
)
from rollbook.rules.raffzahn.throws import GREAT_STARS, HIT, MISS, OPTIONAL_STARS, OWN_HIT, SMALL_STARS, Result, Thrown

# Rulesets


def number_result(state: State, number: int) -> Result:
    """Where the tile lies that the sum names: "Beutetreffer", "Eigentreffer", or neither; there is no tile 0."""
    tile = 1 << number
    if state.middle & tile:
        return HIT[number]
    if (state.open_tiles[state.seat] | state.safe_tiles[state.seat]) & tile:
        return OWN_HIT
    for tiles in state.open_tiles:
        if tiles & tile:
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
    """Variant "Ansage": any tile in the middle or open in front of another seat (ruling, for both editions)."""
    tiles = state.middle
    for seat, open_tiles in enumerate(state.open_tiles):
        if seat != state.seat:
            tiles |= open_tiles
    return tiles


@dataclass(frozen=True, slots=True)
class Ruleset:
    """The values and functions that follow from the options of a match."""

    teeth: Mapping[int, int]
    """The teeth of every tile, at least one each."""
    result: Callable[[State, Thrown], Result]
    """The function for the result of a throw without a rotten tooth."""
    to_announce: Callable[[State], int]
    """The tiles that may be announced, as a mask."""


RESULTS = {"revised": revised_result, "original": original_result}

OPTIONS = (
    Option("edition", tuple(RESULTS), "the rulebook that is played by: the reworked reprint, or the first edition"),
    Option("announce", (False, True), 'variant "Ansage": winning an announced tile gives an extra turn'),
)

# State

FIRST_SEAT, ROLL, DECIDE, SURRENDER, FINISHED = range(5)


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
    """The result of the last throw, while a choice is awaited."""


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
    """Return an equal state that shares no list with this one."""
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


def list_owned(state: State, seat: int) -> tuple[int, ...]:
    """All tiles of a seat, open and safe, ascending."""
    return list_tiles(state.open_tiles[seat] | state.safe_tiles[seat])


def worth(state: State, tiles: tuple[int, ...]) -> int:
    """How many teeth these tiles have together."""
    return sum(state.ruleset.teeth[tile] for tile in tiles)


def may_lay_safe(state: State) -> bool:
    """Three open tiles come first ("Plättchen ablegen")."""
    return state.open_tiles[state.seat].bit_count() >= OPEN_TILES_BEFORE_SAFE


# Chance

REROLLS: tuple[tuple[int, ...], ...] = ((0,), (0, 1), ALL_DICE, (0, 2), (1,), (1, 2), (2,))
"""The dice that can be thrown together, in the order of the choices."""

KEPT = {dice: tuple(die for die in ALL_DICE if die not in dice) for dice in REROLLS}
THROW_OF = {dice: Throw("roll", tuple(DICE[die] for die in dice)) for dice in REROLLS}
TO_CHOOSE = tuple(ToChoose(seat) for seat in range(SEATS[-1]))


def find_awaited(state: State) -> Awaited:
    """What the match awaits: the starting seat, dice, a choice of the seat whose turn it is, or nothing more."""
    stage = state.stage
    if stage == ROLL:
        return THROW_OF[state.rerolled]
    if stage == FIRST_SEAT:
        return first_seat(len(state.open_tiles))
    return OVER if stage == FINISHED else TO_CHOOSE[state.seat]


def outcome(state: State, values: tuple[Value, ...]) -> Outcome:
    """Make the awaited outcome from the values that chance gave; a throw of some dice includes the dice kept."""
    if state.stage == FIRST_SEAT:
        return FirstSeat(cast("int", values[0]))
    thrown = cast("Faces", values)
    if state.rerolled is ALL_DICE:
        return ROLLED[thrown]
    dice = list(state.dice)
    for die, face in zip(state.rerolled, thrown, strict=True):
        dice[die] = face
    return ROLLED[tuple(dice)]
