"""Commands on a match: the events they append, the reasons they decline, and the fold of the log to the same ledger."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any, get_args

import pytest

from rollbook.match.chain import Entry, Head, Position, entropy_commitment
from rollbook.match.codec.envelope import Logged, read_bytes, write_bytes
from rollbook.match.commands import (
    Abort,
    AbortUnready,
    Choose,
    Command,
    Declined,
    EndUnplayed,
    Expire,
    FreeSeat,
    GetReady,
    LeaveSeat,
    NotDue,
    OpenMatch,
    Origin,
    Pardon,
    Resign,
    SealLost,
    TakeSeat,
    TimeOut,
    Why,
    answers,
)
from rollbook.match.decide import Decision, decide, open_match
from rollbook.match.dice import commitment
from rollbook.match.events import (
    BY_OPERATOR,
    LOG_LOST,
    Chosen,
    Event,
    Opened,
    Ready,
    Resumed,
    Sealed,
    SeatLeft,
    SeatTaken,
    Terms,
)
from rollbook.match.fold import MOST_EVENTS, Breach, Misplaced
from rollbook.match.ledger import EventRange, Ledger
from rollbook.rules.cant_stop.moves import Stop
from rollbook.rules.catalogue import current, find
from rollbook.rules.refusals import Invalid, Reason, RefusedByRules

SECRET = bytes(range(32))
OPENED_MS = 1_700_000_000_000
CLOCKED = Terms(turn_seconds=30, reserve_seconds=60, ready_seconds=20)


class Played:
    """A match as the service keeps it: a ledger, and the log of all appended events."""

    def __init__(
        self,
        game: str = "cant_stop",
        seats: int = 2,
        terms: Terms = CLOCKED,
        entropy: bytes = b"",
        secret: bytes = SECRET,
    ) -> None:
        """Open the match."""
        rules = find(game)
        opened = Opened("m", game, rules.version, rules.settle({}, seats), ("",) * seats, commitment(secret), terms)
        first = open_match(OpenMatch(Origin(OPENED_MS, request=b"o" * 16), opened, secret))
        self.now_ms = OPENED_MS
        self.ledger = Ledger(first)
        self.log: list[Logged] = [first]
        self.entropy = entropy
        self.requests = 0

    def by(self, player: str = "", *, after_ms: int = 1_000) -> Origin:
        """Return the origin of a command by this player, a moment later."""
        self.now_ms += after_ms
        self.requests += 1
        return Origin(self.now_ms, player.encode(), self.requests.to_bytes(16, "big") if player else b"")

    def append(self, decision: Decision) -> Decision:
        """Append the events of the decision."""
        self.log += decision.entries
        self.ledger = decision.after
        return decision

    def sit(self) -> Played:
        """Seat player p0 on seat 0, and so on."""
        committed = entropy_commitment(self.entropy) if self.entropy else b""
        for seat in range(len(self.ledger.players)):
            self.append(decide(self.ledger, TakeSeat(self.by(f"p{seat}"), commitment=committed)))
        return self

    def start(self) -> Played:
        """Fill all seats and get ready."""
        self.sit()
        for seat in range(len(self.ledger.players)):
            self.append(self.ready(seat))
        return self

    def ready(self, seat: int) -> Decision:
        """Make a seat ready."""
        assert self.ledger.closing is not None
        link = self.ledger.closing.link
        return decide(self.ledger, GetReady(self.by(f"p{seat}"), link, self.entropy))

    def choose(self, choice: Any = None, **how: Any) -> Decision:
        """Choose for the awaited seat, the caretaker's choice by default."""
        ledger = self.ledger
        choice = ledger.game.caretaker(ledger.match.state) if choice is None else choice
        return decide(ledger, Choose(self.by(f"p{ledger.awaited_seat}", **how), ledger.head, choice))

    def refolded(self) -> Ledger:
        """Return the ledger folded from the stored bytes alone."""
        return Ledger.fold("m", [Entry(logged.data, logged.private) for logged in self.log])


def declined(reason: Why, command: Callable[[], object]) -> Declined:
    """Assert that the command is declined for this reason."""
    with pytest.raises(Declined) as raised:
        command()
    assert reason == raised.value.reason
    assert str(raised.value)
    return raised.value


def not_due(command: Callable[[], object]) -> None:
    """Assert that the service's own command is not due now."""
    with pytest.raises(NotDue):
        command()


def kinds(decision: Decision) -> list[str]:
    """Return the names of the events of a decision."""
    return [type(logged.event).__name__ for logged in decision.entries]


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


def assert_same(expected: Ledger, found: Ledger) -> None:
    """Assert that two ledgers are equal."""
    for name, value in vars(expected).items():
        other = getattr(found, name)
        if name == "match":
            assert vars(value) == vars(other)
        else:
            assert value == other, name


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
