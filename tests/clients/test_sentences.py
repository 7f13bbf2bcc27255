"""Sentences that new players misread are gone from all texts, in both languages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from rollbook.rules.catalogue import current
from rollbook_clients.reasons import english, german
from rollbook_clients.terminal.texts import TEXTS as TERMINAL
from rollbook_clients.terminal.texts import words_in
from rollbook_clients.web.words import TEXTS as PAGE
from rollbook_replays.games import presentation
from rollbook_replays.games.words import SHARED

ROOT = Path(__file__).parents[2]
FILES = (
    "README.md",
    "clients/rollbook_clients/web/static/verify/page.js",
    "clients/rollbook_clients/commands/matches.py",
    "clients/rollbook_clients/commands/watch.py",
)
MISREAD = (
    "look on",
    "{moves} to come",
    "is bust",
    "ready and brings entropy",
    "as it has to be",
    "as they have to be",
    "no match fits",
    "plays by itself",
    "brought any",
    "You finish",
    "Not disproved",
    "Du erreichst",
    "kostet {points}",
    "{moves} folgen",
    "wie sie sein müssen",
)


def every_text() -> Iterator[str]:
    """Yield all texts for users, and the files with texts of their own."""
    games = (presentation(game).texts for game in current())
    for texts in (TERMINAL, PAGE, SHARED, *games):
        for said in texts.values():
            yield from said.values()
    for reasons in (english.ENGLISH, german.GERMAN):
        yield from reasons.values()
    for name in FILES:
        yield (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("misread", MISREAD)
def test_a_sentence_that_was_misread_is_gone(misread: str) -> None:
    """No text of terminal, page, games, reasons or commands contains the sentence."""
    assert [text for text in every_text() if misread in text] == []


@pytest.mark.parametrize("texts", [TERMINAL["en"], PAGE["en"]], ids=["terminal", "page"])
def test_a_match_that_is_over_is_called_finished(texts: Mapping[str, str]) -> None:
    """Lists and the header of a table use the word."""
    assert texts["state.4"] == "Finished"


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "Greta wins. You come second."), ("de", "Greta gewinnt, du wirst Zweiter.")],
)
def test_the_winner_is_named_first(language: str, said: str) -> None:
    """The text for a player who came second."""
    words = words_in(language)
    assert words("end.place", names="Greta", place=words("come.2")) == said
