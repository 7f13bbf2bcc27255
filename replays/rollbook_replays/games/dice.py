"""Dice as they look: pips, numbers, stars."""

from __future__ import annotations

from typing import Final, TypeAlias

from rollbook_replays.games.blocks import Block, beside, boxed

Face: TypeAlias = tuple[str, str, str]

PIPS: Final[dict[int, Face]] = {
    1: ("   ", " ● ", "   "),
    2: ("●  ", "   ", "  ●"),
    3: ("●  ", " ● ", "  ●"),
    4: ("● ●", "   ", "● ●"),
    5: ("● ●", " ● ", "● ●"),
    6: ("● ●", "● ●", "● ●"),
}
STAR: Final = ("   ", " ★ ", "   ")
BLANK: Final = ("   ", "   ", "   ")


def numbered(number: int) -> Face:
    """A face with a number instead of pips."""
    return ("   ", f"{number:^3}", "   ")


def thrown(faces: list[Face], styles: list[str]) -> Block:
    """Dice side by side, each five by five cells."""
    return beside(*(boxed(face, style) for face, style in zip(faces, styles, strict=True)))
