"""Player names: bounded text that looks the same everywhere and cannot disturb the text around it.

Which characters are assigned depends on the Unicode tables of this Python.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from rollbook.identity.refusals import NameReason, NameRefused

LONGEST_NAME: Final = 40

_LONGEST_DECOMPOSITION = 4
"""Composition turns at most four characters into one."""

_BIDIRECTIONAL = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_JOINERS = frozenset("\u200c\u200d")
"""Required by Persian and Indic scripts and many emoji."""

_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\U0001d159")
"""Letters, marks and symbols without a visible glyph, with which two names could look alike: fillers of Hangul, Khmer
vowels, the empty Braille pattern, a note without a head. Variation selectors are allowed: Han names and emoji need
them."""

_STACKED = frozenset({"Mn", "Me"})
"""Marks that are drawn above, below or around the character before them; many of them cover other lines. Marks with
their own width (Mc) are not included; Burmese has more than three in a row."""

MOST_MARKS: Final = 3

_UNASSIGNED = {
    "Cn": "is not assigned in Unicode",
    "Co": "is for private use",
    "Cs": "is half of a surrogate pair",
}
_VISIBLE = frozenset("LNPS")


def player_name(text: str, kept: str = "") -> str:
    """Return the name in its stored form (NFC), or raise NameRefused; `kept` is a name that was accepted before.

    >>> player_name("Zoe\u0308 d'Arc")
    "Zoë d'Arc"
    """
    name = kept_name(text)
    if name != kept:
        _check_looks(name)
    return name


def kept_name(text: str) -> str:
    """A name from a token or the store, by the rules that apply to all names ever accepted; raises NameRefused."""
    if len(text) > LONGEST_NAME * _LONGEST_DECOMPOSITION:
        raise _too_long()
    name = unicodedata.normalize("NFC", text)
    if len(name) > LONGEST_NAME:
        raise _too_long()
    for number, character in enumerate(name, start=1):
        _check(number, character)
    if name != " ".join(name.split()):
        raise NameRefused(NameReason.WHITE_SPACE, "only single spaces may stand in a name, and only between words")
    if not any(unicodedata.category(character)[0] in _VISIBLE for character in name):
        raise NameRefused(NameReason.NAME_EMPTY, "a name needs at least one character that can be seen")
    return name


def _too_long() -> NameRefused:
    return NameRefused(NameReason.NAME_TOO_LONG, f"a name has at most {LONGEST_NAME} characters")


def _check(number: int, character: str) -> None:
    category = unicodedata.category(character)
    if category in ("Cc", "Zl", "Zp"):
        raise NameRefused(NameReason.CONTROL_CHARACTER, f"character {number} is a control character")
    if character in _BIDIRECTIONAL:
        raise NameRefused(NameReason.BIDIRECTIONAL_CHARACTER, f"character {number} changes the direction of the text")
    if category == "Cf" and character not in _JOINERS:
        raise NameRefused(NameReason.INVISIBLE_CHARACTER, f"character {number} is invisible")
    if category in _UNASSIGNED:
        raise NameRefused(NameReason.UNASSIGNED_CHARACTER, f"character {number} {_UNASSIGNED[category]}")


def _check_looks(name: str) -> None:
    """Raise NameRefused for invisible characters, and for too many marks on one character."""
    marks = 0
    for number, character in enumerate(name, start=1):
        if character in _BLANK:
            raise NameRefused(NameReason.INVISIBLE_CHARACTER, f"character {number} is invisible")
        marks = marks + 1 if unicodedata.category(character) in _STACKED else 0
        if marks > MOST_MARKS:
            why = f"character {number} is one of more than {MOST_MARKS} combining marks in a row"
            raise NameRefused(NameReason.TOO_MANY_MARKS, why)
