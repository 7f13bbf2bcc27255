"""Tables as SVG pictures, in a page, which can move and mark their parts, or in a file of their own.

A picture has zones, such as the board, the dice and what is in front of each seat; a page places them by itself, and a
file stacks them. Every thing on a table has an id (`die-2`, `tile-27`, `runner-8`), which stays the same as long as the
thing exists; its shape with the class `face` is lit when the thing can be chosen. Colours are classes: a page defines
them in its own style sheet, and a separate file contains `SHEET`. Pictures contain no names of players, so that a
picture never has to change.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from rollbook_replays.games.seats import seat_style
from rollbook_replays.games.sheet import SHEET

WIDE: Final = 640
"""Width of a picture in a file, in units."""

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
class Zone:
    """A part of a table with coordinates of its own."""

    name: str
    """`board`, `dice`, `hand`, or `front-SEAT` for the things in front of a seat."""
    width: float
    height: float
    shapes: tuple[Shape, ...]
    id: str = ""

    def drawn(self, *before: Shape | str, **attributes: str | float) -> Shape:
        """The zone as an SVG element."""
        box = f"0 0 {_number(self.width)} {_number(self.height)}"
        classes = f"zone zone-{self.name.partition('-')[0]}"
        return shape("svg", *before, *self.shapes, id=self.id, classes=classes, viewBox=box, **attributes)


EDGE: Final = 16
SIGN: Final = 40
LARGEST_SCALE: Final = 1.2


@dataclass(frozen=True, slots=True)
class Picture:
    """The drawing of a table."""

    zones: tuple[Zone, ...]
    sentence: str
    """A description of the picture for screen readers."""
    has_pens: bool = False
    """Whether the things in front of the seats need more room than the plate of a player."""

    def zone(self, name: str) -> Shape:
        """A zone for a page, which has its own style sheet; empty if this table has none of that name."""
        found = next((zone for zone in self.zones if zone.name == name), None)
        if found is None:
            return Shape("")
        if name == "board":
            return found.drawn(shape("title", self.sentence), role="img")
        return found.drawn(aria_hidden="true")

    def standalone(self) -> str:
        """All zones, one below the other, as the SVG for a file, with its style sheet."""
        y, parts = float(EDGE), []
        for zone in self.zones:
            front = zone.name.partition("-")[2]
            left = EDGE + (SIGN if front else 0)
            room = WIDE - EDGE - left
            scale = min(LARGEST_SCALE, room / zone.width)
            width, height = zone.width * scale, zone.height * scale
            x = left if front else left + (room - width) / 2
            if front:
                parts.append(mark(int(front), EDGE + 14, y + height / 2, 12))
            parts.append(zone.drawn(x=x, y=y, width=width, height=height))
            y += height + EDGE
        cloth = shape("rect", width=WIDE, height=y, rx=EDGE, classes="cloth")
        sheet, box = shape("style", SHEET), f"0 0 {WIDE} {_number(y)}"
        title, namespace = shape("title", self.sentence), "http://www.w3.org/2000/svg"
        return shape(
            "svg",
            title,
            sheet,
            cloth,
            *parts,
            classes="zone",
            role="img",
            viewBox=box,
            color="#f4efe4",
            xmlns=namespace,
        )


# Things common to several games


def place_at(
    x: float,
    y: float,
    *parts: Shape | str,
    id: str = "",  # noqa: A002 - SVG's word
    classes: str = "",
    tilt: float = 0,
) -> Shape:
    """The parts, drawn around 0, 0, moved to this position."""
    turned = f" rotate({_number(tilt)})" if tilt else ""
    return shape("g", *parts, id=id, classes=classes, transform=f"translate({_number(x)} {_number(y)}){turned}")


@lru_cache(REMEMBERED, typed=True)
def label(text: object, x: float, y: float, size: float, classes: str = "on-cloth") -> Shape:
    """A word or a number, centred at this position."""
    middle = y + size * 0.35
    return shape("text", str(text), x=x, y=middle, font_size=size, text_anchor="middle", classes=classes)


@lru_cache(REMEMBERED)
def box(width: float, height: float, classes: str, radius: float = 9) -> Shape:
    """A rectangle with round corners around 0, 0."""
    return shape("rect", x=-width / 2, y=-height / 2, width=width, height=height, rx=radius, classes=classes)


DEPTH: Final = 5


@lru_cache(REMEMBERED)
def solid(width: float, height: float, radius: float = 10) -> tuple[Shape, Shape]:
    """A piece of wood or ivory around 0, 0: its edge below, and its top."""
    edge = shape("rect", x=-width / 2, y=-height / 2 + DEPTH, width=width, height=height, rx=radius, classes="under")
    return edge, box(width, height, "face top", radius)


PIPS: Final = {
    1: ((1, 1),),
    2: ((0, 0), (2, 2)),
    3: ((0, 0), (1, 1), (2, 2)),
    4: ((0, 0), (0, 2), (2, 0), (2, 2)),
    5: ((0, 0), (0, 2), (1, 1), (2, 0), (2, 2)),
    6: ((0, 0), (0, 1), (0, 2), (2, 0), (2, 1), (2, 2)),
}
"""Where the pips of a number are, in a square of three by three."""

DIE: Final = 56
"""Side of a die."""
STEP: Final = 74
"""Distance of the centres of two dice in a row."""


def dice_row(dice: Iterable[tuple[str, Iterable[Shape]]]) -> Zone:
    """The zone of thrown dice, from the classes and the face of each; ids count from 0."""
    drawn = [
        thrown(number, STEP / 2 + number * STEP, STEP / 2 - 2, tuple(face), classes)
        for number, (classes, face) in enumerate(dice)
    ]
    return Zone("dice", STEP * max(1, len(drawn)), STEP, tuple(drawn))


@lru_cache(REMEMBERED)
def die(number: int, x: float, y: float, face: tuple[Shape, ...], classes: str = "") -> Shape:
    """A die around this position."""
    return place_at(x, y, *solid(DIE, DIE, 11), *face, id=f"die-{number}", classes=f"die {classes}".strip())


def thrown(number: int, x: float, y: float, face: tuple[Shape, ...], classes: str = "") -> Shape:
    """A die around this position, slightly turned."""
    return place_at(x, y, die(number, 0, 0, face, classes), tilt=(number * 37 + 17) % 11 - 5)


@lru_cache(REMEMBERED)
def pips(number: int) -> tuple[Shape, ...]:
    """The face of a die that shows this number: points of a line with round ends."""
    points = "".join(f"M{(column - 1) * 16.5:g} {(row - 1) * 16.5:g}h0" for column, row in PIPS[number])
    return (shape("path", d=points, classes="pips"),)


STAR: Final = "0,-1 .29,-.4 .95,-.31 .48,.15 .59,.81 0,.5 -.59,.81 -.48,.15 -.95,-.31 -.29,-.4"

TOOTH: Final = (
    "M-8-9C-4-11-1-8 0-8S4-11 8-9C10-7 9 2 6 10C5 12 3 11 2.5 8L1.5 4h-3L-2.5 8C-3 11-5 12-6 10C-9 2-10-7-8-9z"
)
"""The outline of a tooth around 0, 0, as the data of a path."""


@lru_cache(REMEMBERED)
def tooth(x: float, y: float, classes: str = "tooth") -> Shape:
    """A tooth around this position."""
    return place_at(x, y, shape("path", d=TOOTH, classes=classes))


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


def mark(seat: int, x: float, y: float, size: float, classes: str = "mark") -> Shape:
    """The sign of a seat, in its colour."""
    if seat < len(MARKS):
        return polygon(MARKS[seat], x, y, size, f"{classes} {seat_style(seat)}")
    return label(seat + 1, x, y, 2 * size, f"{classes} {seat_style(seat)}")


def front(seat: int, width: float, height: float, shapes: Iterable[Shape]) -> Zone:
    """The zone of the things in front of a seat."""
    return Zone(f"front-{seat}", width, height, tuple(shapes), id=f"seat-{seat}")
