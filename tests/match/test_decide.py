"""Commands on a match: the events they append, the reasons they decline, and the fold of the log to the same ledger."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, get_args

import pytest

from rollbook.match.chain import Head, Position, entropy_commitment
from rollbook.match.commands import (
    Abort,
    AbortUnready,
    Choose,
    Command,
    EndUnplayed,
    Expire,
    FreeSeat,
    GetReady,
    LeaveSeat,
    Origin,
    Pardon,
    Resign,
    SealLost,
    TakeSeat,
    TimeOut,
    Why,
)
from rollbook.match.decide import Decision, decide
from rollbook.match.events import (
    Chosen,
    Sealed,
)
from rollbook.match.ledger import EventRange
from rollbook.rules.cant_stop.moves import Stop
from rollbook.rules.catalogue import current, find
from rollbook.rules.refusals import RefusedByRules
from tests.match.played import SECRET, Played, assert_same, declined, kinds, not_due


@pytest.mark.parametrize("name", list(current()))
@pytest.mark.parametrize("entropy", [b"", bytes(range(16))])
def test_a_match_played_by_commands_folds_from_its_bytes_to_the_same_ledger(name: str, entropy: bytes) -> None:
    """After every command the decided ledger equals the one that a restarted service folds."""
    rng = random.Random(5)
    played = Played(name, find(name).seats[0], entropy=entropy).start()
    while played.ledger.match.sealed is None:
        played.append(played.choose(played.ledger.game.legal(played.ledger.match.state).sample(rng.randrange)))
        assert played.log[-1].data == played.ledger.newest
        if rng.random() < 0.02:
            assert_same(played.ledger, played.refolded())
    assert_same(played.ledger, played.refolded())
    assert isinstance(played.log[-1].event, Sealed)


def test_a_decision_leaves_the_ledger_as_it_was() -> None:
    """The ledger changes only after the events are durable."""
    played = Played().start()
    before = played.ledger.copy()
    played.choose()
    assert_same(before, played.ledger)


def test_the_last_readiness_starts_the_match_and_throws_in_the_same_append() -> None:
    """A forced throw is never a separate command."""
    played = Played().sit()
    played.append(played.ready(0))
    assert ["Ready", "Started", "Happened", "Happened"] == kinds(played.ready(1))


def test_a_choice_carries_the_forced_throw_behind_it() -> None:
    """The answer to a choice contains the dice that follow."""
    played = Played().start()
    played.append(played.choose())
    assert ["Chosen", "Happened"] == kinds(played.choose())


def test_the_same_command_finds_the_same_dice_again() -> None:
    """A choice retried on another server, at another time, has the same outcome."""
    played = Played().start()
    played.append(played.choose())
    one, other = played.choose(), played.choose(after_ms=9_000)
    assert [logged.event for logged in one.entries[1:]] == [logged.event for logged in other.entries[1:]]


def test_result_and_seal_are_in_the_append_of_what_ends_the_match() -> None:
    """The append that ends a match contains its result, so every finished match has one."""
    played = Played(seats=2).start()
    decision = played.append(decide(played.ledger, Resign(played.by("p0"))))
    assert ["Resigned", "Sealed"] == kinds(decision)
    assert (2, 1) == decision.entries[-1].event.places  # type: ignore[union-attr]
    assert played.ledger.match.sealed is not None


def test_every_command_knows_the_range_of_events_it_made() -> None:
    """A retry is answered from the log at any later time; a time-out belongs to no command."""
    played = Played(seats=3).start()
    origin = played.by("p0")
    played.append(decide(played.ledger, Resign(origin)))
    made = played.ledger.made_by(origin.request)
    assert made is not None
    choice = played.append(played.choose())
    runs_out = played.ledger.clock.runs_out_ms()
    assert runs_out is not None
    played.append(decide(played.ledger, TimeOut(Origin(runs_out))))
    assert made == played.ledger.made_by(origin.request)
    first, last = choice.entries[0], choice.entries[-1]
    assert EventRange(first.sequence, last.sequence) == played.ledger.made_by(first.request)
    assert EventRange(1, 1) == played.ledger.made_by(b"o" * 16)


def test_seats_are_taken_left_and_closed() -> None:
    """The refusal names the free seats."""
    played = Played(seats=3)
    played.append(decide(played.ledger, TakeSeat(played.by("a"), 1)))
    assert 1 == declined(Why.ALREADY_SEATED, lambda: decide(played.ledger, TakeSeat(played.by("a")))).facts["seat"]
    # A negative number is refused before the match is read.
    assert {} == declined(Why.SEAT_UNKNOWN, lambda: decide(played.ledger, TakeSeat(played.by("a"), -1))).facts
    assert (0, 2) == declined(Why.SEAT_TAKEN, lambda: decide(played.ledger, TakeSeat(played.by("b"), 1))).facts["free"]
    for unknown in (3, -1, 10**30):
        declined(Why.SEAT_UNKNOWN, lambda seat=unknown: decide(played.ledger, TakeSeat(played.by("b"), seat)))  # type: ignore[misc]
    declined(
        Why.ENTROPY_COMMITMENT_LENGTH, lambda: decide(played.ledger, TakeSeat(played.by("b"), commitment=b"short"))
    )
    declined(Why.NOT_SEATED, lambda: decide(played.ledger, LeaveSeat(played.by("b"))))
    played.append(decide(played.ledger, LeaveSeat(played.by("a"))))
    played.sit()
    declined(Why.SEATS_CLOSED, lambda: decide(played.ledger, TakeSeat(played.by("late"))))
    declined(Why.SEATS_CLOSED, lambda: decide(played.ledger, LeaveSeat(played.by("p0"))))


def test_readiness_names_the_closing_event_and_reveals_what_was_committed() -> None:
    """No seat chooses its entropy after seeing another's."""
    played = Played(entropy=bytes(range(20)))

    def ready(player: str, closing_link: bytes, entropy: bytes) -> Decision:
        return decide(played.ledger, GetReady(played.by(player), closing_link, entropy))

    played.append(decide(played.ledger, TakeSeat(played.by("p0"), commitment=entropy_commitment(played.entropy))))
    declined(Why.SEATS_NOT_CLOSED, lambda: ready("p0", b"", played.entropy))
    played.append(decide(played.ledger, TakeSeat(played.by("p1"))))
    assert played.ledger.closing is not None
    link = played.ledger.closing.link

    def refuse(reason: Why, player: str, closing_link: bytes, entropy: bytes) -> None:
        declined(reason, lambda: ready(player, closing_link, entropy))

    refuse(Why.NOT_SEATED, "stranger", link, b"")
    refuse(Why.CLOSING_LINK_WRONG, "p0", bytes(32), played.entropy)
    refuse(Why.ENTROPY_MISSING, "p0", link, b"")
    refuse(Why.ENTROPY_LENGTH, "p0", link, b"short")
    refuse(Why.ENTROPY_DOES_NOT_FIT, "p0", link, bytes(20))
    refuse(Why.ENTROPY_DOES_NOT_FIT, "p1", link, bytes(20))
    played.append(ready("p0", link, played.entropy))
    refuse(Why.ALREADY_READY, "p0", link, played.entropy)


def test_a_seat_that_does_not_get_ready_aborts_the_match_by_name() -> None:
    """The match is aborted after `ready_seconds`, not earlier, and the seal names the seat."""
    played = Played().sit()
    played.append(played.ready(0))
    due = Origin(played.ledger.closed_ms + 20_000)
    not_due(lambda: decide(played.ledger, AbortUnready(Origin(played.ledger.closed_ms + 19_999))))
    decision = decide(played.ledger, AbortUnready(due))
    assert Sealed(None, "not_ready:1", SECRET) == decision.entries[0].event
    started = Played().start()
    not_due(lambda: decide(started.ledger, AbortUnready(started.by())))
    not_due(lambda: decide(Played().ledger, AbortUnready(due)))


def test_who_may_choose_is_asked_before_what() -> None:
    """The order is subject, seat, turn, position, legality, so a refusal reveals no hand to a stranger."""
    played = Played(seats=3).start()
    ledger = played.ledger
    seat = ledger.awaited_seat
    assert seat is not None
    choice = ledger.game.caretaker(ledger.match.state)
    behind = Position(ledger.head.sequence - 1, bytes(32))

    def choose(player: str, position: Position = behind, what: Any = choice) -> Callable[[], object]:
        return lambda: decide(ledger, Choose(played.by(player), position, what))

    declined(Why.NOT_SEATED, choose("stranger"))
    assert seat == declined(Why.NOT_YOUR_TURN, choose(f"p{(seat + 1) % 3}")).facts["seat"]
    assert ledger.head.sequence == declined(Why.POSITION_BEHIND, choose(f"p{seat}")).facts["head"]
    declined(Why.POSITION_AHEAD, choose(f"p{seat}", Position(ledger.head.sequence + 1, bytes(32))))
    declined(Why.POSITION_OTHER_LINK, choose(f"p{seat}", Position(ledger.head.sequence, bytes(32))))
    with pytest.raises(RefusedByRules):
        choose(f"p{seat}", ledger.head, Stop())()
    declined(Why.NOT_STARTED, lambda: decide(Played().sit().ledger, Resign(played.by("p0"))))


def test_a_seat_that_gave_up_is_played_by_its_caretaker() -> None:
    """A seat that gave up can neither choose nor resign again."""
    played = Played(seats=3).start()
    seat = played.ledger.awaited_seat
    played.append(decide(played.ledger, Resign(played.by(f"p{seat}"))))
    ledger = played.ledger
    assert seat != ledger.awaited_seat
    assert any(isinstance(logged.event, Chosen) and logged.event.by_caretaker for logged in played.log)
    declined(Why.SEAT_FORFEITED, lambda: decide(ledger, Resign(played.by(f"p{seat}"))))
    declined(
        Why.NOT_YOUR_TURN,
        lambda: decide(ledger, Choose(played.by(f"p{seat}"), ledger.head, None)),
    )


def test_a_match_is_withdrawn_only_before_its_seats_close() -> None:
    """The opener can withdraw the match before its seats close; an operator ends it at any time."""
    played = Played()
    decision = decide(played.ledger, Abort(played.by("p0"), by_opener=True))
    assert Sealed(None, "by_operator", SECRET) == decision.entries[0].event
    played.sit()
    declined(Why.SEATS_CLOSED, lambda: decide(played.ledger, Abort(played.by("p0"), by_opener=True)))
    assert 1 == len(decide(played.ledger, Abort(played.by("boss"))).entries)


def test_nothing_is_done_to_a_sealed_match() -> None:
    """No command is accepted after the seal."""
    played = Played().start()
    played.append(decide(played.ledger, Abort(played.by())))
    by = played.by("p0")
    commands: list[Command] = [
        TakeSeat(by),
        LeaveSeat(by),
        FreeSeat(by, 0),
        GetReady(by, bytes(32)),
        Choose(by, played.ledger.head, None),
        Resign(by),
        Abort(by),
        TimeOut(by),
        Pardon(by, 1),
        AbortUnready(by),
        Expire(by),
        EndUnplayed(by, 1),
        SealLost(by, Head(99, bytes(32), "0" * 16, bytes(64))),
    ]
    assert {type(command) for command in commands} == set(get_args(Command))
    for command in commands:
        declined(Why.MATCH_SEALED, lambda command=command: decide(played.ledger, command))  # type: ignore[misc]
