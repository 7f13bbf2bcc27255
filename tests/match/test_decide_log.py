"""What commands make of a log: its chain, and which event answers which request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rollbook.match.chain import Head, Position
from rollbook.match.codec.envelope import read_bytes, write_bytes
from rollbook.match.commands import (
    Abort,
    Choose,
    Declined,
    FreeSeat,
    GetReady,
    LeaveSeat,
    Resign,
    SealLost,
    TakeSeat,
    TimeOut,
    Why,
    answers,
)
from rollbook.match.decide import Decision, decide
from rollbook.match.events import (
    BY_OPERATOR,
    LOG_LOST,
    Chosen,
    Event,
    Ready,
    Sealed,
    SeatLeft,
    SeatTaken,
    Terms,
)
from rollbook.match.fold import MOST_EVENTS, Breach, Misplaced
from rollbook.match.ledger import EventRange, Ledger
from rollbook.rules.cant_stop.moves import Stop
from rollbook.rules.refusals import Invalid, Reason
from tests.match.played import Played, declined


@pytest.mark.parametrize("spoil", ["sequence", "previous", "time_ms"])
def test_a_ledger_takes_only_what_continues_its_chain(spoil: str) -> None:
    """A store that lost or changed an event is noticed at the next event."""
    played = Played().sit()
    around: dict[str, Any] = {
        "sequence": played.ledger.head.sequence + 1,
        "previous": played.ledger.head.link,
        "time_ms": played.ledger.time_ms,
    }
    around[spoil] = {"sequence": 9, "previous": bytes(32), "time_ms": 1}[spoil]
    event: Event = Ready(0, b"", played.ledger.head.link)
    with pytest.raises(Misplaced) as refused:
        played.ledger.take(write_bytes(played.ledger.game, event, **around))
    assert (Breach.CLOCKS if spoil == "time_ms" else Breach.CHAIN) is refused.value.breach


def test_a_lost_log_is_sealed_with_a_head_that_it_does_not_hold() -> None:
    """Without evidence, with evidence of another match, or with a head that is not lost, the seal is refused."""
    played = Played().start()
    head = played.ledger.head
    lost = Head(head.sequence + 3, bytes(32), "0" * 16, bytes(64))
    for reason, evidence in (
        (LOG_LOST, None),
        ("by_operator", lost),
        (LOG_LOST, Head(head.sequence, head.link, "0" * 16, bytes(64))),
    ):
        with pytest.raises(Misplaced, match="lost"):
            Decision(played.ledger, played.by(), Sealed(None, reason, played.ledger.secret, evidence))
    played.append(decide(played.ledger, SealLost(played.by(), lost)))
    assert Sealed(None, LOG_LOST, played.ledger.secret, lost) == played.ledger.match.sealed


def test_a_log_that_does_not_begin_as_it_should_is_refused() -> None:
    """The first event is of another match, has another secret, or is no `opened`."""
    played = Played()
    first = played.log[0]
    with pytest.raises(Misplaced, match="name of the match"):
        Ledger(read_bytes(first.data, first.private, match_id="another"))
    with pytest.raises(Misplaced, match="secret"):
        Ledger(read_bytes(first.data, b"", match_id="m"))
    with pytest.raises(Misplaced, match="opens"):
        Ledger(played.sit().log[1])


def test_the_position_that_a_command_came_with_is_spoken_of_last() -> None:
    """It is checked after seat and match, so strangers do not learn how far a match has got."""
    played = Played(seats=3).sit()
    misplaced = Declined(Why.POSITION_AHEAD, "too far")
    declined(Why.SEATS_CLOSED, lambda: decide(played.ledger, LeaveSeat(played.by("p0"), misplaced=misplaced)))
    declined(Why.NOT_YOUR_SEAT, lambda: decide(played.ledger, Resign(played.by("p0"), 1, misplaced)))
    declined(Why.SEAT_UNKNOWN, lambda: decide(played.ledger, Resign(played.by("p0"), 3, misplaced)))
    for command in (Abort(played.by(), misplaced), ready_of(played, misplaced)):
        declined(Why.POSITION_AHEAD, lambda command=command: decide(played.ledger, command))  # type: ignore[misc]


def ready_of(played: Played, misplaced: Declined) -> GetReady:
    """Return a readiness whose only error is its position."""
    assert played.ledger.closing is not None
    return GetReady(played.by("p0"), played.ledger.closing.link, played.entropy, misplaced=misplaced)


def test_a_choice_that_cannot_be_read_is_told_to_nobody_but_the_seat_awaited() -> None:
    """A refusal of a choice could reveal the game, so seat, turn and position are checked first."""
    played = Played(seats=3).start()
    seat, head = played.ledger.awaited_seat, played.ledger.head
    assert seat is not None
    invalid = Invalid(Reason.NOTHING_CHOSEN, "no choice")
    unplaced = Declined(Why.POSITION_MISSING, "no position")

    def choose(player: str, position: Position | Declined) -> Callable[[], object]:
        return lambda: decide(played.ledger, Choose(played.by(player), position, invalid))

    declined(Why.NOT_SEATED, choose("stranger", unplaced))
    declined(Why.NOT_YOUR_TURN, choose(f"p{(seat + 1) % 3}", unplaced))
    declined(Why.POSITION_MISSING, choose(f"p{seat}", unplaced))
    with pytest.raises(Invalid):
        choose(f"p{seat}", head)()


def test_an_event_answers_the_very_command_that_made_it_and_no_other() -> None:
    """A retry gets its answer again; another command with the same request id does not."""
    played = Played(seats=3)
    by = played.by("p0")
    seated = played.append(decide(played.ledger, TakeSeat(by, 1))).entries[0]
    assert answers(seated, TakeSeat(by, 1))
    assert answers(seated, TakeSeat(by))
    for other in (TakeSeat(by, 2), TakeSeat(by, 1, bytes(32)), LeaveSeat(by), Resign(by), Abort(by), TimeOut(by)):
        assert not answers(seated, other)
    left = played.append(decide(played.ledger, LeaveSeat(by))).entries[0]
    assert [True, False] == [answers(left, LeaveSeat(by, seat)) for seat in (1, 0)]
    played.start()
    head, seat = played.ledger.head, played.ledger.awaited_seat
    chosen = played.append(played.choose(after_ms=9_000)).entries[0]
    assert isinstance(chosen.event, Chosen)
    choice = chosen.event.choice
    assert answers(chosen, Choose(by, head, choice))
    assert answers(chosen, Choose(by, head, choice, seat))
    for differing in (
        Choose(by, head, Stop()),
        Choose(by, Position(1, bytes(32)), choice),
        Choose(by, head, choice, 9),
    ):
        assert not answers(chosen, differing)
    sealed = played.append(decide(played.ledger, Abort(by))).entries[0]
    assert [True, False] == [answers(sealed, Abort(origin)) for origin in (by, played.by("p1"))]
    assert EventRange(sealed.sequence, sealed.sequence) == played.ledger.made_by(by.request)


def test_a_decision_that_did_not_come_true_leaves_no_trace_in_what_requests_made() -> None:
    """Copies share settled requests: only durable ones may be shared, and older ledgers do not see them."""
    played = Played().start()
    before, decision = played.ledger, played.choose()
    request = decision.entries[0].request
    assert before.made_by(request) is None
    decision.after.settle()
    assert before.made_by(request) is None
    assert before.copy().made_by(request) is None
    assert EventRange(decision.entries[0].sequence, decision.entries[-1].sequence) == decision.after.made_by(request)
    assert decision.after.copy().made_by(b"o" * 16) == EventRange(1, 1)


@pytest.mark.parametrize(
    ("last", "events_before"),
    [
        (lambda played: decide(played.ledger, LeaveSeat(played.by("p0"))), 1),
        (lambda played: decide(played.ledger, FreeSeat(played.by(), 0)), 1),
        (lambda played: decide(played.ledger, TakeSeat(played.by("p1"))), 1),
        (lambda played: played.ready(1), 3),
    ],
    ids=["leaves", "is freed", "sits down", "gets ready"],
)
def test_a_match_whose_players_come_and_go_is_sealed_before_its_log_is_too_long(
    last: Callable[[Played], Decision], events_before: int
) -> None:
    """The append that fills the log contains the seal, so every match gets one."""
    played = Played(terms=Terms(is_private=True))
    while played.ledger.head.sequence < MOST_EVENTS - 1 - events_before:
        event: Event = SeatLeft(0) if played.ledger.match.taken[0] else SeatTaken(0, b"p0")
        played.append(Decision(played.ledger, played.by(), event))
    if events_before > 1:
        played.append(decide(played.ledger, TakeSeat(played.by("p1"))))
        played.append(played.ready(0))
    sealed = played.append(last(played)).entries[-1]
    assert MOST_EVENTS == sealed.sequence
    assert isinstance(sealed.event, Sealed)
    assert (None, BY_OPERATOR) == (sealed.event.places, sealed.event.aborted)
    declined(Why.MATCH_SEALED, lambda: decide(played.ledger, TakeSeat(played.by("late"))))
