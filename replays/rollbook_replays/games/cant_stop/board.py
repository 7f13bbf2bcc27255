"""Can't Stop's board: eleven columns in the shape of a stop sign, markers and runners on their fields, the dice."""

from typing import Final

from rollbook.rules.cant_stop.moves import RUNNERS
from rollbook.rules.cant_stop.view import Column, View
from rollbook_replays.games.blocks import BLANK, PIPS, Block, Room, beside, thrown
from rollbook_replays.games.cant_stop.odds import chance, percent
from rollbook_replays.games.seats import Seating, seat_style, sign
from rollbook_replays.text import MUTED, STRONG, Text

RUNNER: Final = "●"
CELL: Final = 4
"""A field has room for a runner and the markers of three others."""
HIGHEST: Final = 13
DICE: Final = 4
PANEL: Final = 24

PALETTE: Final = {
    "field": "on #2d333b",
    "empty": "#768390",
    "number": "bold #f0f6fc on #57606a",
    "runner": "bold #ffffff on #b62324",
    "placed": "bold #ff7b72",
    "die": "#f0f6fc",
}


def board(view: View, seating: Seating, _room: Room) -> Block:
    """The board with the panel of players and dice to its right."""
    return beside(_columns(view), _panel(view, seating), gap=1)


def _columns(view: View) -> Block:
    rows = []
    for row in range(HIGHEST):
        fields = [_field(column, HIGHEST - row - (HIGHEST - column.length) // 2) for column in view.columns]
        rows.append(Text.joined(" ", fields))
    return rows


def _field(column: Column, height: int) -> Text:
    """One field of a column; nothing where the column has none."""
    if not 1 <= height <= column.length:
        return Text.of(" " * CELL)
    if column.winner is not None:
        return _won(column, column.winner, height)
    signs = Text()
    if column.runner == height:
        signs += Text.of((RUNNER, "runner"))
    for seat, marker in enumerate(column.markers):
        if marker == height:
            signs += Text.of((sign(seat), f"{seat_style(seat)} strong"))
    if height == column.length:
        return _on("number", signs + Text.of(str(column.number)))
    return _on("field", signs if signs.spans else Text.of(("·", "empty")))


def _on(style: str, signs: Text) -> Text:
    return signs.centred(CELL).styled(style)


def _won(column: Column, seat: int, height: int) -> Text:
    """The winner's number field, and the fields below, where nobody plays any more."""
    if height == column.length:
        return Text.of((f"{sign(seat)}{column.number}{sign(seat)}".center(CELL), f"{seat_style(seat)} strong filled"))
    return Text.of((sign(seat).center(CELL), f"{seat_style(seat)} {MUTED}"))


def _panel(view: View, seating: Seating) -> Block:
    words = seating.words
    seats = range(len(view.places))
    lines = [Text.of((words("board.columns_held").rjust(PANEL), MUTED))]
    for seat in seats:
        held = sum(column.winner == seat for column in view.columns)
        needed = f"{held}/{seating.options['columns_to_win']}".rjust(4)
        lines.append(seating.player(seat, PANEL - 4, on_turn=seat == view.seat) + Text.of((needed, STRONG)))
    lines += [Text()] * (5 - len(lines) + 1)
    lines.append(_runners(view, seating))
    faces = [PIPS[face] for face in view.dice] or [BLANK] * DICE
    return [*lines, *thrown(faces, ["die" if view.dice else MUTED] * DICE)]


def _runners(view: View, seating: Seating) -> Text:
    """How many are on the board, and how likely the next throw can be used."""
    words = seating.words
    placed = sum(column.runner > 0 for column in view.columns)
    risk = words("board.survival", percent=percent(chance(view))) if placed and not view.dice else ""
    return Text.of(
        f"{words('board.runners')} ",
        (f"{RUNNER} " * placed, "placed"),
        ("○ " * (RUNNERS - placed), MUTED),
        (risk, MUTED),
    )
