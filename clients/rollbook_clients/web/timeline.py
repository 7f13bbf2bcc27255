"""What a replay shows of a whole match: highlights as marks above the slider, and the places of all seats as lines.

All of it ends at the furthest event that the viewer has seen, which is at 80 % of the slider in every match. So neither
the slider nor the lines reveal the length or the result. With spoilers they cover the whole match.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final
from weakref import WeakKeyDictionary

from markupsafe import Markup

from rollbook.rules.chance import FirstSeat
from rollbook.rules.game import Watcher
from rollbook_clients.terminal.film import Film
from rollbook_replays.games import presentation
from rollbook_replays.games.picture import Shape, mark, polygon, shape
from rollbook_replays.games.presentation import Moment
from rollbook_replays.games.seats import Seating, seat_style

WHOLE: Final = 1_000
"""The largest value of the slider, the same for every match."""
SEEN: Final = 800
"""The value of the furthest event seen."""

ROWS: Final = {1: 26, 2: 26, 3: 23, 4: 19}
"""Height of a place in the strip, by the number of seats; above, `LOWEST_ROW`."""
LOWEST_ROW: Final = 15
TIED: Final = 5
"""Distance of the lines of seats that share a place."""
SLANT: Final = 6
"""Width of a change of places."""

SHAPES: Final = {
    "bust": "0,-1 .95,.8 -.95,.8",
    "steal": "0,-1.1 1,0 0,1.1 -1,0",
    "snap": "-1,-.8 -.5,.1 0,-.8 .5,.1 1,-.8 1,.8 -1,.8",
    "won": "0,-1 .7,-.7 1,0 .7,.7 0,1 -.7,.7 -1,0 -.7,-.7",
}
"""The shapes of the marks: corners with coordinates from -1 to 1."""


@dataclass(frozen=True, slots=True)
class Highlight:
    """A remarkable event."""

    event: int
    kind: str
    seat: int


class Outline:
    """A match at a glance: where it begins, its highlights, and the places after every event."""

    def __init__(self, film: Film) -> None:
        story = presentation(film.game.name).highlight
        self.first = len(film)
        """The first throw or draw; the last event if there is none."""
        self.places: list[tuple[int, ...]] = []
        """By event, event 1 first."""
        self.highlights: list[Highlight] = []
        before = film.view(1, Watcher.JUDGE)
        for number, (move, after, places) in enumerate(film.walk(), 1):
            self.places.append(places)
            if move is not None and not isinstance(move, FirstSeat):
                self.first = min(self.first, number)
                if before.seat is not None and (kind := story(move, Moment(before.seat, before, after))):
                    self.highlights.append(Highlight(number, kind, before.seat))
            before = after


_OUTLINES: Final[WeakKeyDictionary[Film, Outline]] = WeakKeyDictionary()


def outline_of(film: Film) -> Outline:
    """The outline of a film, computed once."""
    outline = _OUTLINES.get(film)
    if outline is None:
        outline = _OUTLINES[film] = Outline(film)
    return outline


@dataclass(frozen=True, slots=True)
class Scale:
    """The slider: which value each event has."""

    first: int
    furthest: int
    is_whole: bool
    """Whether the furthest event is the last one of the match, at the end of the slider."""

    @property
    def end(self) -> int:
        """The value of the furthest event."""
        return WHOLE if self.is_whole else SEEN

    def value(self, event: int) -> int:
        """The value of an event; 0 before the first throw."""
        part = (event - self.first) / max(1, self.furthest - self.first)
        return round(self.end * min(1.0, max(0.0, part)))

    def event(self, value: int) -> int:
        """The event at a value; the furthest one for the part of the slider behind it."""
        part = min(1.0, max(0.0, value / self.end))
        return self.first + round((self.furthest - self.first) * part)


def track(outline: Outline, scale: Scale, at: int, seating: Seating) -> Markup:
    """Draw the track of the slider with the marks above it."""
    here, seen = scale.value(at), scale.end
    bars = (_bar("rest", seen, WHOLE) if seen < WHOLE else Shape(""), _bar("seen", 0, seen), _bar("done", 0, here))
    marks = []
    for each in outline.highlights:
        if each.event <= scale.furthest:
            said = shape("title", seating.words(f"replay.{each.kind}", name=seating.name(each.seat)))
            sign = polygon(SHAPES[each.kind], 0, 0, 7, f"event {seat_style(each.seat)}")
            marks.append(_at(scale.value(each.event), 9, said, sign))
    return _mark_svg(shape("svg", *bars, *marks, id="track", classes="track", aria_hidden="true"))


def strip(outline: Outline, scale: Scale, seating: Seating) -> Markup:
    """Draw the places of all seats as a line each, up to the furthest event."""
    seats = len(seating.names)
    row = ROWS.get(seats, LOWEST_ROW)
    changes = list(_changes(outline, scale, row))
    lines: list[Shape] = []
    for seat in range(seats):
        path = _path([(x, heights[seat]) for x, heights in changes], scale.value(scale.furthest))
        lines += (shape("path", d=path, fill="none", classes=f"{kind} {seat_style(seat)}") for kind in ("edge", "line"))
    box = {"viewBox": f"0 0 {WHOLE} {row * seats}", "preserveAspectRatio": "none", "width": "100%", "height": "100%"}
    inside = shape("svg", *lines, **box)
    end = changes[-1][1]
    last = outline.places[scale.furthest - 1]
    beside = [12 + 14 * last[:seat].count(last[seat]) for seat in range(seats)]
    signs = [_at(scale.value(scale.furthest), end[seat], mark(seat, beside[seat], 0, 6)) for seat in range(seats)]
    title = shape("title", seating.words("replay.timeline"))
    return _mark_svg(shape("svg", title, inside, *signs, id="strip", classes="strip", role="img", height=row * seats))


def whole_strip(film: Film | None, seating: Seating) -> Markup:
    """The places over a whole match; empty without a film."""
    if film is None:
        return Markup()
    outline = outline_of(film)
    return strip(outline, Scale(outline.first, len(film), is_whole=True), seating)


def _changes(outline: Outline, scale: Scale, row: int) -> Iterator[tuple[int, list[float]]]:
    """The heights of all lines whenever a place changes, with the value of the slider."""
    events = range(scale.first, scale.furthest + 1)
    for places, same in groupby(events, lambda event: outline.places[event - 1]):
        above = [places[:seat].count(place) for seat, place in enumerate(places)]
        heights = [row * (place - 0.5) + TIED * over for place, over in zip(places, above, strict=True)]
        yield scale.value(next(same)), heights


def _path(points: list[tuple[int, float]], end: int) -> str:
    """The data of a path: level between changes, and slanted at them."""
    (_, height), *others = points
    parts, reached = [f"M0 {height:g}"], 0
    for x, to in others:
        if to == height:
            continue
        begins = max(reached, x - SLANT)
        parts.append(f"H{begins}L{x} {to:g}")
        reached, height = x, to
    return "".join([*parts, f"H{max(end, reached)}"])


def _bar(kind: str, left: int, right: int) -> Shape:
    width = f"{(right - left) / 10:g}%"
    return shape("rect", x=f"{left / 10:g}%", y=28, width=width, height=12, rx=6, classes=kind)


def _at(value: int, y: float, *parts: Shape) -> Shape:
    """Parts around a point on the scale of the slider, not stretched."""
    return shape("svg", *parts, x=f"{value / 10:g}%", y=y, overflow="visible")


def _mark_svg(svg: Shape) -> Markup:
    return Markup(svg)  # noqa: S704 - shapes escape what is in them
