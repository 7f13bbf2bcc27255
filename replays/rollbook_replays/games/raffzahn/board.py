"""Raffzahn's table: four rows of ten tiles with their teeth, the dice, and what lies in front of every seat."""

from typing import Final

from rollbook.rules.raffzahn.moves import ROTTEN, STAR, TEETH, THROWS
from rollbook.rules.raffzahn.view import Row, View
from rollbook_replays.games import blocks
from rollbook_replays.games.blocks import BLANK, PIPS, Block, Face, Room, beside, numbered, thrown
from rollbook_replays.games.seats import Seating
from rollbook_replays.text import MUTED, STRONG, Text

TILES_IN_A_ROW: Final = 10
TILE: Final = 7
"""As wide as the most teeth."""
TOOTH: Final = "▾"
ROTTEN_TOOTH: Final = ("▛▀▜", "▌░▐", "▘ ▝")
"""A tooth with a hole in it."""

NAME: Final = 15
DICE_WIDTH: Final = 18
WIDEST: Final = 120

PALETTE: Final = {
    "tile": "bold #f0f6fc on #3d4f2f",
    "jaw": "#ffffff on #7d2a2a",
    "announced": "bold reverse #e3b341",
    "yellow": "#e3b341",
    "blue": "#79c0ff",
    "gone": "#57606a",
    "safe": "#adbac7",
}


def board(view: View, seating: Seating, room: Room) -> Block:
    """The middle above, dice and seats below."""
    rows = _seats(view, seating, min(room.width, WIDEST) - DICE_WIDTH - 1)
    below = beside(_dice(view, seating), rows, gap=1)
    middle = _middle(view)
    spaced = [line for row in range(0, len(middle), 2) for line in (*middle[row : row + 2], Text())]
    out = _out(view, seating, room.width)
    lines = [*spaced, Text(), *below]
    if len(lines) > room.height:
        return [*middle, *below]
    return [*lines, *out] if len(lines) + len(out) <= room.height else lines


def _out(view: View, seating: Seating, wide: int) -> Block:
    """The tiles that have left the game."""
    if not view.out:
        return []
    said = seating.words("board.out", tiles=", ".join(map(str, view.out)))
    return [Text(), *Text.of((said, MUTED)).wrapped(wide, indent=2)]


def _middle(view: View) -> Block:
    lines: Block = []
    for first in range(1, len(TEETH) + 1, TILES_IN_A_ROW):
        tiles = [_tile(tile, view) for tile in range(first, first + TILES_IN_A_ROW)]
        lines += beside(*tiles)
    return lines


def _tile(tile: int, view: View) -> Block:
    """The number above its teeth; an announced one stands between pointers."""
    if tile not in view.middle:
        return [Text.of(" " * TILE), Text.of(("·".center(TILE), "gone"))]
    number = (f"{tile}".center(TILE), "tile")
    if tile == view.announced:
        number = (f"»{tile}«".center(TILE), "announced")
    return [Text.of(number), Text.of(((TOOTH * TEETH[tile]).center(TILE), "jaw"))]


def _dice(view: View, seating: Seating) -> Block:
    faces = [_face(face) for face in view.dice] or [BLANK] * 3
    styles = ["yellow", "blue", "blue"] if view.dice else [MUTED] * 3
    caption = seating.words("board.throw_of", number=view.throws, most=THROWS) if view.throws else ""
    return [*thrown(faces, styles), Text.of((caption[:DICE_WIDTH], MUTED))]


def _face(face: str) -> Face:
    if face == STAR:
        return blocks.STAR
    if face == ROTTEN:
        return ROTTEN_TOOTH
    number = int(face)
    return PIPS[number] if number in PIPS else numbered(number)


def _seats(view: View, seating: Seating, wide: int) -> Block:
    lines: Block = []
    for seat, row in enumerate(view.rows):
        player = seating.player(seat, NAME, on_turn=seat == view.seat)
        lines += _in_front(Text.of(player, (f"{row.teeth:>3}{TOOTH} ", STRONG)), row, view.announced, wide)
    return lines


def _in_front(line: Text, row: Row, announced: int | None, wide: int) -> Block:
    """The open row, then the safe one in brackets, in as many lines as it takes."""
    tiles = [
        Text.of((f"»{tile}«", "announced")) if tile == announced else Text.of((f"{tile:>2} ", "tile"))
        for tile in row.open_tiles
    ]
    if row.safe_tiles:
        tiles.append(Text.of(("│ ", MUTED)))
        tiles += [Text.of((f"[{tile}]", "safe")) for tile in row.safe_tiles]
    lines, indent = [line], line.width
    for tile in tiles:
        if lines[-1].width + tile.width > wide:
            lines.append(Text.of(" " * indent))
        lines[-1] += tile
    return lines
