"""Changed, dropped, doubled and added events are found at their place, with any signature."""

from __future__ import annotations

from typing import Any

import pytest

from rollbook.match.events import (
    Chosen,
    Happened,
    Resigned,
    Resumed,
    Terms,
    TimedOut,
)
from rollbook.rules.catalogue import current
from rollbook_replays.audit.verdicts import Check, Verdict
from tests.match.played import Played
from tests.replays.changes import OPERATORS, STRANGERS, Change, entropy_that_was_not_committed
from tests.replays.forging import (
    SERVICE,
    STRANGER,
    edit,
    first,
    judged,
    kept,
    lines,
    match,
    put_together,
    replay_of,
    taken_apart,
)


@pytest.mark.parametrize("game", current())
def test_an_honest_match_with_all_that_can_happen_in_one_is_exact(game: str) -> None:
    """The tests below change this match, so it has to be exact before."""
    found = judged(match(game), SERVICE, [kept(match(game), 1), kept(match(game), 40)])
    assert (Verdict.EXACT, None, ()) == (found.verdict, found.divergence, found.missing)
    kinds = {type(line.event) for line in lines(game)}
    assert {TimedOut, Resumed, Resigned, Chosen, Happened} <= kinds


@pytest.mark.parametrize(("check", "change", "game"), STRANGERS, ids=[change.__name__ for _, change, _ in STRANGERS])
@pytest.mark.parametrize("keys", [STRANGER, SERVICE], ids=["stranger", "operator"])
def test_what_was_changed_is_found_at_its_event_by_its_check(
    check: Check, change: Change, game: str, keys: Any
) -> None:
    """All signatures are by the right keys, so the log alone reveals the change."""
    found = lines(game)
    index = change(found)
    verdict = judged(put_together(found, keys), keys)
    assert verdict.divergence is not None
    assert (index + 1, check) == (verdict.divergence.event, verdict.divergence.check), verdict.divergence


@pytest.mark.parametrize(("check", "change"), OPERATORS, ids=[change.__name__ for _, change in OPERATORS])
def test_what_an_operator_with_the_keys_adds_or_changes_is_found_from_the_file_alone(
    check: Check, change: Change
) -> None:
    """Signatures prove the author of a log, not its correctness."""
    found = lines()
    index = change(found)
    verdict = judged(put_together(found, SERVICE), SERVICE)
    assert verdict.divergence is not None
    assert (index + 1, check) == (verdict.divergence.event, verdict.divergence.check), verdict.divergence


def test_what_the_rules_object_to_is_said_as_their_sentence() -> None:
    """The expected value is the sentence of the rules, such as that the entropy does not fit."""
    found = lines()
    index = entropy_that_was_not_committed(found)
    verdict = judged(put_together(found, SERVICE), SERVICE)
    assert verdict.divergence is not None
    said = verdict.divergence.sentence
    seat = found[index].event.seat
    assert said.startswith(f"the entropy of seat {seat} does not fit its commitment; found {{")


def test_a_charged_choice_in_a_match_without_a_clock_is_found() -> None:
    """Otherwise the same match could have several signed versions with different times."""
    played = Played(terms=Terms()).start()
    while played.ledger.match.sealed is None:
        played.append(played.choose())
    found = taken_apart(replay_of(played))
    index = edit(found, first(found, Chosen, after=20), charged_ms=1)
    verdict = judged(put_together(found, SERVICE), SERVICE)
    assert verdict.divergence is not None
    assert (index + 1, Check.CLOCKS) == (verdict.divergence.event, verdict.divergence.check)
