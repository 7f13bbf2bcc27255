"""Small drawings of tables for lists of matches: without text, and short, because a list sends them again and again.

What looks the same in every match of a game is defined once a page: the ground, and a stamp for each kind of piece. A
drawing then only places the ground, and for each kind of piece one path, which has the stamp at each of its points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from rollbook_replays.games.picture import Shape, box, mark, shape, solid

SIZE: Final = (646, 560)
"""Width and height of a thumb, the same for all games, so that lists are even."""

Places: TypeAlias = Iterable[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Thumb:
    """How the table of one game is drawn small."""

    game: str
    stamps: tuple[Shape, ...]
    """The definitions of the pieces, by `stamp`; those of the seats' signs are common to all games."""
    ground: tuple[Shape, ...]
    pieces: Callable[[Any], Iterable[Shape]]
    """Draws what a view adds to the ground."""
    sample: Any
    """A view from the middle of a match, to show what the game looks like."""

    @property
    def definitions(self) -> Shape:
        """The SVG definitions that a page needs once, if it shows thumbs of this game."""
        return shape("defs", *self.stamps, shape("g", *self.ground, id=f"t-{self.game}", fill="none"))

    def draw(self, view: Any, name: str = "") -> Shape:
        """The table as an SVG element with this id; only the ground for a view of None."""
        pieces = () if view is None else tuple(self.pieces(view))
        ground = shape("use", href=f"#t-{self.game}")
        width, height = SIZE
        inside = shape("g", *pieces, fill="none")
        return shape(
            "svg", ground, inside, id=name, classes="zone thumb", viewBox=f"0 0 {width} {height}", aria_hidden="true"
        )


def stamp(name: str, *parts: Shape) -> Shape:
    """The definition of a piece, drawn around 0, 0."""
    return shape(
        "marker", *parts, id=f"t-{name}", markerUnits="userSpaceOnUse", overflow="visible", viewBox="0 0 1 1",
        markerWidth=1, markerHeight=1,
    )  # fmt: skip


def put(name: str, places: Places) -> Shape:
    """Draw the piece at each of these points; an empty Shape if there are no points.

    >>> put("tile", [(12, 30), (40.04, 30)])
    '<path d="M0 0L12 30 40 30h0" marker-mid="url(#t-tile)"/>'
    """
    points = " ".join(f"{round(x)} {round(y)}" for x, y in places)
    return shape("path", d=f"M0 0L{points}h0", marker_mid=f"url(#t-{name})") if points else Shape()


SEATS: Final = 6
COMMON: Final = shape(
    "defs",
    *(stamp(f"seat{seat}", mark(seat, 0, 0, 13)) for seat in range(SEATS)),
    stamp("tile", *solid(84, 58)),
    stamp("card", *(box(72, 102, "under", 10),), *solid(72, 102)),
)
"""The definitions that several games need."""


def put_signs(places: Iterable[tuple[int, tuple[float, float]]]) -> Iterable[Shape]:
    """Draw the sign of each seat at its points; the argument has pairs of a seat and a point."""
    found: dict[int, list[tuple[float, float]]] = {}
    for seat, place in places:
        found.setdefault(seat, []).append(place)
    return [put(f"seat{seat}", at) for seat, at in sorted(found.items())]
