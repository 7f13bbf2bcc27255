"""Commands under a clock: time-outs, charged time, pardoned downtime, and seats that gave up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rollbook.match.codec.envelope import write_bytes
from rollbook.match.commands import (
    Origin,
    Pardon,
    Resign,
    TimeOut,
)
from rollbook.match.decide import Decision, decide
from rollbook.match.events import (
    Chosen,
    Resumed,
    Terms,
)
from rollbook.match.fold import Breach, Misplaced
from tests.match.played import Played, assert_same, kinds, not_due


def test_a_time_out_and_the_caretakers_turn_are_one_append() -> None:
    """The next player does not wait for the absent seat."""
    played = Played(seats=2).start()
    seat = played.ledger.awaited_seat
    runs_out = played.ledger.clock.runs_out_ms()
    assert runs_out == played.ledger.time_ms + 90_000
    not_due(lambda: decide(played.ledger, TimeOut(Origin(runs_out - 1))))
    decision = played.append(decide(played.ledger, TimeOut(Origin(runs_out))))
    assert ["TimedOut", "Chosen", "Chosen", "Happened"] == kinds(decision)
    assert 1 - seat == played.ledger.awaited_seat  # type: ignore[operator]
    assert_same(played.ledger, played.refolded())


def test_what_a_caretaker_chooses_costs_the_seat_nothing() -> None:
    """The time-out charges the rest of the wait; a caretaker's choice charges nothing."""
    played = Played(seats=3).start()
    seat, runs_out = played.ledger.awaited_seat, played.ledger.clock.runs_out_ms()
    assert seat is not None
    assert runs_out is not None
    played.now_ms = runs_out
    timed_out, *chosen, _ = played.append(decide(played.ledger, TimeOut(Origin(runs_out)))).entries
    assert 90_000 == timed_out.event.charged_ms  # type: ignore[union-attr]
    assert [(True, 0)] * 2 == [(it.event.by_caretaker, it.event.charged_ms) for it in chosen]  # type: ignore[union-attr]
    assert 0 == played.ledger.clock.reserve_ms[seat]
    played.append(decide(played.ledger, Resign(played.by(f"p{seat}"))))
    own, *others = [played.append(played.choose(after_ms=2_000)).entries for _ in range(6)]
    assert 3_000 == own[0].event.charged_ms  # type: ignore[union-attr]
    lost = [it.event for made in others for it in made if isinstance(it.event, Chosen) and it.event.seat == seat]
    assert lost
    assert {(True, 0)} == {(event.by_caretaker, event.charged_ms) for event in lost}


def test_a_slow_choice_costs_the_turn_first_and_then_the_reserve() -> None:
    """The ledger folds the charge of each wait from the log."""
    played = Played().start()
    seat = played.ledger.awaited_seat
    assert seat is not None
    decision = played.append(played.choose(after_ms=20_000))
    assert 20_000 == decision.entries[0].event.charged_ms  # type: ignore[union-attr]
    assert (10_000, 60_000) == (played.ledger.clock.left_ms, played.ledger.clock.reserve_ms[seat])
    played.append(played.choose(after_ms=15_000))
    assert 55_000 == played.ledger.clock.reserve_ms[seat]


def test_downtime_is_not_charged() -> None:
    """A seat keeps the time that it had when the service went away."""
    played = Played().start()
    before = played.ledger.clock.runs_out_ms()
    assert before is not None
    back = played.by(after_ms=500_000)
    played.append(decide(played.ledger, Pardon(back, back.now_ms - 495_000)))
    assert before + 495_000 == played.ledger.clock.runs_out_ms()
    assert 6_000 == played.choose().entries[0].event.charged_ms  # type: ignore[union-attr]


def test_no_moment_of_downtime_is_pardoned_twice() -> None:
    """A process that comes back may not know earlier pardons; it pardons only what came after them."""
    played = Played().start()
    before = played.ledger.clock.runs_out_ms()
    assert before is not None
    away_since_ms = played.now_ms
    for after_ms, missed_ms in ((500_000, 500_000), (0, None), (5_000, None), (1_000, 6_000), (60_000, 60_000)):
        back = played.by(after_ms=after_ms)
        if missed_ms is None:
            not_due(lambda back=back: decide(played.ledger, Pardon(back, away_since_ms)))  # type: ignore[misc]
        else:
            decision = played.append(decide(played.ledger, Pardon(back, away_since_ms)))
            assert Resumed(missed_ms) == decision.entries[0].event
    assert before + 566_000 == played.ledger.clock.runs_out_ms()


def test_all_that_is_pardoned_of_a_wait_is_not_more_than_it_has_lasted() -> None:
    """Several events together cannot give a seat more time than has passed."""
    played = Played().start()
    played.append(Decision(played.ledger, played.by(after_ms=9_000), Resumed(8_000)))
    for missed_ms in (1_001, 8_000):
        with pytest.raises(Misplaced, match="1000 ms are left to pardon") as refused:
            Decision(played.ledger, played.by(after_ms=0), Resumed(missed_ms))
        assert Breach.CLOCKS is refused.value.breach
    played.append(Decision(played.ledger, played.by(after_ms=0), Resumed(1_000)))
    assert 0 == played.choose(after_ms=0).entries[0].event.charged_ms  # type: ignore[union-attr]


def test_a_wait_that_began_after_the_downtime_is_charged() -> None:
    """A match may be pardoned late, and a wait that began after the outage lost no time."""
    played = Played().start()
    gone = played.now_ms
    played.append(played.choose(after_ms=100_000))
    not_due(lambda: decide(played.ledger, Pardon(Origin(gone + 99_000), gone)))


def test_a_match_without_a_clock_never_times_out() -> None:
    """In a match without a clock, choices are not charged."""
    played = Played(terms=Terms()).start()
    assert played.ledger.clock.runs_out_ms() is None
    assert 0 == played.choose(after_ms=10**9).entries[0].event.charged_ms  # type: ignore[union-attr]
    not_due(lambda: decide(played.ledger, TimeOut(Origin(10**15))))


def test_a_charged_choice_in_a_match_without_a_clock_is_refused() -> None:
    """Without a clock no decision can contain a charge."""
    played = Played(terms=Terms()).start()
    decided = played.choose().entries[0]
    assert isinstance(decided.event, Chosen)
    charged = write_bytes(
        played.ledger.game,
        replace(decided.event, charged_ms=1),
        sequence=decided.sequence,
        time_ms=decided.time_ms,
        previous=decided.previous,
    )
    with pytest.raises(Misplaced, match="costs 0 ms") as misplaced:
        played.ledger.take(charged)
    assert Breach.CLOCKS is misplaced.value.breach


def test_a_match_that_everybody_leaves_ends_by_itself() -> None:
    """Three time-outs forfeit a seat; with one player left the match is over."""
    played = Played(seats=2).start()
    for _ in range(8):
        runs_out = played.ledger.clock.runs_out_ms()
        if runs_out is None:
            break
        played.append(decide(played.ledger, TimeOut(Origin(runs_out))))
    assert played.ledger.match.sealed is not None
    assert sorted(played.ledger.match.places()) == [1, 2]
    assert_same(played.ledger, played.refolded())
