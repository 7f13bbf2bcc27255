"""The names of players: bounded text that looks the same wherever it is shown and cannot disturb what stands around it.

Which characters are assigned is what this Python's Unicode tables say.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from rollbook.identity.refusals import NameReason, NameRefused

LONGEST_NAME: Final = 40

_LONGEST_DECOMPOSITION = 4
"""Composing never makes fewer than one character out of four."""

_BIDIRECTIONAL = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_JOINERS = frozenset("\u200c\u200d")
"""Persian and Indic scripts and many pictures cannot be written without them."""

_UNASSIGNED = {
    "Cn": "is not assigned in Unicode",
    "Co": "is for private use",
    "Cs": "is half of a surrogate pair",
}
_VISIBLE = frozenset("LNPS")


def player_name(text: str) -> str:
    """The name as it is kept (NFC), or NameRefused with what is wrong.

    >>> player_name("Zoe\u0308 d'Arc")
    "Zoë d'Arc"
    """
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
