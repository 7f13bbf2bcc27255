"""Building blocks of boards: dice and blocks of lines, arranged beside and above each other."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from rollbook_replays.text import WIDTH, Text, width

Block: TypeAlias = list[Text]
"""Lines, of any widths."""

Face: TypeAlias = tuple[str, str, str]

PIPS: Final[dict[int, Face]] = {
    1: ("   ", " ● ", "   "),
    2: ("●  ", "   ", "  ●"),
    3: ("●  ", " ● ", "  ●"),
    4: ("● ●", "   ", "● ●"),
    5: ("● ●", " ● ", "● ●"),
    6: ("● ●", "● ●", "● ●"),
}
THIN: Final = "┌─┐│└┘"
HEAVY: Final = "┏━┓┃┗┛"
"""The border around the thing under the cursor."""
DOUBLE: Final = "╔═╗║╚╝"
"""The border around the things that the last move changed."""
STAR: Final = ("   ", " ★ ", "   ")
BLANK: Final = ("   ", "   ", "   ")


@dataclass(frozen=True, slots=True)
class Room:
    """The space for a board in cells; files and pipes have no limit on lines."""

    width: int = WIDTH
    height: int = sys.maxsize

    def has_rows(self, rows: int) -> bool:
        """Whether a screen has room for this many lines; False without a screen, so that output stays short."""
        return rows <= self.height < sys.maxsize


def breadth(block: Iterable[Text]) -> int:
    """The width of the widest line."""
    return max((line.width for line in block), default=0)


def beside(*blocks: Block, gap: int = 1) -> Block:
    """The blocks from left to right, their first lines in one line."""
    height = max((len(block) for block in blocks), default=0)
    lines = [Text()] * height
    for number, block in enumerate(blocks):
        wide = breadth(block)
        space = " " * gap if number else ""
        for row in range(height):
            part = block[row] if row < len(block) else Text()
            lines[row] = Text.of(lines[row], space, part.pad(wide))
    return lines


def flow(blocks: Sequence[Block], wide: int, gap: int = 1) -> Block:
    """The blocks from left to right, in several rows if they are wider than `wide`."""
    lines: Block = []
    row: list[Block] = []
    filled = 0
    for block in blocks:
        needed = breadth(block) + (gap if row else 0)
        if row and filled + needed > wide:
            lines += beside(*row, gap=gap)
            row, filled, needed = [], 0, breadth(block)
        row.append(block)
        filled += needed
    return lines + (beside(*row, gap=gap) if row else [])


def draw_box(content: Sequence[str], style: str = "", rim: str = THIN) -> Block:
    """Lines of equal width with a border around them: a die, or a card."""
    left_above, across, right_above, upright, left_below, right_below = tuple(rim)
    long = across * width(content[0])
    inside = f"{style} strong" if style else ""
    return [
        Text.of((f"{left_above}{long}{right_above}", style)),
        *(Text.of((upright, style), (line, inside), (upright, style)) for line in content),
        Text.of((f"{left_below}{long}{right_below}", style)),
    ]


def number_face(number: int) -> Face:
    """A face with a number instead of pips."""
    return ("   ", f"{number:^3}", "   ")


def draw_dice(faces: list[Face], styles: list[str]) -> Block:
    """Dice side by side, each five by five cells."""
    return beside(*(draw_box(face, style) for face, style in zip(faces, styles, strict=True)))
