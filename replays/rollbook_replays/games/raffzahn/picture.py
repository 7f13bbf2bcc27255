"""Raffzahn as a picture: forty tiles with their teeth, three dice, and the tiles in front of every seat."""

from collections.abc import Iterator
from typing import Any, Final

from rollbook.rules.raffzahn.moves import ROTTEN, STAR, TEETH, TILES, Roll, Surrender, Take
from rollbook.rules.raffzahn.view import Row, View
from rollbook_replays.games import picture as drawing
from rollbook_replays.games.picture import DIE, WIDE, Picture, Shape, box, die, label, pips, placed, polygon, seat_row
from rollbook_replays.games.words import Words

IN_A_ROW: Final = 8
WIDTH: Final = 52
HEIGHT: Final = 52
STEP: Final = 58
LEFT: Final = (WIDE - IN_A_ROW * STEP) / 2 + 3
SMALL: Final = 46
SMALL_HEIGHT: Final = 34
BESIDE: Final = 104
"""Horizontal position of the first tile of a seat."""


def picture(view: View, words: Words) -> Picture:
    """The middle above, then the dice, then the seats."""
    shapes = [_tile(tile, view) for tile in TILES]
    y = 6 + -(-len(TILES) // IN_A_ROW) * STEP + 8
    gap = (WIDE - 3 * DIE) / 4
    for number, face in enumerate(view.dice):
        colour = "yellow" if number == 0 else "blue"
        shapes.append(die(gap + number * (DIE + gap), y, *_face(face), id=f"die-{number}", classes=f"die {colour}"))
    y += DIE + 16
    for seat, row in enumerate(view.rows):
        tiles = list(_in_front(row, view.announced))
        lines = max(1, -(-len(tiles) // _AS_MANY))
        shapes += seat_row(seat, y + SMALL_HEIGHT / 2, on_turn=seat == view.seat)
        shapes.append(label(row.teeth, 66, y + SMALL_HEIGHT / 2, 20, "strong"))
        shapes.append(polygon(TOOTH, 90, y + SMALL_HEIGHT / 2, 7, "tooth"))
        for place, (tile, classes) in enumerate(tiles):
            x = BESIDE + place % _AS_MANY * (SMALL + 4)
            shapes.append(_small(tile, classes, x, y + place // _AS_MANY * (SMALL_HEIGHT + 4)))
        y += lines * (SMALL_HEIGHT + 4) + 8
    return Picture(y + 4, tuple(shapes), _sentence(view, words))


_AS_MANY: Final = (WIDE - BESIDE) // (SMALL + 4)
TOOTH: Final = "-.9,-.8 .9,-.8 0,1"


def touched(_view: View, choice: Any) -> tuple[str, ...]:
    """The tile taken or announced, the dice thrown, or the tiles given up."""
    match choice:
        case Take():
            return (f"tile-{choice.tile}",)
        case Surrender():
            return tuple(f"tile-{tile}" for tile in choice.tiles)
        case Roll():
            announced = () if choice.announce is None else (f"tile-{choice.announce}",)
            return (*(f"die-{number}" for number in choice.dice), *announced)
    return ()


def _tile(tile: int, view: View) -> Shape:
    row, column = divmod(tile - 1, IN_A_ROW)
    x, y = LEFT + column * STEP, 6 + row * STEP
    if tile not in view.middle:
        return placed(x, y, box(WIDTH, HEIGHT, "gone"), id=f"place-{tile}")
    classes = "tile announced" if tile == view.announced else "tile"
    parts = (box(WIDTH, HEIGHT, "field"), label(tile, WIDTH / 2, 18, 21, "strong"), *_teeth(TEETH[tile]))
    return placed(x, y, *parts, id=f"tile-{tile}", classes=classes)


def _teeth(count: int) -> Iterator[Shape]:
    for number in range(count):
        x = WIDTH / 2 + (number - (count - 1) / 2) * 7
        yield polygon(TOOTH, x, 40, 3.6, "tooth")


def _face(face: str) -> Iterator[Shape]:
    middle = DIE / 2
    if face == STAR:
        yield polygon(drawing.STAR, middle, middle + 2, 32, "pip")
    elif face == ROTTEN:
        yield polygon("-.8,-.9 .8,-.9 .8,.1 .45,.9 .15,.2 -.15,.2 -.45,.9 -.8,.1", middle, middle, 30, "pip")
        yield drawing.shape("circle", cx=middle + 6, cy=middle - 10, r=7, classes="cube")
    elif int(face) in drawing.PIPS:
        yield from pips(int(face))
    else:
        yield label(face, middle, middle, 40, "strong")


def _in_front(row: Row, announced: int | None) -> Iterator[tuple[int, str]]:
    for tile in row.open_tiles:
        yield tile, "tile announced" if tile == announced else "tile"
    for tile in row.safe_tiles:
        yield tile, "tile safe"


def _small(tile: int, classes: str, x: float, y: float) -> Shape:
    number = label(tile, SMALL / 2, SMALL_HEIGHT / 2, 20, "faint" if "safe" in classes else "strong")
    return placed(x, y, box(SMALL, SMALL_HEIGHT, "field"), number, id=f"tile-{tile}", classes=classes)


def _sentence(view: View, words: Words) -> str:
    dice = words("picture.dice", dice=words.both(_said(face, words) for face in view.dice)) if view.dice else ""
    middle = words("picture.middle", count=len(view.middle))
    return " ".join(part for part in (middle, dice) if part)


def _said(face: str, words: Words) -> str:
    return {STAR: words("picture.star"), ROTTEN: words("picture.rotten_tooth")}.get(face, face)
