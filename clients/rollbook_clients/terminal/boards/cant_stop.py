"""Can't Stop's board: eleven columns in the shape of a stop sign, markers and runners on their fields, the dice."""

from __future__ import annotations

from typing import Final

from rich.text import Text

from rollbook.rules.cant_stop import RUNNERS
from rollbook.v1.cant_stop_pb2 import CantStopView
from rollbook_clients.terminal.blocks import Block, Room, beside
from rollbook_clients.terminal.dice import BLANK, PIPS, thrown
from rollbook_clients.terminal.seating import COLOURS, SIGNS, Seating
from rollbook_clients.terminal.survival import chance, percent

RUNNER: Final = "●"
CELL: Final = 4
"""A field has room for a runner and the markers of three others."""
HIGHEST: Final = 13
DICE: Final = 4
PANEL: Final = 24

FIELD: Final = "on #2d333b"
NUMBER: Final = "bold #f0f6fc on #57606a"
RUNNER_STYLE: Final = "bold #ffffff on #b62324"
DIE: Final = "#f0f6fc"


def draw(view: CantStopView, seating: Seating, _room: Room) -> Block:
    """The board with the panel of players and dice to its right."""
    return beside(_columns(view), _panel(view, seating), gap=1)


def _columns(view: CantStopView) -> Block:
    return [
        Text(" ").join(_field(column, HIGHEST - row - (HIGHEST - column.length) // 2) for column in view.columns)
        for row in range(HIGHEST)
    ]


def _field(column: CantStopView.Column, height: int) -> Text:
    """One field of a column; nothing where the column has none."""
    if not 1 <= height <= column.length:
        return Text(" " * CELL)
    if column.HasField("winner"):
        return _won(column, height)
    signs = Text()
    if column.runner == height:
        signs.append(RUNNER, RUNNER_STYLE)
    for seat, marker in enumerate(column.markers):
        if marker == height:
            signs.append(SIGNS[seat], f"bold {COLOURS[seat]}")
    style = FIELD
    if height == column.length:
        signs.append(str(column.number))
        style = NUMBER
    elif not signs:
        signs.append("·", "#768390")
    left = (CELL - signs.cell_len) // 2
    field = Text(style=style)
    field.append(" " * left)
    field.append_text(signs)
    field.append(" " * (CELL - left - signs.cell_len))
    return field


def _won(column: CantStopView.Column, height: int) -> Text:
    """The winner's number field, and the fields below, where nobody plays any more."""
    seat = column.winner
    if height == column.length:
        return Text(f"{SIGNS[seat]}{column.number}{SIGNS[seat]}".center(CELL), f"bold reverse {COLOURS[seat]}")
    return Text(SIGNS[seat].center(CELL), f"dim {COLOURS[seat]}")


def _panel(view: CantStopView, seating: Seating) -> Block:
    words = seating.words
    seats = range(len(view.places))
    held = [sum(column.HasField("winner") and column.winner == seat for column in view.columns) for seat in seats]
    on_turn = view.seat if view.HasField("seat") else None
    lines = [Text(words("cant_stop.columns_held").rjust(PANEL), "dim")]
    for seat in seats:
        line = seating.player(seat, PANEL - 4, on_turn=seat == on_turn)
        line.append(f"{held[seat]}/{seating.options.columns_to_win}".rjust(4), "bold")
        lines.append(line)
    placed = sum(column.runner > 0 for column in view.columns)
    lines += [Text()] * (5 - len(lines) + 1)
    runners = Text(f"{words('cant_stop.runners')} ")
    runners.append(f"{RUNNER} " * placed, "bold #ff7b72")
    runners.append("○ " * (RUNNERS - placed), "dim")
    if placed and not view.dice:
        runners.append(words("cant_stop.survival", percent=percent(chance(view))), "dim")
    lines.append(runners)
    faces = [PIPS[face] for face in view.dice] or [BLANK] * DICE
    return [*lines, *thrown(faces, [DIE if view.dice else "dim"] * DICE)]
