"""The texts of the terminal: a module per language, all with the same keys."""

import locale
import os
from typing import Final

from rollbook_clients.terminal.texts.english import ENGLISH
from rollbook_clients.terminal.texts.german import GERMAN
from rollbook_replays.games.words import Texts, Words

TEXTS: Final[Texts] = {"en": ENGLISH, "de": GERMAN}


def words_in(language: str = "en") -> Words:
    """The texts of the terminal, together with those of the accounts of matches.

    >>> words_in("de")("turn.of", name="Anna")
    'Anna ist am Zug'
    """
    return Words(language, TEXTS)


def language_of_this_person() -> str:
    """The language of the environment; English if the terminal has no texts in it."""
    for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if asked := os.environ.get(variable):
            return _two_letters(asked)
    return _two_letters(locale.getlocale()[0] or "")


def _two_letters(name: str) -> str:
    """The supported language of a locale name; English for all others.

    >>> _two_letters("de_AT.UTF-8"), _two_letters("C.UTF-8"), _two_letters("fr_FR")
    ('de', 'en', 'en')
    """
    language = name[:2].lower()
    return language if language in TEXTS else "en"
