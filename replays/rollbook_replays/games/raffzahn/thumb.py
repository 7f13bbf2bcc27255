"""Raffzahn as a small drawing: the tiles in rows by their teeth, and whose sign is at the place of a taken one."""

from collections.abc import Iterator
from typing import Final

from rollbook.rules.raffzahn.moves import TEETH, TILES
from rollbook.rules.raffzahn.view import Row, View
from rollbook_replays.games.picture import Shape, box, shape
from rollbook_replays.games.raffzahn.picture import ACROSS, DOWN
from rollbook_replays.games.thumb import Thumb, put, put_signs, stamp


def _lay_out() -> dict[int, tuple[float, float]]:
    rows: dict[int, list[int]] = {}
    for tile in TILES:
        rows.setdefault(TEETH[tile], []).append(tile)
    ordered = [tiles for _, tiles in sorted(rows.items())]
    return {
        tile: (48 + place * ACROSS + (646 - ACROSS * max(map(len, ordered))) / 2, 52 + number * DOWN)
        for number, tiles in enumerate(ordered)
        for place, tile in enumerate(tiles)
    }


_PLACES: Final = _lay_out()


def _pieces(view: View) -> Iterator[Shape]:
    yield put("tile", [_PLACES[tile] for tile in view.middle])
    owned = [(seat, tile) for seat, row in enumerate(view.rows) for tile in (*row.open_tiles, *row.safe_tiles)]
    yield from put_signs((seat, _PLACES[tile]) for seat, tile in owned)
    yield put("bolt", [_PLACES[tile] for row in view.rows for tile in row.safe_tiles])
    yield put("out", [_PLACES[tile] for tile in view.out])


def _sample() -> View:
    taken = ({14, 19, 21}, {8, 24}, {12, 20, 30, 35})
    out = (10, 33)
    middle = tuple(tile for tile in TILES if tile not in out and not any(tile in tiles for tiles in taken))
    rows = tuple(Row(tuple(sorted(tiles - {35})), tuple(tiles & {35}), 0) for tiles in taken)
    return View(0, (), 0, None, middle, rows, out, (1, 2, 3))


THUMB: Final = Thumb(
    "raffzahn",
    (
        stamp("hole", box(84, 58, "cell", 10)),
        stamp("bolt", shape("line", x1=-20, y1=22, x2=20, y2=22, classes="bolt")),
        stamp("out", shape("line", x1=-20, y1=0, x2=20, y2=0, classes="out")),
    ),
    (put("hole", _PLACES.values()),),
    _pieces,
    _sample(),
)
