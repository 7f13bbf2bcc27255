"""A diagram of the standing of all seats over a whole match, which reveals the result."""

from __future__ import annotations

from typing import Final

from markupsafe import Markup

from rollbook_clients.terminal.film import Film
from rollbook_replays.games.picture import WIDE, label, mark, shape
from rollbook_replays.games.seats import seat_style
from rollbook_replays.games.words import Words

MOST_POINTS: Final = 120
TOP: Final = 24
ROW: Final = 36
LEFT: Final = 34
RIGHT: Final = 34


def timeline(film: Film, words: Words) -> Markup:
    """Draw the place of every seat at the beginning of turns and at the end."""
    turns = film.turns or [1]
    moments = [*turns[:: max(1, len(turns) // MOST_POINTS)], len(film)]
    places = [film.places(at) for at in moments]
    seats = len(places[0])
    across = WIDE - LEFT - RIGHT

    def at(number: int, place: int, seat: int) -> tuple[float, float]:
        # Shift lines of seats that share a place.
        x = LEFT + across * (moments[number] - moments[0]) / max(1, moments[-1] - moments[0])
        return x, TOP + ROW * (place - 1) + 4 * seat

    shapes = [label(f"{place}.", 12, TOP + ROW * (place - 1) + 4, 22) for place in range(1, seats + 1)]
    for seat in range(seats):
        points = [at(number, standing[seat], seat) for number, standing in enumerate(places)]
        drawn = " ".join(f"{x:.4g},{y:.4g}" for x, y in points)
        shapes.append(shape("polyline", points=drawn, classes=f"line {seat_style(seat)}"))
        x, y = points[-1]
        shapes.append(mark(seat, x + 14, y, 9))
    title = shape("title", words("replay.timeline"))
    box = f"0 0 {WIDE} {TOP + ROW * seats}"
    svg = shape("svg", title, *shapes, classes="board timeline", role="img", viewBox=box)
    return Markup(svg)  # noqa: S704 - shapes escape what is in them
