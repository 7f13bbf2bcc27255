"""Drawings of the faces of Würfelzoo's dice; each animal has its own outline, so that colour is not needed."""

from collections.abc import Callable
from functools import cache
from typing import Final, TypeAlias

from rollbook_replays.games.picture import Shape, label, shape

Drawing: TypeAlias = tuple[Shape, ...]


def _line(path: str) -> Shape:
    return shape("path", d=path, classes="animal")


def _fill(path: str) -> Shape:
    return shape("path", d=path, classes="animal-ink")


def _dot(x: float, y: float, radius: float = 1.9) -> Shape:
    return shape("circle", cx=x, cy=y, r=radius, classes="animal-ink")


def _ring(x: float, y: float, radius: float) -> Shape:
    return shape("circle", cx=x, cy=y, r=radius, classes="animal")


def _eyes(y: float, apart: float = 5) -> Drawing:
    return _dot(-apart, y), _dot(apart, y)


# Each is drawn around 0, 0, from -17 to 17.
_ANIMALS: Final[dict[str, Callable[[], Drawing]]] = {
    "worm": lambda: (
        _line("M-15 8 C-11 -6 -6 -6 -3 4 S5 13 8 2 S12 -8 15 -9"),
        _line("M-15 12 C-10 -1 -7 0 -5 6 S6 18 11 4 S13 -4 15 -4"),
        _dot(14, -10, 2.4),
    ),
    "squirrel": lambda: (
        _line("M-4 15 C-16 12 -15 -14 -6 -15 C1 -15 0 -6 -5 -5"),
        _line("M-4 15 C8 16 10 6 6 -1"),
        _ring(8, -6, 6),
        _line("M7 -12 L10 -17 L12 -11"),
        _dot(10, -7),
    ),
    "fox": lambda: (
        _line("M-14 -14 L-13 1 L0 15 L13 1 L14 -14 L6 -7 L-6 -7 Z"),
        *_eyes(-1),
        _fill("M-2.6 10 L2.6 10 L0 14 Z"),
    ),
    "boar": lambda: (
        _ring(0, 0, 13),
        _line("M-12 -6 L-15 -15 L-6 -12 M12 -6 L15 -15 L6 -12"),
        shape("ellipse", cx=0, cy=5, rx=6.5, ry=4.5, classes="animal"),
        _dot(-2.4, 5, 1.4),
        _dot(2.4, 5, 1.4),
        *_eyes(-4),
        _line("M-9 10 L-11 3 M9 10 L11 3"),
    ),
    "bear": lambda: (
        _ring(0, 2, 13),
        _ring(-11, -10, 5),
        _ring(11, -10, 5),
        *_eyes(-1),
        _fill("M-3.5 5 L3.5 5 L0 9 Z"),
        _line("M-4 12 Q0 9 4 12"),
    ),
    "elephant": lambda: (
        _line("M-7 -12 C-22 -16 -20 8 -8 6 M7 -12 C22 -16 20 8 8 6"),
        _line("M-8 6 C-10 -14 10 -14 8 6 C6 8 4 9 4 13 C4 17 9 17 9 14 M-8 6 C-4 9 -2 12 -1 16"),
        *_eyes(-3, 4),
    ),
    "trap": lambda: (
        _line("M-15 -7 L-10 1 L-5 -7 L0 1 L5 -7 L10 1 L15 -7"),
        _line("M-15 9 L-10 3 L-5 9 L0 3 L5 9 L10 3 L15 9"),
        _line("M-15 -7 C-15 -18 15 -18 15 -7 M-15 9 C-15 19 15 19 15 9"),
    ),
    "x2": lambda: (label("×2", 0, 0, 22, "strong"),),
}


@cache
def face(name: str) -> Drawing:
    """The drawing of a face; empty for a die that was not thrown."""
    return _ANIMALS[name]() if name in _ANIMALS else ()


@cache
def stamp(name: str) -> Drawing:
    """A face by its name, as defined in `definitions`; empty for a die that was not thrown."""
    return (shape("use", href=f"#face-{name}"),) if name in _ANIMALS else ()


@cache
def definitions() -> Shape:
    """All faces, for a picture or a page with stamps."""
    return shape("defs", *(shape("g", *face(name), id=f"face-{name}") for name in _ANIMALS))
