"""Commands on a match: what they append, what they decline, and that a log folds to the ledger it was decided on."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from rollbook.match import decide
from rollbook.match.chain import Entry, Head, Position, entropy_commitment
from rollbook.match.codec.envelope import Logged, read_bytes, write_bytes
from rollbook.match.decide import Command, Decision, Declined, NotDue, Why
from rollbook.match.dice import commitment
from rollbook.match.events import LOG_LOST, Chosen, Event, Opened, Sealed, SeatTaken, Terms
from rollbook.match.fold import Misplaced
from rollbook.match.ledger import Ledger, Made
from rollbook.rules.cant_stop import Stop
from rollbook.rules.catalogue import CURRENT, find
from rollbook.rules.refusals import Refused

SECRET = bytes(range(32))
OPENED_MS = 1_700_000_000_000
CLOCKED = Terms(turn_seconds=30, reserve_seconds=60, ready_seconds=20)


class Played:
    """A match kept as a service keeps it: a ledger, and the log of everything that was appended."""

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
        first = decide.open_match(rules, opened, secret, Command(OPENED_MS, request=b"o" * 16))
        self.now_ms = OPENED_MS
        self.ledger = Ledger(first)
        self.log: list[Logged] = [first]
        self.entropy = entropy
        self.requests = 0

    def by(self, player: str = "", *, after_ms: int = 1_000) -> Command:
        """A command of this player, a moment later."""
        self.now_ms += after_ms
        self.requests += 1
        return Command(self.now_ms, player.encode(), self.requests.to_bytes(16, "big") if player else b"")

    def append(self, decision: Decision) -> Decision:
        """Make the decision come true."""
        self.log += decision.entries
        self.ledger = decision.after
        return decision

    def sit(self) -> Played:
        """Seat player p0 on seat 0, and so on."""
        committed = entropy_commitment(self.entropy) if self.entropy else b""
        for seat in range(len(self.ledger.players)):
            self.append(decide.take_seat(self.ledger, self.by(f"p{seat}"), commitment=committed))
        return self

    def start(self) -> Played:
        """Seat everybody and get ready."""
        self.sit()
        for seat in range(len(self.ledger.players)):
            self.append(self.ready(seat))
        return self

    def ready(self, seat: int) -> Decision:
        """The readiness of a seat."""
        assert self.ledger.closing is not None
        link = self.ledger.closing.link
        return decide.ready(self.ledger, self.by(f"p{seat}"), closing_link=link, entropy=self.entropy)

    def choose(self, choice: Any = None, **how: Any) -> Decision:
        """A choice of the awaited seat, the caretaker's unless said otherwise."""
        ledger = self.ledger
        choice = ledger.game.caretaker(ledger.match.state) if choice is None else choice
        return decide.choose(ledger, self.by(f"p{ledger.awaited_seat}", **how), position=ledger.head, choice=choice)

    def refolded(self) -> Ledger:
        """The ledger of the stored bytes alone."""
        return Ledger.fold("m", [Entry(logged.data, logged.private) for logged in self.log])


def declined(reason: Why, command: Callable[[], object]) -> Declined:
    """The command is declined for this reason."""
    with pytest.raises(Declined) as raised:
        command()
    assert reason == raised.value.reason
    assert str(raised.value)
    return raised.value


def not_due(command: Callable[[], object]) -> None:
    """What the service does of its own accord is not to be done now."""
    with pytest.raises(NotDue):
        command()


def kinds(decision: Decision) -> list[str]:
    """The events of a decision by name."""
    return [type(logged.event).__name__ for logged in decision.entries]


@pytest.mark.parametrize("name", list(CURRENT))
@pytest.mark.parametrize("entropy", [b"", bytes(range(16))])
def test_a_match_played_by_commands_folds_from_its_bytes_to_the_same_ledger(name: str, entropy: bytes) -> None:
    """What was decided, and what a restarted service reads, are one and the same at every end of a command."""
    rng = random.Random(5)
    played = Played(name, find(name).seats[0], entropy=entropy).start()
    while played.ledger.match.sealed is None:
        played.append(played.choose(played.ledger.game.legal(played.ledger.match.state).sample(rng.randrange)))
        if rng.random() < 0.02:
            assert_same(played.ledger, played.refolded())
    assert_same(played.ledger, played.refolded())
    assert isinstance(played.log[-1].event, Sealed)


def assert_same(expected: Ledger, found: Ledger) -> None:
    """Two ledgers know the same."""
    for name, value in vars(expected).items():
        other = getattr(found, name)
        if name == "match":
            assert vars(value) == vars(other)
        else:
            assert value == other, name


def test_a_decision_leaves_the_ledger_as_it_was() -> None:
    """Nothing has happened before it is durable."""
    played = Played().start()
    before = played.ledger.copy()
    played.choose()
    assert_same(before, played.ledger)


def test_the_last_readiness_starts_the_match_and_throws_in_the_same_append() -> None:
    """Forced throws are never a command of their own."""
    played = Played().sit()
    played.append(played.ready(0))
    assert ["Ready", "Started", "Happened", "Happened"] == kinds(played.ready(1))


def test_a_choice_carries_the_forced_throw_behind_it() -> None:
    """The answer to a choice shows the dice that it led to."""
    played = Played().start()
    played.append(played.choose())
    assert ["Chosen", "Happened"] == kinds(played.choose())


def test_the_same_command_finds_the_same_dice_again() -> None:
    """A retried choice on another server, at another time, shows the same outcome."""
    played = Played().start()
    played.append(played.choose())
    one, other = played.choose(), played.choose(after_ms=9_000)
    assert [logged.event for logged in one.entries[1:]] == [logged.event for logged in other.entries[1:]]


def test_result_and_seal_are_in_the_append_of_what_ends_the_match() -> None:
    """There is no moment in which a match is over and has no result."""
    played = Played(seats=2).start()
    decision = played.append(decide.resign(played.ledger, played.by("p0")))
    assert ["Resigned", "Sealed"] == kinds(decision)
    assert (2, 1) == decision.entries[-1].event.places  # type: ignore[union-attr]
    assert played.ledger.match.sealed is not None


def test_every_command_knows_the_range_of_events_it_made() -> None:
    """A retry is answered from the log, whatever has happened since; a time-out belongs to nobody's command."""
    played = Played(seats=3).start()
    command = played.by("p0")
    played.append(decide.resign(played.ledger, command))
    made = played.ledger.requests[command.request]
    choice = played.append(played.choose())
    runs_out = played.ledger.clock.runs_out_ms()
    assert runs_out is not None
    played.append(decide.time_out(played.ledger, Command(runs_out)))
    assert made == played.ledger.requests[command.request]
    first, last = choice.entries[0], choice.entries[-1]
    assert Made(first.sequence, last.sequence) == played.ledger.requests[first.request]
    assert {b"o" * 16: Made(1, 1)}.items() <= played.ledger.requests.items()


def test_a_time_out_and_the_caretakers_turn_are_one_append() -> None:
    """The next player does not wait for a seat that is not there."""
    played = Played(seats=2).start()
    seat = played.ledger.awaited_seat
    runs_out = played.ledger.clock.runs_out_ms()
    assert runs_out == played.ledger.time_ms + 90_000
    not_due(lambda: decide.time_out(played.ledger, Command(runs_out - 1)))
    decision = played.append(decide.time_out(played.ledger, Command(runs_out)))
    assert ["TimedOut", "Chosen", "Chosen", "Happened"] == kinds(decision)
    assert 1 - seat == played.ledger.awaited_seat  # type: ignore[operator]
    assert_same(played.ledger, played.refolded())


def test_a_slow_choice_costs_the_turn_first_and_then_the_reserve() -> None:
    """The clock is a fold of the log."""
    played = Played().start()
    seat = played.ledger.awaited_seat
    assert seat is not None
    decision = played.append(played.choose(after_ms=20_000))
    assert 20_000 == decision.entries[0].event.charged_ms  # type: ignore[union-attr]
    assert (10_000, 60_000) == (played.ledger.clock.left_ms, played.ledger.clock.reserve_ms[seat])
    played.append(played.choose(after_ms=15_000))
    assert 55_000 == played.ledger.clock.reserve_ms[seat]


def test_downtime_is_not_charged() -> None:
    """A seat has the time that it had when the service went away."""
    played = Played().start()
    before = played.ledger.clock.runs_out_ms()
    assert before is not None
    played.append(decide.resume(played.ledger, played.by(after_ms=500_000), 495_000))
    assert before + 495_000 == played.ledger.clock.runs_out_ms()
    assert 6_000 == played.choose().entries[0].event.charged_ms  # type: ignore[union-attr]


def test_a_match_without_a_clock_never_times_out() -> None:
    """And charges nothing."""
    played = Played(terms=Terms()).start()
    assert played.ledger.clock.runs_out_ms() is None
    assert 0 == played.choose(after_ms=10**9).entries[0].event.charged_ms  # type: ignore[union-attr]
    not_due(lambda: decide.time_out(played.ledger, Command(10**15)))


def test_a_match_that_everybody_leaves_ends_by_itself() -> None:
    """Three time-outs forfeit a seat; with one player left it is over."""
    played = Played(seats=2).start()
    for _ in range(8):
        runs_out = played.ledger.clock.runs_out_ms()
        if runs_out is None:
            break
        played.append(decide.time_out(played.ledger, Command(runs_out)))
    assert played.ledger.match.sealed is not None
    assert sorted(played.ledger.match.places()) == [1, 2]
    assert_same(played.ledger, played.refolded())


def test_seats_are_taken_left_and_closed() -> None:
    """With the refusal that tells what is free."""
    played = Played(seats=3)
    played.append(decide.take_seat(played.ledger, played.by("a"), seat=1))
    assert 1 == declined(Why.ALREADY_SEATED, lambda: decide.take_seat(played.ledger, played.by("a"))).facts["seat"]
    assert (0, 2) == declined(Why.SEAT_TAKEN, lambda: decide.take_seat(played.ledger, played.by("b"), seat=1)).facts[
        "free"
    ]
    for unknown in (3, -1, 10**30):
        declined(Why.SEAT_UNKNOWN, lambda seat=unknown: decide.take_seat(played.ledger, played.by("b"), seat=seat))  # type: ignore[misc]
    declined(
        Why.ENTROPY_COMMITMENT_LENGTH, lambda: decide.take_seat(played.ledger, played.by("b"), commitment=b"short")
    )
    declined(Why.NOT_SEATED, lambda: decide.leave_seat(played.ledger, played.by("b")))
    played.append(decide.leave_seat(played.ledger, played.by("a")))
    played.sit()
    declined(Why.SEATS_CLOSED, lambda: decide.take_seat(played.ledger, played.by("late")))
    declined(Why.SEATS_CLOSED, lambda: decide.leave_seat(played.ledger, played.by("p0")))


def test_readiness_names_the_closing_event_and_reveals_what_was_committed() -> None:
    """Nobody chooses entropy after seeing anything of another's."""
    played = Played(entropy=bytes(range(20)))
    ready = decide.ready
    played.append(decide.take_seat(played.ledger, played.by("p0"), commitment=entropy_commitment(played.entropy)))
    declined(
        Why.SEATS_NOT_CLOSED, lambda: ready(played.ledger, played.by("p0"), closing_link=b"", entropy=played.entropy)
    )
    played.append(decide.take_seat(played.ledger, played.by("p1")))
    assert played.ledger.closing is not None
    link = played.ledger.closing.link

    def refuse(reason: Why, player: str, closing_link: bytes, entropy: bytes) -> None:
        declined(reason, lambda: ready(played.ledger, played.by(player), closing_link=closing_link, entropy=entropy))

    refuse(Why.NOT_SEATED, "stranger", link, b"")
    refuse(Why.CLOSING_LINK_WRONG, "p0", bytes(32), played.entropy)
    refuse(Why.ENTROPY_MISSING, "p0", link, b"")
    refuse(Why.ENTROPY_LENGTH, "p0", link, b"short")
    refuse(Why.ENTROPY_DOES_NOT_FIT, "p0", link, bytes(20))
    refuse(Why.ENTROPY_DOES_NOT_FIT, "p1", link, bytes(20))
    played.append(ready(played.ledger, played.by("p0"), closing_link=link, entropy=played.entropy))
    refuse(Why.ALREADY_READY, "p0", link, played.entropy)


def test_a_seat_that_does_not_get_ready_aborts_the_match_by_name() -> None:
    """After `ready_seconds`, and not before."""
    played = Played().sit()
    played.append(played.ready(0))
    due = Command(played.ledger.closed_ms + 20_000)
    not_due(lambda: decide.abort_unready(played.ledger, Command(played.ledger.closed_ms + 19_999)))
    decision = decide.abort_unready(played.ledger, due)
    assert Sealed(None, "not_ready:1", SECRET) == decision.entries[0].event
    started = Played().start()
    not_due(lambda: decide.abort_unready(started.ledger, started.by()))
    not_due(lambda: decide.abort_unready(Played().ledger, due))


def test_who_may_choose_is_asked_before_what() -> None:
    """Subject, seat, turn, position, legality: a refusal tells a stranger nothing about a hand."""
    played = Played(seats=3).start()
    ledger = played.ledger
    seat = ledger.awaited_seat
    assert seat is not None
    choice = ledger.game.caretaker(ledger.match.state)
    behind = Position(ledger.head.sequence - 1, bytes(32))

    def choose(player: str, position: Position = behind, what: Any = choice) -> Callable[[], object]:
        return lambda: decide.choose(ledger, played.by(player), position=position, choice=what)

    declined(Why.NOT_SEATED, choose("stranger"))
    assert seat == declined(Why.NOT_YOUR_TURN, choose(f"p{(seat + 1) % 3}")).facts["seat"]
    assert ledger.head.sequence == declined(Why.POSITION_BEHIND, choose(f"p{seat}")).facts["head"]
    declined(Why.POSITION_AHEAD, choose(f"p{seat}", Position(ledger.head.sequence + 1, bytes(32))))
    declined(Why.POSITION_OTHER_LINK, choose(f"p{seat}", Position(ledger.head.sequence, bytes(32))))
    with pytest.raises(Refused):
        choose(f"p{seat}", ledger.head, Stop())()
    declined(Why.NOT_STARTED, lambda: decide.resign(Played().ledger, played.by("p0")))


def test_a_seat_that_gave_up_is_played_by_its_caretaker() -> None:
    """It can neither choose nor give up again."""
    played = Played(seats=3).start()
    seat = played.ledger.awaited_seat
    played.append(decide.resign(played.ledger, played.by(f"p{seat}")))
    ledger = played.ledger
    assert seat != ledger.awaited_seat
    assert any(isinstance(logged.event, Chosen) and logged.event.by_caretaker for logged in played.log)
    declined(Why.SEAT_FORFEITED, lambda: decide.resign(ledger, played.by(f"p{seat}")))
    declined(
        Why.NOT_YOUR_TURN,
        lambda: decide.choose(ledger, played.by(f"p{seat}"), position=ledger.head, choice=None),
    )


def test_nothing_is_done_to_a_sealed_match() -> None:
    """The seal is the end."""
    played = Played().start()
    played.append(decide.abort(played.ledger, played.by(), "by_operator"))
    ledger = played.ledger
    commands: list[Callable[[Ledger, Command], object]] = [
        decide.take_seat,
        decide.leave_seat,
        decide.resign,
        decide.time_out,
        decide.abort_unready,
        lambda ledger, command: decide.abort(ledger, command, "by_operator"),
        lambda ledger, command: decide.resume(ledger, command, 1),
    ]
    for command in commands:
        declined(Why.MATCH_SEALED, lambda command=command: command(ledger, played.by("p0")))  # type: ignore[misc]


@pytest.mark.parametrize("spoil", ["sequence", "previous", "time_ms"])
def test_a_ledger_takes_only_what_continues_its_chain(spoil: str) -> None:
    """A store that lost or changed something is noticed at the first event behind it."""
    played = Played().sit()
    around: dict[str, Any] = {
        "sequence": played.ledger.head.sequence + 1,
        "previous": played.ledger.head.link,
        "time_ms": played.ledger.time_ms,
    }
    around[spoil] = {"sequence": 9, "previous": bytes(32), "time_ms": 1}[spoil]
    event: Event = SeatTaken(0)
    with pytest.raises(Misplaced):
        played.ledger.take(write_bytes(played.ledger.game, event, **around))


def test_a_lost_log_is_sealed_with_a_head_that_it_does_not_hold() -> None:
    """No evidence, evidence for something else, or a head that is not lost: none of it can stand in a log."""
    played = Played().start()
    head = played.ledger.head
    lost = Head(head.sequence + 3, bytes(32), "0" * 16, bytes(64))
    for reason, evidence in (
        (LOG_LOST, None),
        ("by_operator", lost),
        (LOG_LOST, Head(head.sequence, head.link, "0" * 16, bytes(64))),
    ):
        with pytest.raises(Misplaced, match="lost"):
            decide.abort(played.ledger, played.by(), reason, evidence)
    played.append(decide.abort(played.ledger, played.by(), LOG_LOST, lost))
    assert Sealed(None, LOG_LOST, played.ledger.secret, lost) == played.ledger.match.sealed


def test_a_log_that_does_not_begin_as_it_should_is_refused() -> None:
    """Another match's event 1, another secret, or something else altogether."""
    played = Played()
    first = played.log[0]
    with pytest.raises(Misplaced, match="name of the match"):
        Ledger(read_bytes(first.data, first.private, match_id="another"))
    with pytest.raises(Misplaced, match="secret"):
        Ledger(read_bytes(first.data, b"", match_id="m"))
    with pytest.raises(Misplaced, match="opens"):
        Ledger(played.sit().log[1])
