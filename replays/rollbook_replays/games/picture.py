"""Tables as SVG pictures, in a page, which can move and mark their parts, or in a file of their own.

Every thing on a table has an id (`die-2`, `tile-27`, `runner-8`), which stays the same as long as the thing exists.
Colours are classes: a page defines them in its own style sheet, and a separate file contains `SHEET`. Pictures contain
no names of players, so that a picture never has to change.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from rollbook_replays.games.seats import seat_style

WIDE: Final = 480
"""Width of every picture in units: slightly smaller than pixels on a phone, larger on a desktop."""

REMEMBERED: Final = 4_096
"""Cache size for drawn things: most of a table stays the same from one picture to the next."""


class Shape(str):
    """One element of a drawing with its content, as SVG text."""

    __slots__ = ()


def shape(tag: str, *parts: Shape | str, classes: str = "", **attributes: str | float) -> Shape:
    """An SVG element; attribute names have underscores for hyphens, and empty attributes are left out.

    >>> shape("g", shape("circle", id="die-1", r=2.5), "1 < 2", classes="die")
    '<g class="die"><circle id="die-1" r="2.5"/>1 &lt; 2</g>'
    """
    written = "".join(_attribute(name, _number(value)) for name, value in attributes.items())
    written += _attribute("class", classes)
    if not parts:
        return Shape(f"<{tag}{written}/>")
    inside = "".join(part if isinstance(part, Shape) else escape(part) for part in parts)
    return Shape(f"<{tag}{written}>{inside}</{tag}>")


@lru_cache(REMEMBERED)
def _attribute(name: str, value: str) -> str:
    return f" {name.replace('_', '-')}={quoteattr(value)}" if value else ""


def _number(value: str | float) -> str:
    return value if isinstance(value, str) else f"{round(value, 2):g}"


@dataclass(frozen=True, slots=True)
class Picture:
    """The drawing of a table."""

    height: float
    shapes: tuple[Shape, ...]
    sentence: str
    """A description of the picture for screen readers."""

    def inline(self) -> str:
        """The SVG for a page, which has its own style sheet."""
        return self._drawn()

    def standalone(self) -> str:
        """The SVG for a file, with its style sheet."""
        return self._drawn(shape("style", SHEET), xmlns="http://www.w3.org/2000/svg")

    def _drawn(self, *before: Shape, **attributes: str) -> Shape:
        box = f"0 0 {WIDE} {_number(self.height)}"
        title = shape("title", self.sentence)
        return shape("svg", title, *before, *self.shapes, classes="board", role="img", viewBox=box, **attributes)


# Things common to several games


def placed(x: float, y: float, *parts: Shape | str, id: str = "", classes: str = "") -> Shape:  # noqa: A002 - SVG's word
    """The parts, drawn around 0, 0, moved to this position."""
    return shape("g", *parts, id=id, classes=classes, transform=f"translate({_number(x)} {_number(y)})")


@lru_cache(REMEMBERED, typed=True)
def label(text: object, x: float, y: float, size: float, classes: str = "") -> Shape:
    """A word or a number, centred at this position."""
    return shape(
        "text",
        str(text),
        x=x,
        y=y + size * 0.35,
        font_size=size,
        text_anchor="middle",
        classes=f"ink {classes}".strip(),
    )


@lru_cache(REMEMBERED)
def box(width: float, height: float, classes: str, radius: float = 6) -> Shape:
    """A rectangle with round corners."""
    return shape("rect", width=width, height=height, rx=radius, classes=classes)


PIPS: Final = {
    1: ((1, 1),),
    2: ((0, 0), (2, 2)),
    3: ((0, 0), (1, 1), (2, 2)),
    4: ((0, 0), (0, 2), (2, 0), (2, 2)),
    5: ((0, 0), (0, 2), (1, 1), (2, 0), (2, 2)),
    6: ((0, 0), (0, 1), (0, 2), (2, 0), (2, 1), (2, 2)),
}
"""Where the pips of a number are, in a square of three by three."""

DIE: Final = 86
PIP: Final = 9.5


@lru_cache(REMEMBERED)
def die(x: float, y: float, *parts: Shape | str, id: str, classes: str = "die") -> Shape:  # noqa: A002 - SVG's word
    """A large die; its parts are drawn from its corner."""
    return placed(x, y, box(DIE, DIE, "cube", 14), *parts, id=id, classes=classes)


@lru_cache(REMEMBERED)
def pips(number: int) -> tuple[Shape, ...]:
    """The face of a die that shows this number."""
    return tuple(
        shape("circle", cx=DIE / 2 + (column - 1) * 26, cy=DIE / 2 + (row - 1) * 26, r=PIP, classes="pip")
        for column, row in PIPS[number]
    )


STAR: Final = "0,-1 .29,-.4 .95,-.31 .48,.15 .59,.81 0,.5 -.59,.81 -.48,.15 -.95,-.31 -.29,-.4"

MARKS: Final = (
    "-.8,-.8 .8,-.8 .8,.8 -.8,.8",
    "0,-1 .95,.75 -.95,.75",
    "0,-1.05 1.05,0 0,1.05 -1.05,0",
    "0,1 .95,-.75 -.95,-.75",
    STAR,
    "-.35,-1 .35,-1 .35,-.35 1,-.35 1,.35 .35,.35 .35,1 -.35,1 -.35,.35 -1,.35 -1,-.35 -.35,-.35",
)
"""The signs of the seats as points with coordinates from -1 to 1: ■ ▲ ◆ ▼ ★ ✚."""


@lru_cache(REMEMBERED)
def polygon(points: str, x: float, y: float, size: float, classes: str) -> Shape:
    """A polygon of points with coordinates from -1 to 1, scaled by `size` around this position."""
    pairs = (point.split(",") for point in points.split())
    drawn = " ".join(f"{_number(x + size * float(a))},{_number(y + size * float(b))}" for a, b in pairs)
    return shape("polygon", points=drawn, classes=classes)


def mark(seat: int, x: float, y: float, size: float) -> Shape:
    """The sign of a seat, in its colour."""
    if seat < len(MARKS):
        return polygon(MARKS[seat], x, y, size, seat_style(seat))
    return label(seat + 1, x, y, 2 * size, seat_style(seat))


def seat_row(seat: int, y: float, *, on_turn: bool) -> Iterable[Shape]:
    """The sign of a seat at the start of its row, with a pointer if it is on turn."""
    if on_turn:
        yield polygon("-.7,-1 .9,0 -.7,1", 12, y, 8, "pointer")
    yield placed(34, y, mark(seat, 0, 0, 11), id=f"seat-{seat}")


SHEET: Final = """
.board { font-family: system-ui, "DejaVu Sans", sans-serif; --ink: #1b1f24; --line: #57606a; --felt: #eef1ec;
  --field: #ffffff; --cube: #fffdf5; --seat0: #b3261e; --seat1: #0b57d0; --seat2: #7a5c00; --seat3: #146c2e;
  --seat4: #8e24aa; --seat5: #00696d; }
@media (prefers-color-scheme: dark) { .board { --ink: #f0f3f6; --line: #9ea7b3; --felt: #1c2128; --field: #2d333b;
  --cube: #3a4149; --seat0: #ff9a91; --seat1: #8ab4ff; --seat2: #f2cc60; --seat3: #7ee2a0; --seat4: #e4a6f5;
  --seat5: #6fdde3; } }
.ink { fill: var(--ink); } .faint { fill: var(--line); } .strong { font-weight: 700; }
.felt { fill: var(--felt); } .field { fill: var(--field); stroke: var(--line); stroke-width: 1.5; }
.cube { fill: var(--cube); stroke: var(--ink); stroke-width: 2.5; } .pip { fill: var(--ink); }
.pointer { fill: var(--ink); }
.seat0 { fill: var(--seat0); } .seat1 { fill: var(--seat1); } .seat2 { fill: var(--seat2); }
.seat3 { fill: var(--seat3); } .seat4 { fill: var(--seat4); } .seat5 { fill: var(--seat5); }
.runner { fill: var(--ink); stroke: var(--field); stroke-width: 2.5; }
.outline { fill: none; stroke: var(--ink); stroke-width: 3; stroke-linejoin: round; stroke-linecap: round; }
.tooth { fill: var(--ink); } .gone { fill: none; stroke: var(--line); stroke-dasharray: 4 4; }
.yellow .cube { fill: #ffe08a; } .blue .cube { fill: #a9cdff; } .yellow .pip, .blue .pip, .yellow .ink, .blue .ink,
.yellow .tooth, .blue .tooth, .x2 .ink { fill: #1b1f24; }
.announced .field { stroke: var(--ink); stroke-width: 4; } .safe .field { stroke-dasharray: 5 3; }
.back { fill: var(--line); stroke: var(--ink); stroke-width: 1.5; }
.worm .cube { fill: #f7b8c8; } .squirrel .cube { fill: #f3a96b; } .fox .cube { fill: #ff8f4d; }
.boar .cube { fill: #c9b8a8; } .bear .cube { fill: #c69266; } .elephant .cube { fill: #b9c6d6; }
.trap .cube { fill: #e6e6e6; } .x2 .cube { fill: #ffe08a; }
.animal { fill: none; stroke: #1b1f24; stroke-width: 2.2; stroke-linejoin: round; stroke-linecap: round; }
.animal-ink { fill: #1b1f24; } .reverse .field { fill: #cfe3ff; } .steal .field { fill: #ffd3cf; }
.raise .field { fill: #d3f0d8; } .gift .field { fill: #eddcf9; } .reverse .ink, .steal .ink, .raise .ink,
.gift .ink, .reverse .outline, .steal .outline, .raise .outline, .gift .outline { --ink: #1b1f24; }
"""
"""The style sheet for the classes, with a light and a dark theme."""
