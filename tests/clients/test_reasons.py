"""Every refusal reason has a sentence in every language, and no sentence is the name of a reason."""

from __future__ import annotations

import pytest

from rollbook.v1.refusals_pb2 import RefusalReason
from rollbook_clients.reasons import REASONS, explain
from rollbook_clients.sdk import OutcomeUnknown, Refused, RollbookError, Unreachable

NAMES = {name.removeprefix("REFUSAL_REASON_") for name in RefusalReason.DESCRIPTOR.values_by_name} - {"UNSPECIFIED"}


@pytest.mark.parametrize("language", REASONS)
def test_every_reason_has_a_sentence(language: str) -> None:
    """The sentences match the reasons of the contract exactly."""
    said = REASONS[language]
    assert NAMES == set(said)
    assert [] == [name for name, sentence in said.items() if not sentence.endswith((".", "?")) or "_" in sentence]


def test_both_languages_say_it_in_the_same_order() -> None:
    """Both languages list the reasons in the same order."""
    assert list(REASONS["en"]) == list(REASONS["de"])
    assert [] == [name for name in NAMES if REASONS["en"][name] == REASONS["de"][name]]


def test_facts_stand_behind_the_sentence() -> None:
    """The facts follow the sentence: the wait in whole seconds, rounded up, and the allowed values."""
    banned = Refused("SEATS_KEPT", "", {"retry_after_ms": "60001"})
    assert explain(banned, "de").endswith("Versuche es in 61 s noch einmal.")
    strategy = Refused("STRATEGY_UNKNOWN", "", {"allowed": "random,heuristic"})
    assert explain(strategy, "en") == "This service has no such bot. Possible: random,heuristic."
    assert explain(Refused("RATE_LIMITED", "", {"retry_after_ms": "soon"}), "en").endswith("short time.")


@pytest.mark.parametrize("error", [Refused("", "no"), Unreachable("x"), OutcomeUnknown("x", "id"), RollbookError("x")])
def test_whatever_else_went_wrong_is_said_in_the_language_too(error: RollbookError) -> None:
    """The exception's own sentence is for programs, so users get a translated one."""
    said = {explain(error, language) for language in REASONS}
    assert 2 == len(said)
    assert all(sentence.endswith(".") for sentence in said)


def test_a_refused_name_is_explained_by_its_rule() -> None:
    """In both languages, with the place of the character where there is one."""
    bracket = Refused("NAME_REFUSED", "no", {"why": "bracket", "character": "5"})
    assert explain(bracket, "en").endswith("Names here have no brackets (character 5).")
    assert explain(bracket, "de").endswith("Namen haben hier keine Klammern (Zeichen 5).")
    assert "bot" in explain(Refused("NAME_REFUSED", "no", {"why": "reserved_name"}), "en")
    assert explain(Refused("NAME_REFUSED", "no", {"why": "bracket"}), "en").endswith("signs.")
