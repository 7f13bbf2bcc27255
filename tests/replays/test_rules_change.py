"""A second ruleset is added beside the first without a change to earlier matches.

The second ruleset is invented: a seat may stop only with all three runners on the board.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest

from rollbook.match.events import Chosen, Opened
from rollbook.match.simulation import Simulation
from rollbook.replay_file.container import Replay
from rollbook.replay_file.recording import record
from rollbook.rules import cant_stop, catalogue
from rollbook.rules.cant_stop.moves import RUNNERS, Choice, Outcome, Stop
from rollbook.rules.cant_stop.play import ONLY_ROLL, ROLL_OR_STOP
from rollbook.rules.cant_stop.state import State
from rollbook.rules.catalogue import find
from rollbook.rules.game import Listed
from rollbook.rules.refusals import Illegal, Reason
from rollbook_replays.audit.verdicts import Check, Verdict
from tests.replays.forging import SERVICE, judged, put_together, taken_apart


def legal(state: State) -> Listed[Choice]:
    """Return the legal choices of ruleset 1, without stop while a runner is left."""
    before = cast("Listed[Choice]", cant_stop.GAME.legal(state))
    return ONLY_ROLL if before is ROLL_OR_STOP and state.runners.bit_count() < RUNNERS else before


def play(state: State, move: Choice | Outcome) -> None:
    """Play as in ruleset 1, but refuse that stop."""
    if isinstance(move, Stop) and legal(state) is ONLY_ROLL:
        raise Illegal(Reason.STOP_ON_ANOTHERS_FIELD, "a runner is left")
    cant_stop.GAME.play(state, move)


SECOND = replace(
    cant_stop.GAME,
    version=2,
    legal=legal,
    play=play,
    caretaker=lambda state: legal(state)[0 if state.offer.advances else -1],
)

RULESETS = tuple(sorted((*catalogue.rulesets(), SECOND), key=lambda game: (game.name, game.version)))


@pytest.fixture
def released(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add the second ruleset to the catalogue."""
    monkeypatch.setattr(catalogue, "rulesets", lambda: RULESETS)


def first_match() -> Replay:
    """Return a match of ruleset 1 from before the change."""
    return record(Simulation(find("cant_stop", 1), {}, 2, 4, 0), SERVICE.heads)


def second_match() -> Replay:
    """Return a match of the newest ruleset."""
    return record(Simulation(find("cant_stop"), {}, 2, 4, 0), SERVICE.heads)


@pytest.mark.usefixtures("released")
def test_an_old_match_is_proved_by_the_rules_it_was_played_by() -> None:
    """Event 1 names the old ruleset, which is still in the catalogue."""
    found = judged(first_match(), SERVICE)
    assert (Verdict.EXACT, 1) == (found.verdict, found.ruleset)


@pytest.mark.usefixtures("released")
def test_a_new_match_is_played_and_proved_by_the_new_rules() -> None:
    """Only the catalogue lists the new ruleset."""
    found = judged(second_match(), SERVICE)
    assert (Verdict.EXACT, 2) == (found.verdict, found.ruleset)


@pytest.mark.usefixtures("released")
def test_the_version_decides_what_was_legal() -> None:
    """An old match under the new number diverges at the first choice that the new rules forbid."""
    lines = taken_apart(first_match())
    opened = lines[0].event
    assert isinstance(opened, Opened)
    lines[0] = replace(lines[0], event=replace(opened, ruleset=2))
    found = judged(put_together(lines, SERVICE), SERVICE)
    assert found.divergence is not None
    assert (Verdict.DIVERGED, Check.CHOICES) == (found.verdict, found.divergence.check)
    event = lines[(found.divergence.event or 0) - 1].event
    assert isinstance(event, Chosen)
    assert event.choice == Stop()


def test_a_program_from_before_the_change_does_not_judge_what_it_does_not_know(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It reports the unknown ruleset, and checks signatures and chain, which need no rules."""
    with monkeypatch.context() as patched:
        patched.setattr(catalogue, "rulesets", lambda: RULESETS)
        replay = second_match()
    found = judged(replay, SERVICE)
    assert (Verdict.UNVERIFIED, None) == (found.verdict, found.divergence)
    assert ("a program that knows ruleset 2 of 'cant_stop'",) == found.missing
    broken = (*replay.events[:20], *replay.events[21:])
    cut = judged(replace(replay, events=broken, heads=()), SERVICE)
    assert cut.divergence is not None
    assert (21, Check.CHAIN) == (cut.divergence.event, cut.divergence.check)
