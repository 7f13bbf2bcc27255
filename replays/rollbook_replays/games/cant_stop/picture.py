"""Can't Stop as a picture: eleven columns, runners, the markers of every seat, and the throw."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from rollbook.rules.cant_stop.moves import Advance
from rollbook.rules.cant_stop.view import Column, View
from rollbook_replays.games.picture import (
    REMEMBERED,
    Picture,
    Shape,
    Zone,
    box,
    dice_row,
    front,
    label,
    mark,
    pips,
    place_at,
    shape,
)
from rollbook_replays.games.seats import seat_style
from rollbook_replays.games.words import Words

WIDTH: Final = 52
HEIGHT: Final = 37
ACROSS: Final = 58
UP: Final = 43
GROUND: Final = 539
"""Vertical position of the lowest fields: all columns start on one line, so that heights can be compared."""
BOARD: Final = (646.0, 598.0)
SLOT: Final = 48

PAWN: Final = (
    "M0-16a6.5 6.5 0 0 1 3.6 11.9L8 12a1.5 1.5 0 0 1-1.4 2h-13.2a1.5 1.5 0 0 1-1.4-2L-3.6-4.1A6.5 6.5 0 0 1 0-16z"
)
FLAG: Final = "M-6 12V-11l16 7-14 7v9z"


def picture(view: View, words: Words) -> Picture:
    """The board, the dice, and the columns that each seat has won."""
    seat = -1 if view.seat is None else view.seat
    columns = [_column(column, seat, 33 + number * ACROSS) for number, column in enumerate(view.columns)]
    ghost = shape("defs", shape("path", id="ghost", d=PAWN, classes="pawn ghost"))
    zones = [Zone("board", *BOARD, (ghost, *columns))]
    if view.dice:
        zones.append(dice_row(("", pips(face)) for face in view.dice))
    seats = len(view.columns[0].markers)
    zones += [front(each, 4 * SLOT, 34, _held(view, each)) for each in range(seats)]
    return Picture(tuple(zones), _sentence(view, words))


def list_touched(view: View, choice: Any) -> tuple[str, ...]:
    """The fields that runners would reach."""
    if not isinstance(choice, Advance):
        return ()
    by_number = {column.number: column for column in view.columns}
    return tuple(
        f"field-{number}-{_reached_height(by_number[number], view.seat) + choice.columns.count(number)}"
        for number in sorted(set(choice.columns))
    )


def _held(view: View, seat: int) -> Iterator[Shape]:
    won = [column.number for column in view.columns if column.winner == seat]
    for place, number in enumerate(won):
        slot = box(SLOT - 8, 30, "rim", 8)
        yield place_at(SLOT / 2 + place * SLOT, 17, slot, label(number, 0, 0, 20, "count strong"), id=f"held-{number}")


def _reached_height(column: Column, seat: int | None) -> int:
    return column.runner or (0 if seat is None else column.markers[seat])


@lru_cache(REMEMBERED)
def _column(column: Column, seat: int, x: float) -> Shape:
    """The fields of a column from the bottom up."""
    parts = [_field(column, seat, height) for height in range(1, column.length + 1)]
    top = GROUND - (column.length - 1) * UP
    if column.winner is not None:
        parts.append(place_at(0, top, mark(column.winner, 0, 0, 12, "stamp"), id=f"won-{column.number}"))
    elif column.runner < column.length and column.length not in column.markers:
        parts.append(place_at(0, top, shape("path", d=FLAG, classes="flag")))
    if column.runner:
        y = GROUND - (column.runner - 1) * UP
        aside = 12 if column.runner in column.markers else 0
        pawn = shape("path", d=PAWN, classes="pawn")
        parts.append(place_at(aside, y, pawn, id=f"runner-{column.number}"))
    parts.append(label(column.number, 0, GROUND + 40, 26, "on-cloth strong"))
    return place_at(x, 0, *parts, id=f"column-{column.number}")


def _field(column: Column, seat: int, height: int) -> Shape:
    here = [each for each, reached in enumerate(column.markers) if reached == height and column.winner is None]
    classes = "cell"
    if column.winner is not None:
        classes = f"won {seat_style(column.winner)}"
    elif seat >= 0 and column.markers[seat] < height <= column.runner:
        classes = f"trail {seat_style(seat)}"
    field = box(WIDTH, HEIGHT, f"face {classes}")
    aside = -12 if column.runner == height and here else 0
    markers = _markers(here, column.number, aside)
    return place_at(0, GROUND - (height - 1) * UP, field, *markers, id=f"field-{column.number}-{height}")


def _markers(seats: list[int], column: int, aside: float) -> Iterator[Shape]:
    room = (WIDTH - 4) / 2 if aside else WIDTH - 4
    for place, seat in enumerate(seats):
        x = aside + room * ((place + 0.5) / len(seats) - 0.5)
        size = 10 if len(seats) == 1 else 5 if len(seats) > 2 or aside else 7.5  # noqa: PLR2004 - as many as fit
        yield place_at(x, 0, mark(seat, 0, 0, size), id=f"marker-{column}-{seat}")


def _sentence(view: View, words: Words) -> str:
    runners = [
        words("picture.at", column=column.number, height=column.runner) for column in view.columns if column.runner
    ]
    dice = words("picture.dice", dice=words.both(view.dice)) if view.dice else ""
    where = words("picture.runners", places=words.both(runners)) if runners else words("picture.no_runners")
    return " ".join(part for part in (words("picture.board"), dice, where) if part)
