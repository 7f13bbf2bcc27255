"""Clocks by name."""

from __future__ import annotations

import pytest

from rollbook_clients.terminal.clocks import clock_name, delay_name
from rollbook_clients.terminal.screens.new_match import TURN_SECONDS
from rollbook_clients.terminal.texts import words_in
from rollbook_clients.web.lobby_pages import CLOCKS, DELAYS
from rollbook_clients.web.words import words_in as page_words_in


@pytest.mark.parametrize(
    ("seconds", "english", "german"),
    [
        (0, "no clock", "keine Uhr"),
        (45, "45 s a turn", "45 s pro Zug"),
        (60, "1 min a turn", "1 min pro Zug"),
        (120, "2 min a turn", "2 min pro Zug"),
        (90, "90 s a turn", "90 s pro Zug"),
        (3_600, "1 hour a move", "1 Stunde pro Zug"),
        (86_400, "a day a move", "ein Tag pro Zug"),
        (259_200, "3 days a move", "3 Tage pro Zug"),
    ],
)
def test_a_clock_is_called_as_people_call_it(seconds: int, english: str, german: str) -> None:
    """Nobody counts 86400 seconds."""
    assert english == clock_name(seconds, words_in("en"))
    assert german == clock_name(seconds, words_in("de"))


@pytest.mark.parametrize(
    ("seconds", "english", "german"),
    [(0, "none", "keine"), (30, "30 s", "30 s"), (60, "1 min", "1 min"), (300, "5 min", "5 min")],
)
def test_a_delay_is_called_as_clocks_are(seconds: int, english: str, german: str) -> None:
    """In minutes, where it is minutes."""
    assert english == delay_name(seconds, words_in("en"))
    assert german == delay_name(seconds, words_in("de"))


def test_every_clock_and_delay_is_called_the_same_on_the_page() -> None:
    """Whoever opens a match there meets it here, too."""
    for language in ("en", "de"):
        here, page = words_in(language), page_words_in(language)
        assert [clock_name(each, here) for each in CLOCKS] == [clock_name(each, page) for each in CLOCKS]
        assert [delay_name(each, here) for each in DELAYS] == [delay_name(each, page) for each in DELAYS]


def test_every_clock_that_is_offered_has_a_name_of_its_own() -> None:
    """Two that read alike could not be told apart."""
    assert len(TURN_SECONDS) == len({clock_name(seconds, words_in("en")) for seconds in TURN_SECONDS})
