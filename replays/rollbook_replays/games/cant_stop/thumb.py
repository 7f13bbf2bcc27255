"""Can't Stop as a small drawing: the columns, trails, won columns, markers and runners."""

from collections.abc import Iterator
from typing import Final

from rollbook.rules.cant_stop.view import Column, View
from rollbook_replays.games.cant_stop.picture import ACROSS, FLAG, HEIGHT, PAWN, UP, WIDTH
from rollbook_replays.games.picture import Shape, box, shape
from rollbook_replays.games.seats import seat_style
from rollbook_replays.games.thumb import SEATS, Thumb, put, put_signs, stamp

_LENGTHS: Final = {number: 13 - 2 * abs(7 - number) for number in range(2, 13)}
_GROUND: Final = 536


def _field(number: int, height: int, aside: float = 0) -> tuple[float, float]:
    return 33 + (number - 2) * ACROSS + aside, _GROUND - (height - 1) * UP


def _pieces(view: View) -> Iterator[Shape]:
    signs = []
    for column in view.columns:
        if column.winner is not None:
            heights = range(1, column.length + 1)
            yield put(f"won{column.winner}", [_field(column.number, height) for height in heights])
            continue
        if view.seat is not None and column.runner:
            heights = range(column.markers[view.seat] + 1, column.runner + 1)
            yield put(f"trail{view.seat}", [_field(column.number, height) for height in heights])
        for seat, height in enumerate(column.markers):
            beside = [other for other, reached in enumerate(column.markers) if reached == height]
            aside = 16 * (beside.index(seat) - (len(beside) - 1) / 2) if height else 0
            signs += [(seat, _field(column.number, height, aside))] if height else []
    yield from put_signs(signs)
    yield put("pawn", [_field(column.number, column.runner) for column in view.columns if column.runner])


def _sample() -> View:
    markers = {3: (1, 0, 3), 4: (0, 0, 2), 5: (3, 0, 2), 6: (2, 6, 0), 7: (3, 0, 0), 8: (4, 0, 6), 9: (0, 3, 0),
               10: (2, 0, 2), 11: (0, 1, 0)}  # fmt: skip
    runners = {7: 5, 8: 6, 4: 3}
    return View(
        0,
        (),
        tuple(
            Column(number, length, 2 if number == 12 else None, markers.get(number, (0, 0, 0)), runners.get(number, 0))  # noqa: PLR2004 - the column that is won
            for number, length in _LENGTHS.items()
        ),
        (1, 2, 3),
    )


THUMB: Final = Thumb(
    "cant_stop",
    (
        stamp("cell", box(WIDTH, HEIGHT, "cell")),
        stamp("flag", shape("path", d=FLAG, classes="flag")),
        stamp("pawn", shape("path", d=PAWN, classes="pawn")),
        *(stamp(f"won{seat}", box(WIDTH, HEIGHT, f"won {seat_style(seat)}")) for seat in range(SEATS)),
        *(stamp(f"trail{seat}", box(WIDTH, HEIGHT, f"trail {seat_style(seat)}")) for seat in range(SEATS)),
    ),
    (
        put("cell", [_field(number, height) for number, length in _LENGTHS.items() for height in range(1, length + 1)]),
        put("flag", [_field(number, length) for number, length in _LENGTHS.items()]),
    ),
    _pieces,
    _sample(),
)
