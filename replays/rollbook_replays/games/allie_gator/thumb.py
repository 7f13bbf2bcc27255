"""Allie Gator as a small drawing: both piles with their targets, the room between them, and Allie."""

from collections.abc import Iterator
from typing import Final

from rollbook.rules.allie_gator.moves import HIGHEST_NUMBER, Card
from rollbook.rules.allie_gator.view import Pile, View
from rollbook_replays.games.allie_gator.picture import FANGS, GATOR
from rollbook_replays.games.picture import Shape, box, place_at, shape
from rollbook_replays.games.thumb import Thumb, put, stamp

_LANES: Final = (162, 418)
_BAR: Final = (175.0, 296.0)


def _pieces(view: View) -> Iterator[Shape]:
    step = _BAR[1] / HIGHEST_NUMBER
    for pile, y in zip(view.piles, _LANES, strict=True):
        if pile.targets:
            low, high = pile.cards[-1] if pile.cards else 0, pile.targets[-1]
            left, room = _BAR[0] + low * step, max(0, high - low) * step
            yield shape("rect", x=left, y=y - 12, width=room, height=24, rx=12, classes="gap")
    yield put("card", [(100, y) for pile, y in zip(view.piles, _LANES, strict=True) if pile.cards])
    yield put("target", [(546, y) for pile, y in zip(view.piles, _LANES, strict=True) if pile.targets])
    yield put("gator", [(250, _LANES[view.chip] - 116)])


_drawn_gator: Final = shape(
    "g",
    *(shape("path", d=path, classes="gator") for path in GATOR),
    shape("path", d=FANGS, classes="fang"),
    shape("circle", cx=44, cy=13, r=7, classes="fang"),
    shape("circle", cx=46, cy=13, r=3.4, classes="eye"),
    transform="translate(-70 -28) scale(1.2)",
)

THUMB: Final = Thumb(
    "allie_gator",
    (
        stamp("target", shape("g", box(76, 106, "top", 10), classes="target")),
        stamp("gator", _drawn_gator),
    ),
    tuple(
        each
        for y in _LANES
        for each in (
            place_at(323, y, box(610, 210, "lane", 26)),
            place_at(_BAR[0] + _BAR[1] / 2, y, box(_BAR[1], 24, "bar", 12)),
        )
    ),
    _pieces,
    View(1, 0, True, 0, (Pile((Card(52),), (Card(31),)), Pile((Card(60),), (Card(12),))), 40, (), ()),  # noqa: FBT003 - clockwise
)
