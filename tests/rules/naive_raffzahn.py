"""A slow, literal second implementation of Raffzahn, from the rules page alone.

A position is plain data: for every tile a pair of a place ("middle", "open", "safe" or "out") and its seat. It uses no
code of the game.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

Where = dict[int, tuple[str, int | None]]
Named = tuple[Any, ...]
"""A choice: ("take", tile, safe), ("roll", dice, announce), ("pass",) or ("surrender", tiles)."""


@dataclass
class Position:
    """The table, and the awaited move of the seat whose turn it is."""

    edition: str
    announce: bool
    seats: int
    teeth: dict[int, int]
    where: Where
    seat: int
    throws: int
    dice: tuple[str, ...]
    announced: int | None
    waits_for: str
    """ "throw", "choice", "surrender" or "end"."""


def what_is_hit(position: Position, number: int) -> str:
    """Return what a number hits, in the page's words; empty if no tile has the number."""
    if number not in position.where:
        return "nothing"
    place, owner = position.where[number]
    if place == "middle" or (place == "open" and owner != position.seat):
        return "hit"
    if place in {"open", "safe"} and owner == position.seat:
        return "own hit"
    return "miss"


def rows_of_the_table(position: Position) -> tuple[str, int | None]:
    """Return the meaning of the current throw, and the offered tile."""
    dice = position.dice
    if dice[0] == "rotten":
        return "rotten", None
    number = sum(0 if face == "star" else int(face) for face in dice)
    stars = dice.count("star")
    middle = [tile for tile, (place, _) in position.where.items() if place == "middle"]
    hit = what_is_hit(position, number)
    if position.edition == "revised":
        if stars == 3:
            return "must take", max(middle)
        if stars == 2:
            return "must take or roll", min(middle)
        return hit, number if hit == "hit" else None
    if hit == "hit":
        return "hit", number
    if hit == "own hit":
        return "own hit", None
    if stars == 3:
        return "star throw", max(middle)
    if stars == 2:
        return "star throw", min(middle)
    return hit, None


def tiles_of(position: Position, seat: int, *places: str) -> list[int]:
    """Return the tiles in front of a seat."""
    return [tile for tile, (place, owner) in position.where.items() if owner == seat and place in places]


def surrenders(position: Position) -> set[tuple[int, ...]]:
    """Return the legal surrenders, by trying every subset of the seat's tiles."""
    mine = sorted(tiles_of(position, position.seat, "open", "safe"))

    def worth(tiles: tuple[int, ...]) -> int:
        return sum(position.teeth[tile] for tile in tiles)

    found = set()
    for count in range(len(mine) + 1):
        for tiles in combinations(mine, count):
            spare = any(worth(tuple(other for other in tiles if other != tile)) >= 3 for tile in tiles)
            if worth(tiles) >= 3 and not spare:
                found.add(tiles)
    return found


def choices(position: Position) -> set[Named]:
    """Return every legal choice."""
    if position.waits_for == "surrender":
        return {("surrender", tiles) for tiles in surrenders(position)}
    if position.waits_for != "choice":
        return set()
    row, tile = rows_of_the_table(position)
    found: set[Named] = set()
    if tile is not None:
        found.add(("take", tile, False))
        if len(tiles_of(position, position.seat, "open")) >= 3:
            found.add(("take", tile, True))
    if position.throws < 3 and row != "must take":
        announced: list[int | None] = [None]
        if position.announce:
            announced += [number for number in range(1, 41) if what_is_hit(position, number) == "hit"]
        for dice in [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]:
            found |= {("roll", dice, number) for number in announced}
    if row not in {"must take", "must take or roll"}:
        found.add(("pass",))
    return found


def turn_of(position: Position, seat: int) -> Position:
    """Return the position at the beginning of a seat's turn."""
    return replace(position, seat=seat, throws=0, dice=(), announced=None, waits_for="throw")


def next_turn(position: Position) -> Position:
    """Return the position at the beginning of the next seat's turn, clockwise."""
    return turn_of(position, (position.seat + 1) % position.seats)


def moved(position: Position, tile: int, place: str, owner: int | None) -> Position:
    """Return the position with one tile moved."""
    return replace(position, where={**position.where, tile: (place, owner)})


def thrown(position: Position, dice: tuple[str, ...]) -> Position:
    """Return the position after a throw and its automatic effects."""
    position = replace(position, dice=dice, throws=position.throws + 1, waits_for="choice")
    row, _ = rows_of_the_table(position)
    if row == "rotten":
        return next_turn(position)
    if row == "own hit":
        number = sum(0 if face == "star" else int(face) for face in dice)
        if position.where[number][0] == "safe":
            return next_turn(moved(position, number, "open", position.seat))
        return next_turn(moved(position, number, "out", None))
    if row == "miss" and position.throws == 3:
        mine = tiles_of(position, position.seat, "open", "safe")
        if sum(position.teeth[tile] for tile in mine) >= 3:
            return replace(position, waits_for="surrender")
        for tile in mine:
            position = moved(position, tile, "out", None)
        return next_turn(position)
    return position


def chosen(position: Position, choice: Named) -> Position:
    """Return the position after a legal choice."""
    if choice[0] == "pass":
        return next_turn(position)
    if choice[0] == "roll":
        return replace(position, announced=choice[2], waits_for="throw")
    if choice[0] == "surrender":
        for tile in choice[1]:
            position = moved(position, tile, "out", None)
        return next_turn(position)
    _, tile, safe = choice
    row, _ = rows_of_the_table(position)
    after = moved(position, tile, "safe" if safe else "open", position.seat)
    if not any(place == "middle" for place, _ in after.where.values()):
        return replace(after, waits_for="end")
    by_number = row == "hit"
    if position.announced == tile and (by_number or position.edition == "original"):
        return turn_of(after, position.seat)
    return next_turn(after)


def placed(position: Position) -> tuple[int, ...]:
    """Return the place of every seat: one more than the number of better seats."""

    def better(one: int, other: int) -> bool:
        ones, others = (tiles_of(position, seat, "open", "safe") for seat in (one, other))
        teeth_of_one = sum(position.teeth[tile] for tile in ones)
        teeth_of_other = sum(position.teeth[tile] for tile in others)
        if teeth_of_one != teeth_of_other:
            return teeth_of_one > teeth_of_other
        return max(ones, default=0) > max(others, default=0)

    return tuple(
        1 + sum(better(other, seat) for other in range(position.seats) if other != seat)
        for seat in range(position.seats)
    )
