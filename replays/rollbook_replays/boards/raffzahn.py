"""Raffzahn, told and drawn: the tiles in the middle, what lies open and safe, and the teeth of it all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rollbook.rules.chance import FirstSeat
from rollbook.rules.raffzahn import TEETH, TILES, Choice, Outcome, Pass, Roll, State, Take, View
from rollbook_replays.boards.telling import Names, Telling
from rollbook_replays.text import FAINT, HEADING, Pen, boxes, centred, listed, name_width, padded, seat_style, wrapped

STYLES: Final = ("yellow", "blue", "blue")
DICE: Final = ("yellow", "the first blue", "the second blue")
FACES: Final = {"star": "★", "rotten": "✗"}
A_ROW: Final = 10


def happened(outcome: Outcome, names: Names, pen: Pen) -> str:
    """The dice as they lie, yellow first, or who starts."""
    if isinstance(outcome, FirstSeat):
        return f"{names[outcome.seat]} starts"
    return " ".join(pen(f"[{FACES.get(face, face)}]", style) for face, style in zip(outcome.dice, STYLES, strict=True))


def chosen(choice: Choice, _names: Names, _state: State) -> str:
    """What the seat does with its dice and tiles."""
    if isinstance(choice, Roll):
        dice = "all dice" if len(choice.dice) == len(DICE) else listed([DICE[die] for die in choice.dice])
        announced = "" if choice.announce is None else f", announcing tile {choice.announce}"
        return f"throws {dice} again{announced}"
    if isinstance(choice, Take):
        return f"takes tile {choice.tile} and lays it {'safe' if choice.safe else 'open'}"
    if isinstance(choice, Pass):
        return "passes"
    return f"surrenders {'tile' if len(choice.tiles) == 1 else 'tiles'} {listed(choice.tiles)}"


def board(view: View, names: Names, pen: Pen) -> Iterator[str]:
    """The middle as four rows of ten with teeth as ticks, and a row a seat."""
    yield pen("In the middle, with their teeth", HEADING)
    for first in range(TILES[0], TILES[-1] + 1, A_ROW):
        row = range(first, first + A_ROW)
        yield "  " + "".join(_tile(tile, there=tile in view.middle, pen=pen) for tile in row).rstrip()
    yield ""
    columns = name_width(names)
    for seat, (name, row_of) in enumerate(zip(names, view.rows, strict=True)):
        yield (
            f"{seat}  {pen(padded(name, columns), seat_style(seat))}  place {view.places[seat]}, {_teeth(row_of.teeth)}"
        )
        yield from wrapped(_tiles(row_of.open_tiles), 12, "     open")
        yield from wrapped(_tiles(row_of.safe_tiles), 12, "     safe")
    yield from wrapped(_tiles(view.out), 12, "out of it")
    if view.dice:
        inks = [lambda text, style=style: pen(text, style) for style in STYLES]
        yield ""
        yield from boxes([(centred(FACES.get(face, face), 2),) for face in view.dice], inks)
        announced = "" if view.announced is None else f", tile {view.announced} announced"
        yield pen(f"throw {view.throws} of this turn{announced}", FAINT)


def _tile(tile: int, *, there: bool, pen: Pen) -> str:
    """Seven columns: the number and its teeth."""
    if not there:
        return pen("  ·    ", FAINT)
    return pen(f"{tile:>3}", HEADING) + f"×{TEETH[tile]}  "  # noqa: RUF001 - times is meant


def _tiles(tiles: tuple[int, ...]) -> list[str]:
    return [str(tile) for tile in tiles] or ["none"]


def _teeth(number: int) -> str:
    return "1 tooth" if number == 1 else f"{number} teeth"


TELLING: Final = Telling(happened, chosen, board, turn_lost="the turn is over")
