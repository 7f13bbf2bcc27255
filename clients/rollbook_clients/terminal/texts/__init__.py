"""What the terminal says, in which language: a module for each, and all of them have the same keys."""

import locale
import os
from typing import Final

from rollbook_clients.terminal.texts.english import ENGLISH
from rollbook_clients.terminal.texts.german import GERMAN
from rollbook_replays.games.words import Texts, Words

TEXTS: Final[Texts] = {"en": ENGLISH, "de": GERMAN}


def words_in(language: str = "en") -> Words:
    """The texts of the terminal, and those of every account of a match.

    >>> words_in("de")("turn.of", name="Anna")
    'Anna ist am Zug'
    """
    return Words(language, TEXTS)


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
    return language if language in TEXTS else "en"
