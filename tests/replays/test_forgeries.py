"""What dishonest people do to a match, and where the audit finds it.

A stranger has our code and rewrites chain, closing links and footer, but has no key that a judge trusts. An operator
has the keys, so everything is signed as it should be, and only what the log says can give him away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from rollbook.match.chain import Head, link
from rollbook.match.commands import TakeSeat
from rollbook.match.decide import decide
from rollbook.match.dice import commitment
from rollbook.match.events import (
    EXPIRED,
    Chosen,
    Forfeited,
    Happened,
    Opened,
    Ready,
    Resigned,
    Resumed,
    Sealed,
    SeatLeft,
    SeatTaken,
    Started,
    Terms,
    TimedOut,
    not_ready,
)
from rollbook.replay_file.container import Replay
from rollbook.rules.allie_gator.moves import Drawn
from rollbook.rules.cant_stop.moves import Advance, Roll, Rolled, Stop
from rollbook_replays.audit.signatures import flaw
from rollbook_replays.audit.verdicts import Audited, Check, Verdict
from tests.match.test_decide import SECRET, Played
from tests.replays.forging import (
    ENTROPY,
    PUBLIC,
    SERVICE,
    STRANGER,
    Line,
    eventful,
    first,
    head_of,
    judged,
    kept,
    put_together,
    replay_of,
    taken_apart,
)

Change = Callable[[list[Line]], int]
"""Changes the lines in place and says at which index that shows."""


@cache
def match(game: str = "cant_stop") -> Replay:
    """A match with all that can happen in one."""
    return replay_of(eventful(game, brief=True))


def lines(game: str = "cant_stop") -> list[Line]:
    """Its events, to be changed."""
    return taken_apart(match(game))


def edit(found: list[Line], index: int, **changes: Any) -> int:
    """Change one event."""
    found[index] = replace(found[index], event=replace(found[index].event, **changes))
    return index


@pytest.mark.parametrize("game", ["cant_stop", "raffzahn", "wuerfelzoo", "allie_gator"])
def test_an_honest_match_with_all_that_can_happen_in_one_is_exact(game: str) -> None:
    """Else what follows would prove nothing."""
    found = judged(match(game), SERVICE, [kept(match(game), 1), kept(match(game), 40)])
    assert (Verdict.EXACT, None, ()) == (found.verdict, found.divergence, found.missing)
    kinds = {type(line.event) for line in lines(game)}
    assert {TimedOut, Resumed, Resigned, Chosen, Happened} <= kinds


# What strangers do


def _other_dice(found: list[Line]) -> int:
    index = first(found, Happened, lambda event: isinstance(event.outcome, Rolled), after=50)
    dice = found[index].event.outcome.dice
    return edit(found, index, outcome=Rolled((dice[0] % 6 + 1, *dice[1:])))


def _another_first_seat(found: list[Line]) -> int:
    index = first(found, Happened)
    return edit(
        found, index, outcome=replace(found[index].event.outcome, seat=(found[index].event.outcome.seat + 1) % 3)
    )


def _other_hidden_cards(found: list[Line]) -> int:
    index = first(found, Happened, lambda event: isinstance(event.outcome, Drawn))
    other = first(found, Happened, lambda event: isinstance(event.outcome, Drawn), after=index)
    cards = [found[at].event.outcome.cards for at in (index, other)]
    edit(found, index, outcome=replace(found[index].event.outcome, cards=cards[1]))
    edit(found, other, outcome=replace(found[other].event.outcome, cards=cards[0]))
    return index


def _a_dropped_choice(found: list[Line]) -> int:
    index = first(found, Chosen, lambda event: isinstance(event.choice, Advance), after=30)
    del found[index]
    return index


def _a_dropped_throw(found: list[Line]) -> int:
    index = first(found, Happened, lambda event: isinstance(event.outcome, Rolled), after=30)
    del found[index]
    return index


def _a_dropped_readiness(found: list[Line]) -> int:
    index = first(found, Ready)
    del found[index]
    return first(found, Started)


def _a_doubled_choice(found: list[Line]) -> int:
    index = first(found, Chosen, lambda event: isinstance(event.choice, Roll))
    found.insert(index, found[index])
    return index + 1


def _a_doubled_throw(found: list[Line]) -> int:
    index = first(found, Happened, lambda event: isinstance(event.outcome, Rolled), after=20)
    if isinstance(found[index + 1].event, Happened):
        index += 1
    found.insert(index, found[index])
    return index + 1


def _a_reordered_pair(found: list[Line]) -> int:
    index = first(found, Chosen, lambda event: isinstance(event.choice, Advance), after=30)
    found[index], found[index + 1] = found[index + 1], found[index]
    return index


def _another_result(found: list[Line]) -> int:
    places = found[-1].event.places
    return edit(found, len(found) - 1, places=(*places[1:], places[0]))


def _a_match_without_a_result(found: list[Line]) -> int:
    return edit(found, len(found) - 1, places=None, aborted="by_operator")


def _an_illegal_choice(found: list[Line]) -> int:
    index = first(found, Chosen, lambda event: isinstance(event.choice, Advance), after=30)
    return edit(found, index, choice=Advance((2, 12)))


def _a_choice_of_another_seat(found: list[Line]) -> int:
    index = first(found, Chosen, after=30)
    return edit(found, index, seat=(found[index].event.seat + 1) % 3)


def _a_time_that_falls(found: list[Line]) -> int:
    index = 60
    found[index] = replace(found[index], time_ms=found[index - 1].time_ms - 1)
    return index


def _a_wait_that_was_longer(found: list[Line]) -> int:
    index = first(found, Chosen, after=40)
    found[index] = replace(found[index], time_ms=found[index].time_ms + 1)
    return index


def _a_caretakers_choice_as_a_players(found: list[Line]) -> int:
    return edit(found, first(found, Chosen, lambda event: event.by_caretaker), by_caretaker=False)


def _a_players_choice_as_a_caretakers(found: list[Line]) -> int:
    index = first(found, Chosen, lambda event: not event.by_caretaker, after=20)
    return edit(found, index, by_caretaker=True, charged_ms=0)


def _another_choice_of_the_caretaker(found: list[Line]) -> int:
    index = first(found, Chosen, lambda event: event.by_caretaker and isinstance(event.choice, Stop))
    return edit(found, index, choice=Roll())


def _another_secret(found: list[Line]) -> int:
    return edit(found, len(found) - 1, secret=bytes(32))


def _something_behind_the_seal(found: list[Line]) -> int:
    found.append(replace(found[-1]))
    return len(found) - 1


def _no_seal(found: list[Line]) -> int:
    del found[-1]
    return len(found) - 1


STRANGERS: list[tuple[Check, Change, str]] = [
    (Check.DRAWS, _other_dice, "cant_stop"),
    (Check.DRAWS, _another_first_seat, "cant_stop"),
    (Check.HIDDEN, _other_hidden_cards, "allie_gator"),
    (Check.CHOICES, _a_dropped_choice, "cant_stop"),
    (Check.TURNS, _a_dropped_throw, "cant_stop"),
    (Check.LIFECYCLE, _a_dropped_readiness, "cant_stop"),
    (Check.TURNS, _a_doubled_choice, "cant_stop"),
    (Check.TURNS, _a_doubled_throw, "cant_stop"),
    (Check.CHOICES, _a_reordered_pair, "cant_stop"),
    (Check.RESULT, _another_result, "cant_stop"),
    (Check.RESULT, _a_match_without_a_result, "cant_stop"),
    (Check.CHOICES, _an_illegal_choice, "cant_stop"),
    (Check.TURNS, _a_choice_of_another_seat, "cant_stop"),
    (Check.CLOCKS, _a_time_that_falls, "cant_stop"),
    (Check.CLOCKS, _a_wait_that_was_longer, "cant_stop"),
    (Check.CARETAKER, _a_caretakers_choice_as_a_players, "cant_stop"),
    (Check.CARETAKER, _a_players_choice_as_a_caretakers, "cant_stop"),
    (Check.CARETAKER, _another_choice_of_the_caretaker, "cant_stop"),
    (Check.COMMITMENT, _another_secret, "cant_stop"),
    (Check.SEAL, _something_behind_the_seal, "cant_stop"),
    (Check.SEAL, _no_seal, "cant_stop"),
]


@pytest.mark.parametrize(
    ("check", "change", "game"), STRANGERS, ids=[change.__name__[1:] for _, change, _ in STRANGERS]
)
@pytest.mark.parametrize("keys", [STRANGER, SERVICE], ids=["stranger", "operator"])
def test_what_was_changed_is_found_at_its_event_by_its_check(
    check: Check, change: Change, game: str, keys: Any
) -> None:
    """Also when everything is signed by the right keys: the log itself gives it away."""
    found = lines(game)
    index = change(found)
    verdict = judged(put_together(found, keys), keys)
    assert verdict.divergence is not None
    assert (index + 1, check) == (verdict.divergence.event, verdict.divergence.check), verdict.divergence


# What operators do


def _entropy_that_was_not_committed(found: list[Line]) -> int:
    return edit(found, first(found, Ready), entropy=ENTROPY[::-1])


def _entropy_that_is_not_revealed(found: list[Line]) -> int:
    return edit(found, first(found, Ready), entropy=b"")


def _readiness_for_other_seats(found: list[Line]) -> int:
    opened = found[0].event
    assert isinstance(opened, Opened)
    index = first(found, Ready)
    earlier = put_together(found[:3], SERVICE).heads[0].link
    return edit(found, index, closing_link=earlier)


def _a_second_start(found: list[Line]) -> int:
    index = first(found, Started) + 4
    found.insert(index, replace(found[index - 1], event=Started(), request=b""))
    return index


def _a_second_opening(found: list[Line]) -> int:
    found.insert(1, found[0])
    return 1


def _a_seat_left_after_closing(found: list[Line]) -> int:
    index = first(found, Ready)
    found.insert(index, replace(found[index - 1], event=SeatLeft(0), request=b""))
    return index


def _a_seat_taken_after_closing(found: list[Line]) -> int:
    index = first(found, Started)
    found.insert(index, replace(found[index - 1], event=SeatTaken(1, b"another"), request=b""))
    return index


def _a_player_on_two_seats(found: list[Line]) -> int:
    index = first(found, SeatTaken, after=1)
    return edit(found, index, player=found[1].event.player)


def _a_forfeit_without_time_outs(found: list[Line]) -> int:
    index = first(found, Chosen, after=30)
    found.insert(index, replace(found[index - 1], event=Forfeited(0), request=b""))
    return index


def _a_time_out_before_its_time(found: list[Line]) -> int:
    index = first(found, TimedOut)
    event = found[index].event
    assert isinstance(event, TimedOut)
    early = found[index].time_ms - 10_000
    found[index] = replace(
        found[index], time_ms=early, event=replace(event, not_before_ms=early, charged_ms=event.charged_ms - 10_000)
    )
    return index


def _a_time_out_that_came_before_it_says(found: list[Line]) -> int:
    index = first(found, TimedOut)
    event = found[index].event
    assert isinstance(event, TimedOut)
    found[index] = replace(
        found[index], time_ms=event.not_before_ms - 1, event=replace(event, charged_ms=event.charged_ms - 101)
    )
    return index


def _a_time_out_of_another_seat(found: list[Line]) -> int:
    index = first(found, TimedOut)
    return edit(found, index, seat=(found[index].event.seat + 1) % 3)


def _a_pardon_longer_than_the_wait(found: list[Line]) -> int:
    return edit(found, first(found, Resumed), not_charged_ms=10_000_000)


def _a_wait_charged_by_less(found: list[Line]) -> int:
    index = first(found, Chosen, after=30)
    return edit(found, index, charged_ms=found[index].event.charged_ms - 1)


def _an_abort_for_a_seat_that_was_ready(found: list[Line]) -> int:
    index = first(found, Started)
    found[index:] = [replace(found[index], event=Sealed(None, "not_ready:1", SECRET))]
    return index


def _an_abort_before_the_time_to_get_ready_was_over(found: list[Line]) -> int:
    index = first(found, Ready, lambda event: event.seat == 1)
    taken = {line.event.seat for line in found if isinstance(line.event, SeatTaken)}
    ready = {line.event.seat for line in found[:index] if isinstance(line.event, Ready)}
    event = Sealed(None, not_ready(sorted(taken - ready)), SECRET)
    found[index:] = [replace(found[index - 1], event=event, request=b"")]
    return index


def _a_request_that_was_made_twice(found: list[Line]) -> int:
    index = first(found, Chosen, after=60)
    found[index] = replace(found[index], request=found[1].request)
    return index


def _a_request_on_a_throw(found: list[Line]) -> int:
    index = first(found, Happened, after=60)
    found[index] = replace(found[index], request=bytes(16))
    return index


OPERATORS: list[tuple[Check, Change]] = [
    (Check.ENTROPY, _entropy_that_was_not_committed),
    (Check.ENTROPY, _entropy_that_is_not_revealed),
    (Check.ENTROPY, _readiness_for_other_seats),
    (Check.LIFECYCLE, _a_second_start),
    (Check.LIFECYCLE, _a_seat_left_after_closing),
    (Check.LIFECYCLE, _a_seat_taken_after_closing),
    (Check.LIFECYCLE, _a_player_on_two_seats),
    (Check.LIFECYCLE, _a_forfeit_without_time_outs),
    (Check.CONTAINER, _a_second_opening),
    (Check.CLOCKS, _a_time_out_before_its_time),
    (Check.CLOCKS, _a_time_out_that_came_before_it_says),
    (Check.TURNS, _a_time_out_of_another_seat),
    (Check.CLOCKS, _a_pardon_longer_than_the_wait),
    (Check.CLOCKS, _a_wait_charged_by_less),
    (Check.RESULT, _an_abort_for_a_seat_that_was_ready),
    (Check.CLOCKS, _an_abort_before_the_time_to_get_ready_was_over),
    (Check.LIFECYCLE, _a_request_that_was_made_twice),
    (Check.LIFECYCLE, _a_request_on_a_throw),
]


@pytest.mark.parametrize(("check", "change"), OPERATORS, ids=[change.__name__[1:] for _, change in OPERATORS])
def test_what_an_operator_with_the_keys_adds_or_changes_is_found_from_the_file_alone(
    check: Check, change: Change
) -> None:
    """Signatures prove who wrote a log, never that it is right."""
    found = lines()
    index = change(found)
    verdict = judged(put_together(found, SERVICE), SERVICE)
    assert verdict.divergence is not None
    assert (index + 1, check) == (verdict.divergence.event, verdict.divergence.check), verdict.divergence


def test_what_the_rules_object_to_is_said_as_their_sentence() -> None:
    """Nobody expects that entropy does not fit."""
    found = lines()
    index = _entropy_that_was_not_committed(found)
    verdict = judged(put_together(found, SERVICE), SERVICE)
    assert verdict.divergence is not None
    said = verdict.divergence.sentence
    seat = found[index].event.seat
    assert said.startswith(f"the entropy of seat {seat} does not fit its commitment; found {{")


def test_a_charged_choice_in_a_match_without_a_clock_is_found() -> None:
    """Else the same match could be told with different times, each of them signed."""
    played = Played(terms=Terms()).start()
    while played.ledger.match.sealed is None:
        played.append(played.choose())
    found = taken_apart(replay_of(played))
    index = edit(found, first(found, Chosen, after=20), charged_ms=1)
    verdict = judged(put_together(found, SERVICE), SERVICE)
    assert verdict.divergence is not None
    assert (index + 1, Check.CLOCKS) == (verdict.divergence.event, verdict.divergence.check)


EXPIRING = Terms(open_seconds=60, idle_seconds=3_600)


def _with_a_free_seat() -> Played:
    played = Played(terms=EXPIRING)
    played.append(decide(played.ledger, TakeSeat(played.by("p0"))))
    return played


def _under_way(terms: Terms = EXPIRING) -> Played:
    played = Played(terms=terms).start()
    for _ in range(5):
        played.append(played.choose())
    return played


@pytest.mark.parametrize(
    ("played", "after_ms", "check"),
    [
        (_with_a_free_seat, 60_000, None),
        (_with_a_free_seat, 59_999, Check.CLOCKS),
        (lambda: Played(terms=EXPIRING).sit(), 10**9, Check.RESULT),
        (_under_way, 3_600_000, None),
        (_under_way, 3_599_999, Check.CLOCKS),
        (lambda: _under_way(replace(EXPIRING, turn_seconds=30)), 10**9, Check.CLOCKS),
        (lambda: _under_way(Terms()), 10**9, Check.CLOCKS),
    ],
    ids=["open", "open, too early", "getting ready", "idle", "idle, too early", "with a clock", "without such terms"],
)
def test_a_match_that_was_sealed_as_expired_too_early_is_found(
    played: Callable[[], Played], after_ms: int, check: Check | None
) -> None:
    """Else an operator could end every match that does not go well as if nobody had come back to it."""
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
    """A whole match played by another secret, under the commitment of the first."""
    found = taken_apart(replay_of(eventful(secret=b"s" * 32, brief=True)))
    edit(found, 0, commitment=commitment(SECRET))
    verdict = judged(put_together(found, SERVICE), SERVICE)
    assert verdict.divergence is not None
    assert (len(found), Check.COMMITMENT) == (verdict.divergence.event, verdict.divergence.check)


def test_dice_that_are_not_from_the_secret_are_found_at_the_first() -> None:
    """A whole match played by another secret, sealed with the one that was committed to."""
    found = taken_apart(replay_of(eventful(secret=b"s" * 32, brief=True)))
    edit(found, 0, commitment=commitment(SECRET))
    edit(found, len(found) - 1, secret=SECRET)
    verdict = judged(put_together(found, SERVICE), SERVICE)
    assert verdict.divergence is not None
    assert (first(found, Happened) + 1, Check.DRAWS) == (verdict.divergence.event, verdict.divergence.check)


def test_two_matches_spliced_are_found_where_they_meet() -> None:
    """The second half was thrown by another secret."""
    found, other = lines(), taken_apart(replay_of(eventful(secret=b"s" * 32, brief=True)))
    edit(other, len(other) - 1, secret=SECRET)
    at = first(found, Happened, after=40)
    behind = first(other, Happened, after=40)
    verdict = judged(put_together([*found[:at], *other[behind:]], STRANGER), STRANGER)
    assert verdict.divergence is not None
    assert (at + 1, Check.DRAWS) == (verdict.divergence.event, verdict.divergence.check)


def test_times_moved_so_that_no_clock_shows_it_are_left_to_the_heads() -> None:
    """All times a second later: nothing in the log contradicts that, but it is not the log that was signed."""
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
    """An operator plays another match from some event on: only who saw the first one can tell."""
    honest, rewritten = match(), replay_of(eventful(seed=3, brief=True))
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
    """The seal cannot stand where the match went on."""
    honest = match()
    found = lines()[:50]
    found.append(replace(found[-1], event=Sealed(None, "by_operator", SECRET), request=b""))
    cut = put_together(found, SERVICE)
    assert Verdict.EXACT is judged(cut, SERVICE).verdict
    verdict = judged(cut, SERVICE, [kept(honest, 60)])
    assert verdict.divergence is not None
    assert (60, Check.HEADS) == (verdict.divergence.event, verdict.divergence.check)


def test_a_kept_head_that_nobody_signed_accuses_nobody() -> None:
    """Whoever invents a head cannot spoil an honest match; the judge learns elsewhere that it is worth nothing."""
    honest = match()
    invented = replace(kept(honest, 40), link=bytes(32))
    assert judged(honest, SERVICE) == judged(honest, SERVICE, [invented])
    assert f"its signature is not that of key {invented.key_id}" in str(flaw(invented, PUBLIC))


def test_a_log_that_is_called_lost_names_a_signed_head_that_it_does_not_hold() -> None:
    """Else an operator could end any match that goes the wrong way by calling its log lost."""
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
    """An operator who lacks a match of a tournament signs another one as if it were that; its dice are of its name."""
    found = lines()
    edit(found, 0, match_id="final")
    verdict = judged(put_together(found, SERVICE), SERVICE)
    assert verdict.divergence is not None
    assert (first(found, Happened) + 1, Check.DRAWS) == (verdict.divergence.event, verdict.divergence.check)


def test_a_request_behind_its_seat_is_found_also_by_who_has_seen_the_same_choice_before() -> None:
    """Fields in another order are other bytes that mean the same, and what an audit remembers must not hide them."""
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
    """The key that signs files lies elsewhere than the one that signs heads; either alone vouches for nothing."""
    key = getattr(SERVICE, stolen)
    thief = replace(SERVICE, heads=key, replays=key)
    verdict = judged(put_together(lines(), thief), thief)
    assert verdict.divergence is not None
    assert (len(lines()), Check.HEADS) == (verdict.divergence.event, verdict.divergence.check)


def test_a_player_who_never_sat_there_is_found_by_a_kept_head() -> None:
    """Who sat where is what the service says; but it says so in the log, and signs that."""
    witness = kept(match(), 10)
    found = lines()
    edit(found, first(found, SeatTaken), player=b"somebody else's name")
    verdict = judged(put_together(found, SERVICE), SERVICE, [witness])
    assert verdict.divergence is not None
    assert (10, Check.HEADS) == (verdict.divergence.event, verdict.divergence.check)
