"""Clocks by name."""

from __future__ import annotations

import pytest

from rollbook_clients.terminal.clocks import clock_name
from rollbook_clients.terminal.screens.new_match import TURN_SECONDS
from rollbook_clients.terminal.texts import words_in


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


def test_every_clock_that_is_offered_has_a_name_of_its_own() -> None:
    """Two that read alike could not be told apart."""
    assert len(TURN_SECONDS) == len({clock_name(seconds, words_in("en")) for seconds in TURN_SECONDS})
