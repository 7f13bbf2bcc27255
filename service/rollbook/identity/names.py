"""Player names: bounded text that looks the same everywhere and cannot disturb the text around it.

Which characters are assigned depends on the Unicode tables of this Python.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from rollbook.identity.refusals import NameReason, NameRefused
from rollbook.identity.skeletons import look_alike, skeletons, words

LONGEST_NAME: Final = 40

_LONGEST_DECOMPOSITION = 4
"""Composition turns at most four characters into one."""

_BIDIRECTIONAL = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_JOINERS = frozenset("\u200c\u200d")
"""Required by Persian and Indic scripts and many emoji."""

_JOINING_SCRIPTS = frozenset(
    {"ARABIC", "BENGALI", "DEVANAGARI", "GUJARATI", "GURMUKHI", "KANNADA", "KHMER", "MALAYALAM", "MYANMAR", "ORIYA"}
    | {"SINHALA", "SYRIAC", "TAMIL", "TELUGU"}
)
_VIRAMA: Final = 9
"""The combining class of the signs after which a joiner may end a word."""

_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\U0001d159")
"""Letters, marks and symbols without a visible glyph, with which two names could look alike: fillers of Hangul, Khmer
vowels, variation selectors of Mongolian, the empty Braille pattern, a note without a head."""

_HAN_SELECTORS = frozenset(map(chr, [*range(0xFE00, 0xFE0E), *range(0xE0100, 0xE01F0)]))
_EMOJI_SELECTORS = frozenset("\ufe0e\ufe0f")
_EMOJI_SIGNS = frozenset("‼⁉〰\u2139")
"""Characters with an emoji form that are no symbols by their category."""
_KEYS = frozenset("0123456789#*")
_KEYCAP = "\u20e3"

_STACKED = frozenset({"Mn", "Me"})
"""Marks that are drawn above, below or around the character before them; many of them cover other lines. Marks with
their own width (Mc) are not included; Burmese has more than three in a row."""

MOST_MARKS: Final = 3
"""In a row."""

MOST_COMBINING: Final = 8
"""In the whole name, of the marks that combine with any letter. Marks of a script are not counted: Thai needs more."""

RESERVED: Final = ("operator", "admin", "moderator", "system", "rollbook", "you", "du", "bot")
"""Names with which a player could imitate an operator or a screen, beside those of the service's own bots."""

_BOT: Final = "bot"
"""No word of a name may be this one."""

_SIGNS: Final = frozenset("■●▲◆★▼►✚🤖✓✔☑◼⬛⬤▶✅🗸🗹")
"""The signs with which screens mark seats, bots and results, and their lookalikes."""

_NUMBERED: Final = re.compile(r"(?<=.) \(([2-9])\)\Z")
_NUMBER_LENGTH: Final = len(" (2)")

_UNASSIGNED = {
    "Cn": "is not assigned in Unicode",
    "Co": "is for private use",
    "Cs": "is half of a surrogate pair",
}
_VISIBLE = frozenset("LNPS")


class ReservedNames:
    """Names that no person may choose, compared by how they look."""

    def __init__(self, given: Iterable[str] = ()) -> None:
        """Reserve the given names and `RESERVED`."""
        self._names = {drawn: name for name in (*given, *RESERVED) for drawn in skeletons(name)}

    def check(self, name: str) -> None:
        """Raise NameRefused for brackets, for signs of screens, and for a name that looks like a reserved one."""
        for number, character in enumerate(name, start=1):
            if any(map(_is_bracket, unicodedata.normalize("NFKD", character))):
                raise _refused(NameReason.BRACKET, number, character, "is a bracket")
            if character in _SIGNS:
                raise _refused(NameReason.RESERVED_SIGN, number, character, "is a sign with which screens mark players")
        like = next(
            (self._names[drawn] for drawn in sorted(skeletons(name), key=len, reverse=True) if drawn in self._names), ""
        )
        if like or _BOT in words(name):
            raise NameRefused(NameReason.RESERVED_NAME, f"the name looks like {like or _BOT!r}, which is reserved")


def player_name(text: str, kept: str = "", reserved: ReservedNames | None = None) -> str:
    """Return the name in its stored form (NFC), or raise NameRefused; `kept` is a name that was accepted before.

    >>> player_name("Zoe\u0308 d'Arc")
    "Zoë d'Arc"
    """
    name = kept_name(text)
    if name != kept:
        _check_looks(name)
        if reserved is not None:
            reserved.check(name)
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


def name_at_table(name: str, others: Iterable[str]) -> str:
    """The name, with a number if it looks like another one at the table; a person cannot choose a name with brackets.

    >>> name_at_table("Tom", ["Anna"]), name_at_table("T0m", ["Tom", "Anna"])
    ('Tom', 'T0m (2)')
    """
    plain = plain_name(name)
    taken = {_number(other) for other in others if other and look_alike(plain, plain_name(other))}
    shown = [name, *(_add_number(plain, number) for number in range(2, len(taken) + 3))]
    return next(each for each in shown if _number(each) not in taken)


def plain_name(name: str) -> str:
    """The name without the number that it got at a table."""
    return name if _number(name) == 1 else name[:-_NUMBER_LENGTH]


def is_name_at_table(shown: str, name: str) -> bool:
    """Whether a table may show the name like this."""
    return shown == name or (_number(shown) > 1 and shown == _add_number(plain_name(name), _number(shown)))


def _number(name: str) -> int:
    numbered = _NUMBERED.search(name)
    return int(numbered[1]) if numbered else 1


def _add_number(name: str, number: int) -> str:
    return f"{name[: LONGEST_NAME - _NUMBER_LENGTH].rstrip()} ({number})"


def _too_long() -> NameRefused:
    return NameRefused(NameReason.NAME_TOO_LONG, f"a name has at most {LONGEST_NAME} characters")


def _refused(reason: NameReason, number: int, character: str, why: str) -> NameRefused:
    return NameRefused(reason, f"character {number} (U+{ord(character):04X}) {why}", number)


def _check(number: int, character: str) -> None:
    category = unicodedata.category(character)
    if category in ("Cc", "Zl", "Zp"):
        raise _refused(NameReason.CONTROL_CHARACTER, number, character, "is a control character")
    if character in _BIDIRECTIONAL:
        raise _refused(NameReason.BIDIRECTIONAL_CHARACTER, number, character, "changes the direction of the text")
    if category == "Cf" and character not in _JOINERS:
        raise _refused(NameReason.INVISIBLE_CHARACTER, number, character, "is invisible")
    if category in _UNASSIGNED:
        raise _refused(NameReason.UNASSIGNED_CHARACTER, number, character, _UNASSIGNED[category])


def _check_looks(name: str) -> None:
    """Raise NameRefused for invisible characters, and for too many marks."""
    row = combining = 0
    for number, (before, character, after) in enumerate(zip(" " + name, name, name[1:] + " ", strict=False), start=1):
        if _is_invisible(before, character, after):
            raise _refused(NameReason.INVISIBLE_CHARACTER, number, character, "is invisible here")
        row = row + 1 if unicodedata.category(character) in _STACKED else 0
        combining += unicodedata.name(character, "").startswith("COMBINING ")
        if row > MOST_MARKS:
            why = f"is one of more than {MOST_MARKS} combining marks in a row"
            raise _refused(NameReason.TOO_MANY_MARKS, number, character, why)
        if combining > MOST_COMBINING:
            raise _refused(NameReason.TOO_MANY_MARKS, number, character, f"is one mark more than {MOST_COMBINING}")


def _is_invisible(before: str, character: str, after: str) -> bool:
    """Whether a character has no glyph, and is not needed between its neighbours."""
    if character in _JOINERS:
        if _script(before) in _JOINING_SCRIPTS:
            return _script(after) not in _JOINING_SCRIPTS and unicodedata.combining(before) != _VIRAMA
        return not (_is_emoji(before) and _is_emoji(after))
    if character in _EMOJI_SELECTORS:
        return not (_is_emoji(before) or (before in _KEYS and after == _KEYCAP))
    if character in _HAN_SELECTORS:
        return _script(before) != "CJK"
    return character in _BLANK


def _is_emoji(character: str) -> bool:
    return unicodedata.category(character)[0] == "S" or character in _EMOJI_SIGNS or character in _EMOJI_SELECTORS


def _script(character: str) -> str:
    return unicodedata.name(character, "").partition(" ")[0]


def _is_bracket(character: str) -> bool:
    named = unicodedata.name(character, "")
    is_paired = unicodedata.category(character) in {"Ps", "Pe"} and "QUOTATION" not in named
    return is_paired or "PARENTHESIS" in named or "BRACKET" in named
