"""Dice as they look: pips, numbers, stars."""

from __future__ import annotations

from typing import Final

from rollbook_clients.terminal.blocks import Block, beside, boxed

PIPS: Final = {
    1: ("   ", " ● ", "   "),
    2: ("●  ", "   ", "  ●"),
    3: ("●  ", " ● ", "  ●"),
    4: ("● ●", "   ", "● ●"),
    5: ("● ●", " ● ", "● ●"),
    6: ("● ●", "● ●", "● ●"),
}
STAR: Final = ("   ", " ★ ", "   ")
ROTTEN: Final = ("▛▀▜", "▌░▐", "▘ ▝")
"""A tooth with a hole in it."""
BLANK: Final = ("   ", "   ", "   ")


def die(face: tuple[str, str, str], colour: str) -> Block:
    """One die, five by five cells."""
    return boxed(face, colour, f"bold {colour}")


def numbered(number: int) -> tuple[str, str, str]:
    """A face with a number instead of pips."""
    return ("   ", f"{number:^3}", "   ")


def thrown(faces: list[tuple[str, str, str]], colours: list[str]) -> Block:
    """Dice side by side."""
    return beside(*(die(face, colour) for face, colour in zip(faces, colours, strict=True)))
