"""Würfelzoo as a small drawing: the dice in the middle, and a row of dice for each seat above and below it."""

from collections.abc import Iterator
from typing import Final

from rollbook.rules.wuerfelzoo.moves import NO_FACE
from rollbook.rules.wuerfelzoo.view import DieInFront, View
from rollbook_replays.games.picture import Shape, box, place_at, shape, solid
from rollbook_replays.games.thumb import SIZE, Thumb, put, put_signs, stamp
from rollbook_replays.games.wuerfelzoo.animals import LARGE_TO_SMALL
from rollbook_replays.games.wuerfelzoo.drawings import face

_DIE: Final = 64
_STEP: Final = 72
_DOWN: Final = 72
_MAT: Final = (430, 130)
_MIDDLE: Final = (SIZE[0] / 2, SIZE[1] / 2)
_TWICE: Final = shape("path", d="M-14-4l10 11M-4-4l-10 11M1-7c1-8 13-7 12 1-.6 5-9 8-12 14h13", classes="animal")
"""The face ×2, without letters."""


def _row(number: int, y: float, left: float) -> list[tuple[float, float]]:
    """Centres of this many dice beside each other; closer together if there are many."""
    step = min(_STEP, (SIZE[0] - left - _DIE) / max(1, number - 1))
    middle = left / 2 + SIZE[0] / 2
    return [(middle + (place - (number - 1) / 2) * step, y) for place in range(number)]


def _pieces(view: View) -> Iterator[Shape]:
    above = (len(view.dice) + 1) // 2
    x, middle = _MIDDLE
    places: dict[str, list[tuple[float, float]]] = {}
    laid = [view.species or NO_FACE] * len(view.middle) + ["x2"] * len(view.doubles)
    step = min(_STEP + 8, (_MAT[0] - 2 * _DIE) / max(1, len(laid) - 1))
    for number, name in enumerate(laid):
        places.setdefault(name, []).append((x + (number - (len(laid) - 1) / 2) * step, middle))
    signs = []
    for seat, dice in enumerate(view.dice):
        edge = middle + (_MAT[1] + _DOWN) / 2 - (0 if seat >= above else _MAT[1])
        y = edge + (seat - above) * _DOWN
        signs.append((seat, (20.0, y)))
        faces = sorted((one.face or NO_FACE for one in dice), key=LARGE_TO_SMALL.index)
        for name, place in zip(faces, _row(len(faces), y, 40), strict=True):
            places.setdefault(name, []).append(place)
    for name, at in places.items():
        yield put(f"die-{name}", at)
    yield from put_signs(signs)


def _sample() -> View:
    rows = ("elephant bear bear fox squirrel worm trap", "boar boar fox squirrel x2", "bear boar squirrel worm x2")
    dice = tuple(tuple(DieInFront(0, name) for name in row.split()) for row in rows)
    return View(1, 0, (0, 0, 0), dice, "fox", (1, 2), 0, (), 0, (), (), (), (1, 2, 3))


THUMB: Final = Thumb(
    "wuerfelzoo",
    tuple(
        stamp(
            f"die-{name}",
            shape("g", *solid(_DIE, _DIE, 11), *((_TWICE,) if name == "x2" else face(name)), classes=name),
        )
        for name in LARGE_TO_SMALL
    ),
    (place_at(*_MIDDLE, box(*_MAT, "mat", _MAT[1] / 2)),),
    _pieces,
    _sample(),
)
