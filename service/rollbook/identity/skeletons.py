"""Skeletons of names: two names with the same skeleton look alike at a glance.

In a skeleton, letters of other scripts, digits and symbols are replaced by the Latin letters that they resemble, and
marks, spaces and punctuation are left out. Skeletons are compared and never shown.
"""

# ruff: noqa: RUF001, RUF002 - lookalikes are the point of this module

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Final

_LIKE: Final = {
    "a": "αΑАаɑꓮᎪ@⍺",
    "b": "ΒВвЬьßᏴꓐᗷⲂ6",
    "c": "ϹϲСсᏟꓚ¢©ⲤⲥႽ",
    "d": "ԀԁᎠꓓᗪժ",
    "e": "εΕЕеЄєЭэᎬꓰ€℮ҽΣ",
    "f": "ϜϝꓝᖴԲ",
    "g": "ɡԌԍꓖᏀց",
    "h": "ΗНнҺһᎻꓧհⲎ",
    "i": "ιΙІіӀӏɩꓲᛁⲒאוןا|!¡∣",
    "j": "ϳЈјᎫꓙյ",
    "k": "κΚКкᏦꓗⲔ",
    "l": "ԼᏞꓡ£",
    "m": "ΜМмᎷꓟϺⲘ",
    "n": "ηΝПпИиոռᴎΠπꓠⲚחՈ∩",
    "o": "οσΟОоΘθӨөՕօסہهھەዐဝഠଠ〇○◯⚪⭕●⚫⬤°ᄋꓳⲞⲟⵔᎾΩѲѳ∅٥۵",
    "p": "ρΡРрᏢꓑⲢթÞþ",
    "q": "ԚԛԶզգ",
    "r": "ГгЯяᎡꓣᖇՐ®",
    "s": "ςЅѕՏտᏚꓢᔕ$§",
    "t": "τΤТтᎢꓔⲦէ†",
    "u": "υμʊЦцՍսԱꓴᑌ∪น",
    "v": "νѴѵᏙꓦᐯ∨",
    "w": "ωѠѡԜԝШшЩщᎳꓪա",
    "x": "χΧХхꓫ×✕✖Ⲭ",
    "y": "γΥУуҮүҰұꓬ¥Ⲩ",
    "z": "ΖᏃꓜ",
}
"""Lookalikes by Latin letter. Letters that NFKD decomposes, or that are Latin by their Unicode name, are not listed."""

_LETTERS: Final = {sign: letter for letter, signs in _LIKE.items() for sign in signs}
_DIGITS: Final = "oizeasbtbg"
"""The letter for each digit of any script."""

_LATIN: Final = re.compile(r".*\b(?:LATIN|INDICATOR) (?:[A-Z-]+ )*([A-Z])(?: WITH .+| BAR)?")
"""Unicode names of letters with strokes or hooks, of small capitals, and of letters in boxes or flags."""

_FOLDED: Final = (("rn", "m"), ("vv", "w"), ("cl", "d"), ("i", "l"))
"""Parts that look alike, replaced in this order."""


@lru_cache(4_096)
def _letter(sign: str) -> str:
    """The Latin letter that a sign resembles; empty if there is none."""
    if sign.isascii() and sign.isalpha():
        return sign.lower()
    if letter := _LETTERS.get(sign) or _LETTERS.get(sign.upper()):
        return letter
    if (digit := unicodedata.digit(sign, None)) is not None:
        return _DIGITS[digit]
    named = _LATIN.fullmatch(unicodedata.name(sign, ""))
    return named[1].lower() if named else ""


def _drawn(text: str, counts: Callable[[str], bool]) -> str:
    """The skeleton of the decomposed text, of which only the signs that count are kept."""
    letters, is_latin = list[str](), False
    for sign in text:
        if unicodedata.category(sign)[0] == "M":
            # Marks distinguish names in scripts that have no Latin lookalike.
            letters += [] if is_latin else [sign]
        elif counts(sign):
            letter = _letter(sign)
            is_latin = bool(letter)
            letters.append(letter or (sign.lower() if sign.isalnum() else ""))
    drawn = "".join(letters)
    for part, folded in _FOLDED:
        drawn = drawn.replace(part, folded)
    return drawn


def skeletons(name: str) -> set[str]:
    """The skeletons of a name, without empty ones: symbols may stand for letters or only decorate the name.

    >>> skeletons("U-nö") == skeletons("ＵΝ0") == {"uno"}
    True
    >>> "trlo" in skeletons("*Tr!o*")
    True
    """
    text = unicodedata.normalize("NFKD", name)
    inner = re.sub(r"^\W+|\W+$", "", text)
    return {_drawn(text, bool), _drawn(inner, bool), _drawn(text, str.isalnum)} - {""}


def words(name: str) -> list[str]:
    """The skeletons of a name's words."""
    text = unicodedata.normalize("NFKD", name)
    without_marks = "".join(sign for sign in text if unicodedata.category(sign)[0] != "M")
    return [_drawn(part, bool) for part in re.split(r"[\W_]+", without_marks)]


def look_alike(one: str, other: str) -> bool:
    """Whether two names can be confused; names that differ in a number cannot."""
    if _numbers(one) != _numbers(other):
        return False
    return one == other or not skeletons(one).isdisjoint(skeletons(other))


def _numbers(name: str) -> list[str]:
    return [part for part in unicodedata.normalize("NFKD", name).split() if part.isdecimal()]
