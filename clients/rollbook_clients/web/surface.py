"""The surface of a table: the plates of the players, the board, the things in front of the seats, dice and hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from rollbook_clients.terminal.known_game import KnownGame
from rollbook_replays.games.blocks import Room
from rollbook_replays.games.chart import Chart
from rollbook_replays.games.picture import mark, shape
from rollbook_replays.games.seats import Seating
from rollbook_replays.text import plain


@dataclass(frozen=True, slots=True)
class Surface:
    """The parts of a drawn table; a page places them."""

    game: str
    board: Markup
    tray: Markup
    """The dice, or the own hand."""
    fronts: tuple[Markup, ...]
    """The things in front of each seat."""
    pens: tuple[int, ...]
    """The seats whose things need more room than their plate."""
    charts: tuple[Chart, ...] = ()
    """The board in words."""


@dataclass(frozen=True, slots=True)
class ShownPlayer:
    """The plate of one seat."""

    seat: int
    mark: Markup
    name: str
    bot: str
    """The words that mark a bot; empty for a person."""
    is_taken: bool
    is_own: bool
    on_turn: bool
    points: str
    """The number of the score; empty without a score."""
    unit: str
    """The noun of the score, such as `teeth`."""
    is_ready: bool = False
    out: str = ""
    """How the seat left the match early, as text; empty if it did not."""
    away: str = ""
    """For how long its player is away, as text; empty if present or unknown."""
    place: int | None = None
    left_ms: int | None = None
    """Milliseconds left on its clock; None while the clock does not run."""


def surface(known: KnownGame, view: Any, seating: Seating) -> Surface:
    """The table as pictures, or as plain text for games without pictures."""
    charts = tuple(known.shown.charts(view, seating))
    if known.shown.picture is None:
        text = plain(known.shown.board(view, seating, Room()))
        return Surface(known.rules.name, Markup("<pre class='letters'>{}</pre>").format(text), Markup(), (), (), charts)
    picture = known.shown.picture(view, seating.words)
    fronts = tuple(drawn(picture.zone(f"front-{seat}")) for seat in range(len(seating.names)))
    tray = drawn(picture.zone("hand") or picture.zone("dice"))
    pens: tuple[int, ...] = ()
    if picture.has_pens:
        pens = tuple(seat for seat in range(len(fronts)) if seat != seating.own)
        tray = tray if seating.own is None else fronts[seating.own]
    return Surface(known.rules.name, drawn(picture.zone("board")), tray, fronts, pens, charts)


def drawn(svg: str) -> Markup:
    """A picture as HTML."""
    return Markup(svg)  # noqa: S704 - shapes escape what is in them


def sign_of(seat: int) -> Markup:
    """The sign of a seat as a small picture."""
    return drawn(shape("svg", mark(seat, 0, 0, 10), classes="sign", viewBox="-13 -13 26 26", aria_hidden="true"))


def score_of(known: KnownGame | None, view: Any, seat: int, seating: Seating) -> tuple[str, str]:
    """The score of a seat as a number and a noun; both are empty without a view."""
    if known is None or view is None:
        return "", ""
    points, _, unit = known.shown.score(view, seat, seating.words).partition(" ")
    return points, unit


def plates(known: KnownGame, view: Any, seating: Seating, names: Sequence[str]) -> tuple[ShownPlayer, ...]:
    """The plates of a replay, which has no clocks and no free seats."""
    on_turn = getattr(view, "seat", None)
    return tuple(
        ShownPlayer(
            seat,
            sign_of(seat),
            seating.name(seat),
            seating.bots[seat] if seating.bots else "",
            True,  # noqa: FBT003 - taken
            seat == seating.own,
            seat == on_turn,
            *score_of(known, view, seat, seating),
        )
        for seat in range(len(names))
    )
