"""Raffzahn as a picture: forty tiles in rows by their teeth, three dice, and the tiles in front of every seat."""

from collections.abc import Iterator
from typing import Any, Final

from rollbook.rules.raffzahn.moves import ROTTEN, STAR, TEETH, TILES, Roll, Surrender, Take
from rollbook.rules.raffzahn.view import Row, View
from rollbook_replays.games import picture as drawing
from rollbook_replays.games.picture import (
    Picture,
    Shape,
    Zone,
    box,
    dice_row,
    front,
    label,
    mark,
    pips,
    place_at,
    polygon,
    shape,
    solid,
    tooth,
)
from rollbook_replays.games.words import Words

WIDTH: Final = 88
HEIGHT: Final = 64
ACROSS: Final = 97
DOWN: Final = 76
LEFT: Final = 116
BOARD: Final = (650.0, 7 * 76.0)

SMALL: Final = 46
SMALL_HEIGHT: Final = 34
IN_A_ROW: Final = 4
"""Number of tiles in a row in front of a seat."""


def picture(view: View, words: Words) -> Picture:
    """The tiles, the dice, and what each seat has."""
    owners = {
        tile: (seat, tile in row.safe_tiles)
        for seat, row in enumerate(view.rows)
        for tile in (*row.open_tiles, *row.safe_tiles)
    }
    rows: dict[int, list[int]] = {}
    for tile in TILES:
        rows.setdefault(TEETH[tile], []).append(tile)
    shapes: list[Shape] = []
    for number, (teeth, tiles) in enumerate(sorted(rows.items())):
        y = DOWN / 2 - 3 + number * DOWN
        shapes += [label(teeth, 22, y, 26, "on-cloth carved"), tooth(48, y)]
        # A row that begins one later keeps its tiles below those of the rows above.
        shapes += [_tile(tile, view, owners, LEFT + place * ACROSS, y) for place, tile in enumerate(tiles)]
    zones = [Zone("board", *BOARD, tuple(shapes))]
    if view.dice:
        colours = ("yellow", "blue", "blue")
        zones.append(dice_row((colour, _face(face)) for colour, face in zip(colours, view.dice, strict=False)))
    zones += [_front(seat, row, view.announced) for seat, row in enumerate(view.rows)]
    return Picture(tuple(zones), _sentence(view, words))


def list_touched(view: View, choice: Any) -> tuple[str, ...]:
    """The tile taken or announced with its place in the middle, the dice thrown, or the tiles given up."""
    match choice:
        case Take():
            return _of_tile(choice.tile, view)
        case Surrender():
            return tuple(f"tile-{tile}" for tile in choice.tiles)
        case Roll():
            announced = () if choice.announce is None else _of_tile(choice.announce, view)
            return (*(f"die-{number}" for number in choice.dice), *announced)
    return ()


def _of_tile(tile: int, view: View) -> tuple[str, ...]:
    return (f"tile-{tile}",) if tile in view.middle else (f"tile-{tile}", f"place-{tile}")


def _tile(tile: int, view: View, owners: dict[int, tuple[int, bool]], x: float, y: float) -> Shape:
    if tile in view.middle:
        classes = "tile announced" if tile == view.announced else "tile"
        return place_at(
            x, y, *solid(WIDTH, HEIGHT), label(tile, 0, 0, 30, "ink carved"), id=f"tile-{tile}", classes=classes
        )
    hole = box(WIDTH, HEIGHT, "face cell", 10)
    number = label(tile, -16, 0, 23, "dim strong")
    if tile not in owners:
        gone = shape("line", x1=-36, y1=0, x2=4, y2=0, classes="out")
        return place_at(x, y, hole, number, gone, id=f"place-{tile}")
    seat, is_safe = owners[tile]
    lock = [shape("line", x1=10, y1=18, x2=34, y2=18, classes="bolt")] if is_safe else []
    return place_at(x, y, hole, number, mark(seat, 22, 0, 10), *lock, id=f"place-{tile}")


def _face(face: str) -> Iterator[Shape]:
    if face == STAR:
        yield polygon(drawing.STAR, 0, 1, 21, "pip")
    elif face == ROTTEN:
        yield polygon("-.8,-.9 .8,-.9 .8,.1 .45,.9 .15,.2 -.15,.2 -.45,.9 -.8,.1", 0, 0, 20, "pip")
        yield shape("circle", cx=4, cy=-7, r=5, classes="top")
    elif int(face) in drawing.PIPS:
        yield from pips(int(face))
    else:
        yield label(face, 0, 0, 28, "ink strong")


def _front(seat: int, row: Row, announced: int | None) -> Zone:
    """The open tiles of a seat, then its safe ones."""
    shapes: list[Shape] = []
    tiles = (*row.open_tiles, *row.safe_tiles)
    for place, tile in enumerate(tiles):
        x, y = (
            SMALL / 2 + 2 + place % IN_A_ROW * (SMALL + 4),
            SMALL_HEIGHT / 2 + 2 + place // IN_A_ROW * (SMALL_HEIGHT + 10),
        )
        classes = "tile safe" if tile in row.safe_tiles else "tile announced" if tile == announced else "tile"
        number = label(tile, 0, 0, 22, "ink carved")
        shapes.append(place_at(x, y, *solid(SMALL, SMALL_HEIGHT, 8), number, id=f"tile-{tile}", classes=classes))
    lines = max(1, -(-len(tiles) // IN_A_ROW))
    return front(seat, IN_A_ROW * (SMALL + 4), lines * (SMALL_HEIGHT + 10), shapes)


def _sentence(view: View, words: Words) -> str:
    dice = words("picture.dice", dice=words.both(face_text(face, words) for face in view.dice)) if view.dice else ""
    middle = words("picture.middle", count=len(view.middle))
    return " ".join(part for part in (middle, dice) if part)


def face_text(face: str, words: Words) -> str:
    """The face of a die in words."""
    return {STAR: words("picture.star"), ROTTEN: words("picture.rotten_tooth")}.get(face, face)
