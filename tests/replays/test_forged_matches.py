"""Whole forged matches: with other dice, another name, another end, or other keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from rollbook.match.chain import Head, link
from rollbook.match.dice import commitment
from rollbook.match.events import (
    EXPIRED,
    Chosen,
    Happened,
    Sealed,
    SeatTaken,
    Terms,
    TimedOut,
)
from rollbook_replays.audit.signatures import flaw
from rollbook_replays.audit.verdicts import Audited, Check, Verdict
from tests.match.played import SECRET, Played
from tests.replays.forging import (
    EXPIRING,
    PUBLIC,
    SERVICE,
    STRANGER,
    Line,
    edit,
    eventful,
    first,
    head_of,
    judged,
    kept,
    lines,
    match,
    put_together,
    replay_of,
    taken_apart,
    under_way,
    with_a_free_seat,
)


@pytest.mark.parametrize(
    ("played", "after_ms", "check"),
    [
        (with_a_free_seat, 60_000, None),
        (with_a_free_seat, 59_999, Check.CLOCKS),
        (lambda: Played(terms=EXPIRING).sit(), 10**9, Check.RESULT),
        (under_way, 3_600_000, None),
        (under_way, 3_599_999, Check.CLOCKS),
        (lambda: under_way(replace(EXPIRING, turn_seconds=30)), 10**9, Check.CLOCKS),
        (lambda: under_way(Terms()), 10**9, Check.CLOCKS),
    ],
    ids=["open", "open, too early", "getting ready", "idle", "idle, too early", "with a clock", "without such terms"],
)
def test_a_match_that_was_sealed_as_expired_too_early_is_found(
    played: Callable[[], Played], after_ms: int, check: Check | None
) -> None:
    """Otherwise an operator could end any match as if its players had left."""
    found = taken_apart(replay_of(played()))
    found.append(Line(Sealed(None, EXPIRED, SECRET), found[-1].time_ms + after_ms))
    verdict = judged(put_together(found, SERVICE), SERVICE)
    if check is None:
        assert (Verdict.EXACT, None) == (verdict.verdict, verdict.divergence)
    else:
        assert verdict.divergence is not None
        expected = (Verdict.DIVERGED, len(found), check)
        assert expected == (verdict.verdict, verdict.divergence.event, verdict.divergence.check)


def test_dice_from_another_secret_than_the_committed_one_are_found() -> None:
    """A whole match with another secret under the commitment of the first."""
    found = taken_apart(replay_of(eventful(secret=b"s" * 32, brief=True)))
    edit(found, 0, commitment=commitment(SECRET))
    verdict = judged(put_together(found, SERVICE), SERVICE)
    assert verdict.divergence is not None
    assert (len(found), Check.COMMITMENT) == (verdict.divergence.event, verdict.divergence.check)


def test_dice_that_are_not_from_the_secret_are_found_at_the_first() -> None:
    """A whole match played with another secret and sealed with the committed one."""
    found = taken_apart(replay_of(eventful(secret=b"s" * 32, brief=True)))
    edit(found, 0, commitment=commitment(SECRET))
    edit(found, len(found) - 1, secret=SECRET)
    verdict = judged(put_together(found, SERVICE), SERVICE)
    assert verdict.divergence is not None
    assert (first(found, Happened) + 1, Check.DRAWS) == (verdict.divergence.event, verdict.divergence.check)


def test_two_matches_spliced_are_found_where_they_meet() -> None:
    """The second half was played with another secret."""
    found, other = lines(), taken_apart(replay_of(eventful(secret=b"s" * 32, brief=True)))
    edit(other, len(other) - 1, secret=SECRET)
    at = first(found, Happened, after=40)
    behind = first(other, Happened, after=40)
    verdict = judged(put_together([*found[:at], *other[behind:]], STRANGER), STRANGER)
    assert verdict.divergence is not None
    assert (at + 1, Check.DRAWS) == (verdict.divergence.event, verdict.divergence.check)


def test_times_moved_so_that_no_clock_shows_it_are_left_to_the_heads() -> None:
    """All times are a second later: the log is consistent, but is not the signed one."""
    honest = match()
    moved = []
    for line in taken_apart(honest):
        event = line.event
        if isinstance(event, TimedOut):
            event = replace(event, not_before_ms=event.not_before_ms + 1_000)
        moved.append(replace(line, event=event, time_ms=line.time_ms + 1_000))
    verdict = judged(put_together(moved, STRANGER, heads=honest.heads), STRANGER)
    assert verdict.divergence is not None
    assert (len(moved), Check.HEADS) == (verdict.divergence.event, verdict.divergence.check)
    stripped = judged(put_together(moved, STRANGER), STRANGER)
    assert (Verdict.UNVERIFIED, None) == (stripped.verdict, stripped.divergence)


def test_an_invented_choice_and_a_rewritten_tail_are_found_by_a_kept_head() -> None:
    """The operator plays another match from some event on: only a kept head reveals it."""
    honest, rewritten = match(), match(seed=3)
    fork = next(
        number
        for number, (one, other) in enumerate(zip(honest.events, rewritten.events, strict=False), start=1)
        if one != other
    )
    assert Verdict.EXACT is judged(rewritten, SERVICE).verdict
    assert Verdict.EXACT is judged(rewritten, SERVICE, [kept(honest, fork - 1)]).verdict
    verdict = judged(rewritten, SERVICE, [kept(honest, fork - 1), kept(honest, fork)])
    assert verdict.divergence is not None
    assert (fork, Check.HEADS) == (verdict.divergence.event, verdict.divergence.check)


def test_a_kept_head_behind_the_end_shows_that_a_match_was_cut_short() -> None:
    """The seal is at a position where the kept head has another event."""
    honest = match()
    found = lines()[:50]
    found.append(replace(found[-1], event=Sealed(None, "by_operator", SECRET), request=b""))
    cut = put_together(found, SERVICE)
    assert Verdict.EXACT is judged(cut, SERVICE).verdict
    verdict = judged(cut, SERVICE, [kept(honest, 60)])
    assert verdict.divergence is not None
    assert (60, Check.HEADS) == (verdict.divergence.event, verdict.divergence.check)


def test_a_kept_head_that_nobody_signed_accuses_nobody() -> None:
    """An invented head cannot spoil an honest match; it is listed as proving nothing."""
    honest = match()
    invented = replace(kept(honest, 40), link=bytes(32))
    assert judged(honest, SERVICE) == judged(honest, SERVICE, [invented])
    assert f"its signature is not that of key {invented.key_id}" in str(flaw(invented, PUBLIC))


def test_a_log_that_is_called_lost_names_a_signed_head_that_it_does_not_hold() -> None:
    """Otherwise an operator could end any match by declaring its log lost."""
    honest = match()
    found = lines()[:50]

    def sealed(lost: Head) -> Audited:
        seal = Sealed(None, "log_lost", SECRET, lost)
        return judged(put_together([*found, replace(found[-1], event=seal, request=b"")], SERVICE), SERVICE)

    assert Verdict.EXACT is sealed(head_of(honest.match_id, honest.events, 60, SERVICE)).verdict
    for lost in (
        head_of(honest.match_id, honest.events, 40, SERVICE),
        replace(head_of(honest.match_id, honest.events, 60, SERVICE), signature=bytes(64)),
    ):
        verdict = sealed(lost)
        assert verdict.divergence is not None
        assert (51, Check.RESULT) == (verdict.divergence.event, verdict.divergence.check)
    unknown = sealed(head_of(honest.match_id, honest.events, 60, STRANGER))
    assert Verdict.UNVERIFIED is unknown.verdict


def test_a_match_that_is_called_by_another_name_is_found_at_its_first_draw() -> None:
    """The operator signs another match under the id of a missing one, but its dice depend on its own id."""
    found = lines()
    edit(found, 0, match_id="final")
    verdict = judged(put_together(found, SERVICE), SERVICE)
    assert verdict.divergence is not None
    assert (first(found, Happened) + 1, Check.DRAWS) == (verdict.divergence.event, verdict.divergence.check)


def test_a_request_behind_its_seat_is_found_also_by_who_has_seen_the_same_choice_before() -> None:
    """Fields in another order mean the same, and the audit's cache must not hide the difference."""
    honest = match()
    assert Verdict.EXACT is judged(honest, SERVICE).verdict
    number = first(lines(), Chosen, lambda event: event.by_caretaker) + 1
    events = list(honest.events)
    at = events[number - 1].index(link(events[number - 2])) + 32
    events[number - 1] = events[number - 1][:at] + b"\x2a\x10" + bytes(16) + events[number - 1][at:]
    for index in range(number, len(events)):
        events[index] = events[index].replace(link(honest.events[index - 1]), link(events[index - 1]))
    heads = (head_of(honest.match_id, events, len(events), SERVICE),)
    verdict = judged(replace(honest, events=tuple(events), heads=heads), SERVICE)
    assert verdict.divergence is not None
    assert (number, Check.CONTAINER) == (verdict.divergence.event, verdict.divergence.check)


@pytest.mark.parametrize("stolen", ["heads", "replays"])
def test_a_thief_of_one_key_cannot_do_the_work_of_the_other(stolen: str) -> None:
    """The keys for files and for heads are stored apart; one key alone vouches for no match."""
    key = getattr(SERVICE, stolen)
    thief = replace(SERVICE, heads=key, replays=key)
    verdict = judged(put_together(lines(), thief), thief)
    assert verdict.divergence is not None
    assert (len(lines()), Check.HEADS) == (verdict.divergence.event, verdict.divergence.check)


def test_a_player_who_never_sat_there_is_found_by_a_kept_head() -> None:
    """The service asserts the players, but in the log that it signs."""
    witness = kept(match(), 10)
    found = lines()
    edit(found, first(found, SeatTaken), player=b"somebody else's name")
    verdict = judged(put_together(found, SERVICE), SERVICE, [witness])
    assert verdict.divergence is not None
    assert (10, Check.HEADS) == (verdict.divergence.event, verdict.divergence.check)
