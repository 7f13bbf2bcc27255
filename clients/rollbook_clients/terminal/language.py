"""Which language the terminal speaks, and how its sentences are made."""

from __future__ import annotations

import locale
import os
from collections.abc import Iterable, Mapping
from typing import Final

from rollbook_clients.terminal.texts.english import ENGLISH
from rollbook_clients.terminal.texts.german import GERMAN

LANGUAGES: Final[Mapping[str, Mapping[str, str]]] = {"en": ENGLISH, "de": GERMAN}


class Words:
    """The texts of one language."""

    def __init__(self, language: str = "en") -> None:
        """Speak English unless the language is known."""
        self.language = language if language in LANGUAGES else "en"
        self._texts = LANGUAGES[self.language]

    def __call__(self, key: str, **facts: object) -> str:
        """The text of this key with these facts.

        >>> Words("de")("turn.of", name="Anna")
        'Anna ist am Zug'
        """
        return self._texts[key].format(**facts)

    def count(self, key: str, number: float) -> str:
        """So many of something.

        >>> Words("en").count("tooth", 1), Words("de").count("tooth", 3)
        ('1 tooth', '3 Zähne')
        """
        return f"{number} {self._texts[f'{key}.one' if number == 1 else f'{key}.many']}"

    def both(self, items: Iterable[str]) -> str:
        """Several things in a row.

        >>> Words("en").both(["3", "7", "9"])
        '3, 7 and 9'
        """
        listed = list(items)
        if len(listed) < 2:  # noqa: PLR2004 - one thing needs no word between
            return "".join(listed)
        return f"{', '.join(listed[:-1])} {self('and')} {listed[-1]}"


def language_of_this_person() -> str:
    """The language that the environment asks for, English where it is not spoken here."""
    for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if asked := os.environ.get(variable):
            return _two_letters(asked)
    return _two_letters(locale.getlocale()[0] or "")


def _two_letters(name: str) -> str:
    """The language of a locale.

    >>> _two_letters("de_AT.UTF-8"), _two_letters("C.UTF-8"), _two_letters("fr_FR")
    ('de', 'en', 'en')
    """
    language = name[:2].lower()
    return language if language in LANGUAGES else "en"
