"""Blocks of lines, laid beside and above each other: what boards are put together from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rich.style import Style
from rich.text import Text

Block: TypeAlias = list[Text]
"""Lines, of any widths."""


@dataclass(frozen=True, slots=True)
class Room:
    """How much of the screen there is for a board, in cells."""

    width: int
    height: int


def width(block: Iterable[Text]) -> int:
    """That of its longest line."""
    return max((line.cell_len for line in block), default=0)


def beside(*blocks: Block, gap: int = 1) -> Block:
    """The blocks from left to right, their first lines in one line."""
    height = max((len(block) for block in blocks), default=0)
    lines = [Text() for _ in range(height)]
    for number, block in enumerate(blocks):
        if number:
            for line in lines:
                line.append(" " * gap)
        wide = width(block)
        for row, line in enumerate(lines):
            part = block[row] if row < len(block) else Text()
            line.append_text(part)
            line.append(" " * (wide - part.cell_len))
    return lines


def flow(blocks: Sequence[Block], wide: int, gap: int = 1) -> Block:
    """The blocks from left to right, in as many rows as it takes to stay within the width."""
    lines: Block = []
    row: list[Block] = []
    filled = 0
    for block in blocks:
        needed = width(block) + (gap if row else 0)
        if row and filled + needed > wide:
            lines += beside(*row, gap=gap)
            row, filled, needed = [], 0, width(block)
        row.append(block)
        filled += needed
    return lines + (beside(*row, gap=gap) if row else [])


def as_text(block: Block) -> Text:
    """All lines as one text, none of them ever wrapped."""
    text = Text("\n", no_wrap=True, overflow="crop").join(block)
    text.no_wrap = True
    return text


def boxed(content: Sequence[str], border: Style | str = "", inside: Style | str = "") -> Block:
    """Lines of equal width with a border around them: a die, or a card."""
    wide = len(content[0])
    return [
        Text(f"┌{'─' * wide}┐", border),
        *(Text.assemble(("│", border), (line, inside), ("│", border)) for line in content),
        Text(f"└{'─' * wide}┘", border),
    ]


def fitted(name: str, wide: int) -> str:
    """A name in exactly so many cells, cut with an ellipsis if it is longer.

    >>> fitted("Anna", 6), fitted("Christiane", 6)
    ('Anna  ', 'Chris…')
    """
    text = Text(name)
    text.truncate(wide, overflow="ellipsis", pad=True)
    return text.plain
