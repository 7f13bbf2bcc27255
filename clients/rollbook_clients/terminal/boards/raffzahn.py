"""Raffzahn's table: four rows of ten tiles with their teeth, the dice, and what lies in front of every seat."""

from __future__ import annotations

from typing import Final

from rich.text import Text

from rollbook.rules.raffzahn import TEETH, THROWS
from rollbook.v1 import raffzahn_pb2
from rollbook.v1.raffzahn_pb2 import RaffzahnView
from rollbook_clients.terminal.blocks import Block, Room, beside
from rollbook_clients.terminal.dice import BLANK, PIPS, ROTTEN, STAR, numbered, thrown
from rollbook_clients.terminal.seating import Seating

TILES_IN_A_ROW: Final = 10
TILE: Final = 7
"""As wide as the most teeth."""
TOOTH: Final = "▾"

MONSTER: Final = "bold #f0f6fc on #3d4f2f"
JAW: Final = "#ffffff on #7d2a2a"
ANNOUNCED: Final = "bold reverse #e3b341"
YELLOW: Final = "#e3b341"
BLUE: Final = "#79c0ff"
DIMMED: Final = "#57606a"

NAME: Final = 15
DICE_WIDTH: Final = 18


def draw(view: RaffzahnView, seating: Seating, room: Room) -> Block:
    """The middle above, dice and seats below."""
    rows = _seats(view, seating, min(room.width, 120) - DICE_WIDTH - 1)
    below = beside(_dice(view, seating), rows, gap=1)
    middle = _middle(view)
    roomy = room.height >= len(middle) + 3 + len(below) + 1
    return [*(_spaced(middle) if roomy else middle), *([Text()] if roomy else []), *below]


def _spaced(middle: Block) -> Block:
    return [line for row in range(0, len(middle), 2) for line in (middle[row], middle[row + 1], Text())]


def _middle(view: RaffzahnView) -> Block:
    there = set(view.middle)
    announced = view.announced if view.HasField("announced") else None
    lines: Block = []
    for first in range(1, len(TEETH) + 1, TILES_IN_A_ROW):
        tiles = [_tile(tile, tile in there, tile == announced) for tile in range(first, first + TILES_IN_A_ROW)]
        lines += beside(*tiles)
    return lines


def _tile(tile: int, there: bool, announced: bool) -> Block:  # noqa: FBT001 - two facts of one tile
    if not there:
        return [Text(" " * TILE), Text("·".center(TILE), DIMMED)]
    number = f"{tile}".center(TILE)
    return [Text(number, ANNOUNCED if announced else MONSTER), Text((TOOTH * TEETH[tile]).center(TILE), JAW)]


def _dice(view: RaffzahnView, seating: Seating) -> Block:
    faces = [_face(face) for face in view.dice] or [BLANK] * 3
    colours = [YELLOW, BLUE, BLUE] if view.dice else ["dim"] * 3
    words = seating.words
    caption = words("raffzahn.throw_of", number=view.throws, most=THROWS) if view.throws else ""
    return [*thrown(faces, colours), Text(caption[:DICE_WIDTH], "dim")]


def _face(face: int) -> tuple[str, str, str]:
    if face == raffzahn_pb2.RAFFZAHN_FACE_STAR:
        return STAR
    if face == raffzahn_pb2.RAFFZAHN_FACE_ROTTEN:
        return ROTTEN
    return PIPS[face] if face in PIPS else numbered(face)


def _seats(view: RaffzahnView, seating: Seating, wide: int) -> Block:
    lines: Block = []
    on_turn = view.seat if view.HasField("seat") else None
    for seat, row in enumerate(view.rows):
        line = seating.player(seat, NAME, on_turn=seat == on_turn)
        line.append(f"{row.teeth:>3}{TOOTH} ", "bold")
        lines += _tiles_in_front(line, row, wide)
    return lines


def _tiles_in_front(line: Text, row: RaffzahnView.Row, wide: int) -> Block:
    """The open row, then the safe one in brackets, in as many lines as it takes."""
    lines = [line]
    indent = line.cell_len
    tiles = [Text(f"{tile:>2} ", "bold on #3d4f2f") for tile in row.open_tiles]
    if row.safe_tiles:
        tiles.append(Text("│ ", "dim"))
        tiles += [Text(f"[{tile}]", DIMMED if not tile else "#adbac7") for tile in row.safe_tiles]
    for tile in tiles:
        if lines[-1].cell_len + tile.cell_len > wide:
            lines.append(Text(" " * indent))
        lines[-1].append_text(tile)
    return lines
