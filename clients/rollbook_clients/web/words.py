"""The texts of the page in all languages; games add their own."""

from __future__ import annotations

from typing import Final

from rollbook_clients.reasons import REASONS
from rollbook_clients.terminal.texts import TEXTS as TERMINAL
from rollbook_clients.web.texts.english import ENGLISH
from rollbook_clients.web.texts.german import GERMAN
from rollbook_replays.games.words import Texts, Words

SHARED: Final = (
    "clock.",
    "delay.",
    "away",
    "rematch.",
    "end.decline",
    "lobby.asks",
    "now.people",
    "now.slow",
    "now.unready",
)
"""How the keys of texts begin that the page shares with the terminal."""


def _with_common(language: str, texts: dict[str, str]) -> dict[str, str]:
    """The texts, with a sentence for every refusal and those that the page shares with the terminal."""
    refusals = {f"refused.{reason}": said for reason, said in REASONS[language].items()}
    shared = {key: text for key, text in TERMINAL[language].items() if key.startswith(SHARED)}
    return {**refusals, **shared, **texts}


TEXTS: Final[Texts] = {"en": _with_common("en", ENGLISH), "de": _with_common("de", GERMAN)}
LANGUAGES: Final = tuple(TEXTS)

_WORDS: Final = {language: Words(language, TEXTS) for language in LANGUAGES}


def words_in(language: str) -> Words:
    """The texts of the page in this language."""
    return _WORDS[language]


def prefer_language(wished: str, kept: str = "") -> str:
    """The chosen language if there is one, else the first supported one by the browser's preference.

    >>> prefer_language("fr, de-AT;q=0.8, en;q=0.5"), prefer_language("de", kept="en"), prefer_language("")
    ('de', 'en', 'en')
    """
    if kept in LANGUAGES:
        return kept
    asked: list[tuple[float, str]] = []
    for part in wished.split(",")[:20]:
        name, _, weight = part.strip().partition(";q=")
        try:
            asked.append((-float(weight or 1), name.strip().lower()[:2]))
        except ValueError:
            continue
    return next((name for _, name in sorted(asked, key=lambda each: each[0]) if name in LANGUAGES), LANGUAGES[0])
