"""Judgements of tournaments: correct ones are exact, and every kind of fault is found and named."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from rollbook.replay_file.container import without_names, write
from rollbook_replays.audit.audit import audit
from rollbook_replays.audit.verdicts import Verdict
from rollbook_replays.tournament.judgement import Fault, Judgement
from rollbook_replays.tournament.manifest import read_manifest
from tests.replays.replaying import KEYS, PUBLIC, recorded
from tests.replays.tournaments import (
    EVERYBODY,
    IDS,
    NUMBERS,
    PLACES,
    PLAYERS,
    STANDINGS,
    bundled,
    judged,
    manifest,
    match,
    replays,
    table,
)


def faults(judgement: Judgement) -> list[tuple[Fault, str]]:
    """Return the faults with their places."""
    return [(finding.fault, finding.where) for finding in judgement.findings]


def test_a_true_tournament_is_exact_and_its_standings_follow_from_the_matches(tmp_path: Path) -> None:
    """Places and points are computed by hand."""
    for number in NUMBERS:
        assert PLACES[number] == audit(replays(number)[IDS[number]], PUBLIC).places
    judgement = judged(bundled(manifest(), replays(*NUMBERS)), tmp_path)
    assert (Verdict.EXACT, (), ()) == (judgement.verdict, judgement.findings, judgement.missing)
    assert STANDINGS == table(judgement)


@pytest.mark.parametrize(
    ("rule", "places", "expected"),
    [
        ("split", (1, 1, 3), (Fraction(2), Fraction(2), Fraction(0))),
        ("full", (1, 1, 3), (Fraction(3), Fraction(3), Fraction(0))),
        ("split", (1, 2, 2), (Fraction(3), Fraction(1, 2), Fraction(1, 2))),
        ("full", (1, 2, 2), (Fraction(3), Fraction(1), Fraction(1))),
        ("split", (1, 1, 1), (Fraction(4, 3), Fraction(4, 3), Fraction(4, 3))),
    ],
)
def test_shared_places_get_what_the_rule_says(
    rule: str, places: tuple[int, ...], expected: tuple[Fraction, ...]
) -> None:
    """Split: the mean points of the shared places; full: each gets the points of the best of them."""
    assert expected == read_manifest(manifest(shared_places=f'"{rule}"').encode()).points_for(places)


def test_a_match_that_is_not_there_is_missing(tmp_path: Path) -> None:
    """The claimed standings are unverified without it."""
    judgement = judged(bundled(manifest(), replays(0, 3)), tmp_path)
    assert [(Fault.MISSING, IDS[4])] == faults(judgement)
    assert Verdict.DIVERGED is judgement.verdict


def test_a_match_that_nobody_paired_is_unlisted(tmp_path: Path) -> None:
    """The organiser cannot add a match that is not in the manifest."""
    judgement = judged(bundled(manifest(EVERYBODY[:2], {}), replays(*NUMBERS)), tmp_path)
    assert [(Fault.UNLISTED, IDS[4])] == faults(judgement)


def test_a_match_counts_once_however_often_it_is_named_or_filed(tmp_path: Path) -> None:
    """The match is twice in the manifest, or under the name of another match."""
    twice = judged(bundled(manifest([*EVERYBODY, EVERYBODY[0]]), replays(*NUMBERS)), tmp_path)
    assert [(Fault.DOUBLED, IDS[0])] == faults(twice)
    assert STANDINGS == table(twice)
    filed = judged(bundled(manifest(), {**replays(0, 3), IDS[4]: replays(0)[IDS[0]]}), tmp_path)
    assert [(Fault.DOUBLED, IDS[0]), (Fault.MISSING, IDS[4])] == faults(filed)


def test_other_players_are_found_and_their_match_does_not_count(tmp_path: Path) -> None:
    """Names are signed with the replay, so no player gets another's points."""
    named = write(replace(match(0), names=("Anna", "Tom", "Heike")), KEYS.replays)
    judgement = judged(bundled(manifest(standings={}), {**replays(3, 4), IDS[0]: named}), tmp_path)
    assert [(Fault.PLAYERS, IDS[0])] == faults(judgement)
    assert {"Tom": (1, "4"), "Willi": (2, "3.5"), "Anna": (3, "0.5")} == table(judgement)


def test_fewer_seats_than_players_are_found(tmp_path: Path) -> None:
    """A match with fewer seats than players is found, even in a file without names."""
    two = recorded("cant_stop", 2, 0)
    data = without_names(write(two, KEYS.replays))
    assert IDS[0] == two.match_id
    judgement = judged(bundled(manifest(standings={}), {**replays(3, 4), IDS[0]: data}), tmp_path)
    assert [(Fault.PLAYERS, IDS[0])] == faults(judgement)


def test_without_names_points_are_nobodys_and_the_standings_unverified(tmp_path: Path) -> None:
    """Removed names do not make the organiser a forger, and do not give the organiser a proof."""
    nameless = {match_id: without_names(data) for match_id, data in replays(0).items()}
    for standings in (STANDINGS, {"Anna": (1, "99")}):
        judgement = judged(bundled(manifest(standings=standings), {**replays(3, 4), **nameless}), tmp_path)
        assert (Verdict.UNVERIFIED, ()) == (judgement.verdict, judgement.findings)
        assert 2 == len(judgement.missing)
        assert f"removed, so that the points are nobody's ({IDS[0]})" in judgement.missing[0]


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"options": "{ hasty = true }"}, Fault.RULESET),
        ({"game": '"wuerfelzoo"'}, Fault.RULESET),
        ({"begins": "2026-01-01T00:00:01Z"}, Fault.TIME),
        ({"ends": "2026-01-01T00:00:01Z"}, Fault.TIME),
    ],
)
def test_matches_of_another_ruleset_or_another_time_are_found(
    changed: dict[str, Any], fault: Fault, tmp_path: Path
) -> None:
    """A match of an earlier cup does not belong to this one."""
    judgement = judged(bundled(manifest(standings={}, **changed), replays(*NUMBERS)), tmp_path)
    assert [(fault, IDS[number]) for number in NUMBERS] == faults(judgement)


def test_a_match_that_diverges_does_not_count(tmp_path: Path) -> None:
    """The fault contains the finding of the audit with its place."""
    events = match(0).events
    forged = write(replace(match(0), events=(*events[:20], events[19], *events[21:])), KEYS.replays)
    judgement = judged(bundled(manifest(standings={}), {**replays(3, 4), IDS[0]: forged}), tmp_path)
    assert [(Fault.MATCH, IDS[0])] == faults(judgement)
    assert "chain at event 21" in judgement.findings[0].found
    garbage = judged(bundled(manifest(standings={}), {**replays(3, 4), IDS[0]: b"garbage"}), tmp_path)
    assert [(Fault.MATCH, IDS[0])] == faults(garbage)


@pytest.mark.parametrize("claimed", [{"Anna": (1, "1.5")}, {"Anna": (3, "2")}, {**STANDINGS, "Tom": (2, '"9/2"')}])
def test_standings_that_do_not_follow_are_found(claimed: dict[str, tuple[int, str]], tmp_path: Path) -> None:
    """One place too good, or one point too many."""
    judgement = judged(bundled(manifest(standings=claimed), replays(*NUMBERS)), tmp_path)
    assert [Fault.STANDINGS] == [finding.fault for finding in judgement.findings]
    assert STANDINGS == table(judgement)


def test_a_bundle_that_was_changed_after_it_was_signed_is_found(tmp_path: Path) -> None:
    """A match was removed or the manifest changed; an unknown organiser leaves the bundle unverified."""
    data = bundled(manifest(), replays(*NUMBERS))
    judgement = judged(data.replace(b'title = "Cup"', b'title = "Cap"'), tmp_path)
    assert [Fault.SIGNATURE] == [finding.fault for finding in judgement.findings]
    stranger = Ed25519PrivateKey.from_private_bytes(bytes([8]) * 32)
    unknown = judged(bundled(manifest(), replays(*NUMBERS), stranger), tmp_path)
    assert (Verdict.UNVERIFIED, 1) == (unknown.verdict, len(unknown.missing))


def test_everybody_is_in_the_standings_also_who_never_played(tmp_path: Path) -> None:
    """Players without a match are last, with no points."""
    players = '["Anna", "Tom", "Willi", "Heike"]'
    judgement = judged(bundled(manifest(players=players), replays(*NUMBERS)), tmp_path)
    assert {**STANDINGS, "Heike": (4, "0")} == table(judgement)
    assert len(PLAYERS) + 1 == len(judgement.standings)
