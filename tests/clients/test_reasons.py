"""Refusals in words: every reason has a sentence in every language, and no sentence is a reason's name."""

from __future__ import annotations

import pytest

from rollbook.v1.refusals_pb2 import RefusalReason
from rollbook_clients.reasons import REASONS, explained
from rollbook_clients.sdk import OutcomeUnknown, Refused, RollbookError, Unreachable

NAMES = {name.removeprefix("REFUSAL_REASON_") for name in RefusalReason.DESCRIPTOR.values_by_name} - {"UNSPECIFIED"}


@pytest.mark.parametrize("language", REASONS)
def test_every_reason_has_a_sentence(language: str) -> None:
    """A reason that the contract gets has to be said here, one that it loses is not kept."""
    said = REASONS[language]
    assert NAMES == set(said)
    assert [] == [name for name, sentence in said.items() if not sentence.endswith((".", "?")) or "_" in sentence]


def test_both_languages_say_it_in_the_same_order() -> None:
    """Whoever reads one finds the other."""
    assert list(REASONS["en"]) == list(REASONS["de"])
    assert [] == [name for name in NAMES if REASONS["en"][name] == REASONS["de"][name]]


def test_facts_stand_behind_the_sentence() -> None:
    """How long to wait, in whole seconds that are enough, and what is possible instead."""
    banned = Refused("SEATS_KEPT", "", {"retry_after_ms": "60001"})
    assert explained(banned, "de").endswith("Versuche es in 61 s noch einmal.")
    strategy = Refused("STRATEGY_UNKNOWN", "", {"allowed": "random,heuristic"})
    assert explained(strategy, "en") == "This service has no such bot. Possible: random,heuristic."
    assert explained(Refused("RATE_LIMITED", "", {"retry_after_ms": "soon"}), "en").endswith("short time.")


@pytest.mark.parametrize("error", [Refused("", "no"), Unreachable("x"), OutcomeUnknown("x", "id"), RollbookError("x")])
def test_whatever_else_went_wrong_is_said_in_the_language_too(error: RollbookError) -> None:
    """The sentence of an exception is for programs."""
    said = {explained(error, language) for language in REASONS}
    assert 2 == len(said)
    assert all(sentence.endswith(".") for sentence in said)


def test_a_refused_name_is_explained_by_its_rule() -> None:
    """In both languages, with the place of the character where there is one."""
    bracket = Refused("NAME_REFUSED", "no", {"why": "bracket", "character": "5"})
    assert explained(bracket, "en").endswith("Names here have no brackets (character 5).")
    assert explained(bracket, "de").endswith("Namen haben hier keine Klammern (Zeichen 5).")
    assert "bot" in explained(Refused("NAME_REFUSED", "no", {"why": "reserved_name"}), "en")
    assert explained(Refused("NAME_REFUSED", "no", {"why": "bracket"}), "en").endswith("signs.")
