"""Can't Stop as a picture: eleven columns, runners, the markers of every seat, and the throw."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from rollbook.rules.cant_stop.moves import Advance
from rollbook.rules.cant_stop.view import Column, View
from rollbook_replays.games.picture import (
    DIE,
    REMEMBERED,
    WIDE,
    Picture,
    Shape,
    box,
    die,
    label,
    mark,
    pips,
    placed,
    shape,
)
from rollbook_replays.games.words import Words

FIELD: Final = 27
STEP: Final = 42
TOP: Final = 34
TALLEST: Final = 13
DICE_TOP: Final = TOP + TALLEST * FIELD + 22


def picture(view: View, words: Words) -> Picture:
    """The board above, the dice below."""
    columns = [_column(column, 12 + number * STEP) for number, column in enumerate(view.columns)]
    gap = (WIDE - 4 * DIE) / 5
    dice = [die(gap + n * (DIE + gap), DICE_TOP, *pips(face), id=f"die-{n}") for n, face in enumerate(view.dice)]
    return Picture(DICE_TOP + DIE + 8, (*columns, *dice), _sentence(view, words))


def touched(view: View, choice: Any) -> tuple[str, ...]:
    """The fields that runners would reach."""
    if not isinstance(choice, Advance):
        return ()
    by_number = {column.number: column for column in view.columns}
    return tuple(
        f"field-{number}-{_reached(by_number[number], view.seat) + choice.columns.count(number)}"
        for number in sorted(set(choice.columns))
    )


def _reached(column: Column, seat: int | None) -> int:
    return column.runner or (0 if seat is None else column.markers[seat])


@lru_cache(REMEMBERED)
def _column(column: Column, x: float) -> Shape:
    """The fields of a column from the bottom up, centred in the height of the board."""
    bottom = TOP + (TALLEST + column.length) * FIELD / 2
    head = bottom - column.length * FIELD
    parts = [label(column.number, STEP / 2 - 2, head - 15, 21, "strong")]
    parts += [_field(column, height, bottom - height * FIELD) for height in range(1, column.length + 1)]
    if column.winner is not None:
        top = head + FIELD / 2
        parts.append(placed(STEP / 2 - 2, top, mark(column.winner, 0, 0, 11), id=f"won-{column.number}"))
    if column.runner:
        y = bottom - (column.runner - 0.5) * FIELD
        pawn = shape("circle", cx=0, cy=0, r=10.5, classes="runner")
        parts.append(placed(STEP / 2 - 2, y, pawn, id=f"runner-{column.number}"))
    return placed(x, 0, *parts, id=f"column-{column.number}")


def _field(column: Column, height: int, y: float) -> Shape:
    here = [seat for seat, reached in enumerate(column.markers) if reached == height]
    number = f"{column.number}-{height}"
    return placed(0, y, box(STEP - 4, FIELD - 3, "field", 5), *_markers(here, column.number), id=f"field-{number}")


def _markers(seats: list[int], column: int) -> Iterator[Shape]:
    for place, seat in enumerate(seats):
        x = (STEP - 4) * (place + 0.5) / len(seats)
        size = 8.5 if len(seats) == 1 else 4.6 if len(seats) > 2 else 6.5  # noqa: PLR2004 - as many as fit
        yield placed(x, (FIELD - 3) / 2, mark(seat, 0, 0, size), id=f"marker-{column}-{seat}")


def _sentence(view: View, words: Words) -> str:
    runners = [
        words("picture.at", column=column.number, height=column.runner) for column in view.columns if column.runner
    ]
    dice = words("picture.dice", dice=words.both(view.dice)) if view.dice else ""
    where = words("picture.runners", places=words.both(runners)) if runners else words("picture.no_runners")
    return " ".join(part for part in (words("picture.board"), dice, where) if part)
