"""Raffzahn's table: four rows of ten tiles with their teeth, the dice, and the tiles in front of every seat."""

from typing import Final

from rollbook.rules.raffzahn.moves import ROTTEN, STAR, TEETH, THROWS, Roll, Rolled, Surrender, Take
from rollbook.rules.raffzahn.view import Row, View
from rollbook_replays.games import blocks
from rollbook_replays.games.blocks import BLANK, HEAVY, PIPS, THIN, Block, Face, Room, beside, draw_box, number_face
from rollbook_replays.games.presentation import NOTHING_MARKED, Spotlight
from rollbook_replays.games.seats import Seating
from rollbook_replays.text import MUTED, STRONG, Text

TILES_IN_A_ROW: Final = 10
TILE: Final = 7
"""Cells of a tile, which has room for the largest number of teeth."""
WIDEST_TILE: Final = 9
TOOTH: Final = "▾"
ROTTEN_TOOTH: Final = ("▛▀▜", "▌░▐", "▘ ▝")
"""A tooth with a hole in it."""

NAME: Final = 15
TEETH_WIDTH: Final = 5
WIDEST_SHOWN: Final = 4
"""Cells of a tile in front of a seat, with its mark."""
BAR: Final = 2
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


def board(view: View, seating: Seating, room: Room, spotlight: Spotlight = NOTHING_MARKED) -> Block:
    """The middle above, dice and seats below."""
    rows = _seats(view, seating, min(room.width, WIDEST) - DICE_WIDTH - 1, spotlight)
    below = beside(_dice(view, seating, spotlight), rows, gap=1)
    middle = _middle(view, max(TILE, min(room.width // TILES_IN_A_ROW - 1, WIDEST_TILE)), spotlight)
    spaced = [line for row in range(0, len(middle), 2) for line in (*middle[row : row + 2], Text())]
    out = _out(view, seating, room.width)
    lines = [*spaced, Text(), *below]
    if len(lines) > room.height:
        return [*middle, *below]
    return [*lines, *out] if len(lines) + len(out) <= room.height else lines


def _considered_tiles(spotlight: Spotlight) -> tuple[int, ...]:
    """The tiles of the choice under the cursor."""
    choice = spotlight.considered
    if isinstance(choice, Take):
        return (choice.tile,)
    if isinstance(choice, Roll) and choice.announce is not None:
        return (choice.announce,)
    return choice.tiles if isinstance(choice, Surrender) else ()


def _out(view: View, seating: Seating, wide: int) -> Block:
    """The tiles that are out of the game."""
    if not view.out:
        return []
    said = seating.words("board.out", tiles=", ".join(map(str, view.out)))
    return [Text(), *Text.of((said, MUTED)).wrap(wide, indent=2)]


def _middle(view: View, wide: int, spotlight: Spotlight) -> Block:
    lines: Block = []
    for first in range(1, len(TEETH) + 1, TILES_IN_A_ROW):
        tiles = [_tile(tile, view, wide, spotlight) for tile in range(first, first + TILES_IN_A_ROW)]
        lines += beside(*tiles)
    return lines


def _tile(tile: int, view: View, wide: int, spotlight: Spotlight) -> Block:
    """The number of a tile above its teeth, with pointers around it if it is announced or under the cursor."""
    if tile not in view.middle:
        return [Text.of(" " * wide), Text.of(("·".center(wide), "gone"))]
    number = (f"{tile}".center(wide), "tile")
    if tile in _considered_tiles(spotlight):
        number = (f"→{tile}←".center(wide), "considered")
    elif tile == view.announced:
        number = (f"»{tile}«".center(wide), "announced")
    return [Text.of(number).at(tile), Text.of(((TOOTH * TEETH[tile]).center(wide), "jaw")).at(tile)]


def _dice(view: View, seating: Seating, spotlight: Spotlight) -> Block:
    """The dice of this turn; if the last throw ended a turn, the dice of that throw with its result."""
    words, styles = seating.words, ["yellow", "blue", "blue"]
    thrown, caption = view.dice, ""
    if view.throws:
        caption = words("board.throw_of", number=view.throws, most=THROWS)
    elif isinstance(spotlight.last, Rolled):
        thrown = spotlight.last.dice
        caption = words("board.rotten") if ROTTEN in thrown else words("board.turn_over")
    faces = [_face(face) for face in thrown] or [BLANK] * len(styles)
    again = spotlight.considered.dice if isinstance(spotlight.considered, Roll) else ()
    boxes = [
        [line.at(f"die{die}") for line in draw_box(face, style if thrown else MUTED, HEAVY if die in again else THIN)]
        for die, (face, style) in enumerate(zip(faces, styles, strict=True))
    ]
    return [*beside(*boxes), Text.of((caption[:DICE_WIDTH], MUTED))]


def _face(face: str) -> Face:
    if face == STAR:
        return blocks.STAR
    if face == ROTTEN:
        return ROTTEN_TOOTH
    number = int(face)
    return PIPS[number] if number in PIPS else number_face(number)


def _seats(view: View, seating: Seating, wide: int, spotlight: Spotlight) -> Block:
    lines: Block = []
    tiles = max((len(row.open_tiles) + len(row.safe_tiles) for row in view.rows), default=0)
    name = seating.breadth(NAME, wide - TEETH_WIDTH - tiles * WIDEST_SHOWN - BAR)
    for seat, row in enumerate(view.rows):
        player = seating.player(seat, name, on_turn=seat == view.seat)
        head = Text.of(player, (f"{row.teeth:>3}{TOOTH} ", STRONG))
        lines += _in_front(head, row, view.announced, wide, spotlight)
    return lines


def _in_front(line: Text, row: Row, announced: int | None, wide: int, spotlight: Spotlight) -> Block:
    """The open row, then the safe row in brackets, wrapped into lines."""
    considered = _considered_tiles(spotlight)
    taken = {move.tile for move in spotlight.moves if isinstance(move, Take)}
    tiles = []
    for tile in row.open_tiles:
        shown = (f"{tile:>2} ", "tile")
        if tile in considered:
            shown = (f"→{tile}←", "considered")
        elif tile == announced:
            shown = (f"»{tile}«", "announced")
        elif tile in taken:
            shown = (f"‹{tile}›", "tile latest")
        tiles.append(Text.of(shown).at(tile))
    if row.safe_tiles:
        tiles.append(Text.of(("│ ", MUTED)))
        for tile in row.safe_tiles:
            style = "considered" if tile in considered else "safe latest" if tile in taken else "safe"
            tiles.append(Text.of((f"→{tile}←" if tile in considered else f"[{tile}]", style)).at(tile))
    lines, indent = [line], line.width
    for tile_text in tiles:
        if lines[-1].width + tile_text.width > wide:
            lines.append(Text.of(" " * indent))
        lines[-1] += tile_text
    return lines
