"""How an account is drawn: names that cannot steer a terminal, columns that line up, colour where there is any."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeAlias

WIDTH: Final = 80
"""Every board fits."""

Pen: TypeAlias = Callable[[str, str], str]
"""Draws a text in a style; what it gives is as wide as what it was given."""

HEADING: Final = "heading"
FAINT: Final = "faint"

_CODES: Final = {HEADING: "1", FAINT: "2", "yellow": "30;43", "blue": "97;44"}
_CODE: Final = re.compile(r"\x1b\[[0-9;]*m")
_SEATS: Final = ("36", "33", "35", "32", "34", "31")


def plain(text: str, _style: str) -> str:
    """The pen for pipes and files."""
    return text


def coloured(text: str, style: str) -> str:
    r"""The pen for terminals.

    >>> coloured("Anna", seat_style(0))
    '\x1b[36mAnna\x1b[0m'
    """
    number = style.removeprefix("seat ")
    code = _SEATS[int(number) % len(_SEATS)] if number.isdigit() else _CODES[style]
    return f"\x1b[{code}m{text}\x1b[0m"


def seat_style(seat: int) -> str:
    """What is of a seat has its colour everywhere."""
    return f"seat {seat}"


def printable(text: str) -> str:
    r"""A stranger's text, that can neither steer a terminal nor turn the text around it.

    >>> printable("An\x1b[2Jna")
    'An�[2Jna'
    """
    return "".join(character if _is_harmless(character) else "\N{REPLACEMENT CHARACTER}" for character in text)


def _is_harmless(character: str) -> bool:
    return character.isprintable() or character in "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"


def called(names: Sequence[str], most: int = 24) -> tuple[str, ...]:
    """What the seats are called where somebody reads: names, cut to so many columns, or numbers for want of a name."""
    return tuple(fitted(printable(name), most) or f"seat {seat}" for seat, name in enumerate(names))


def width(text: str) -> int:
    """How many columns of a terminal the text takes; codes for colours take none."""
    return sum(_columns(character) for character in _CODE.sub("", text))


def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) == "Cf":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def fitted(text: str, most: int) -> str:
    """The text, cut where it is too wide."""
    while width(text) > most:
        text = text[:-2] + "…"
    return text


def padded(text: str, to: int) -> str:
    """The text with spaces behind it."""
    return text + " " * (to - width(text))


def centred(text: str, to: int) -> str:
    """The text in the middle."""
    left = (to - width(text)) // 2
    return padded(" " * left + text, to)


def name_width(names: Iterable[str]) -> int:
    """The columns for names that stand below each other."""
    return max(map(width, names))


def wrapped(words: Iterable[str], indent: int, first: str = "") -> Iterator[str]:
    """Words on as many lines as they need, behind what stands first on the first line."""
    line = padded(first, indent)
    used = False
    for word in words:
        if used and width(line) + 1 + width(word) > WIDTH:
            yield line.rstrip()
            line, used = " " * indent, False
        line += (" " if used else "") + word
        used = True
    yield line.rstrip()


def boxes(faces: Sequence[Sequence[str]], pens: Sequence[Callable[[str], str]] = ()) -> Iterator[str]:
    """Dice side by side, each with the lines of its face."""
    inked = pens or [str] * len(faces)
    rims = ["─" * (width(face[0]) + 2) for face in faces]
    yield "  ".join(ink(f"┌{rim}┐") for rim, ink in zip(rims, inked, strict=True))
    for row in zip(*faces, strict=True):
        yield "  ".join(ink(f"│ {part} │") for part, ink in zip(row, inked, strict=True))
    yield "  ".join(ink(f"└{rim}┘") for rim, ink in zip(rims, inked, strict=True))


def listed(words: Sequence[object]) -> str:
    """Words as a sentence lists them.

    >>> listed([3, 4, 5])
    '3, 4 and 5'
    """
    *others, last = map(str, words)
    return f"{', '.join(others)} and {last}" if others else last
