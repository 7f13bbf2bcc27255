"""What a command makes of a match: the events to append, or why there are none. Pure: nothing is stored here.

A command is decided on a copy of the ledger, which takes every event as it is made; so whatever is appended has been
checked like an event that was read. Everything that follows without anybody's choice is in the same append: the start
behind the last readiness, forced throws, a caretaker's choices, result and seal. Checks go from the subject over seat
and turn and position to legality, so that no refusal tells a stranger about a hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from rollbook.match.chain import Head, Position, genesis
from rollbook.match.codec.envelope import Logged, write_bytes
from rollbook.match.events import (
    Chosen,
    Event,
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
    TimedOut,
    not_ready,
)
from rollbook.match.fold import ENTROPY_BYTES, Misplaced
from rollbook.match.ledger import Ledger
from rollbook.rules.chance import Draw, Throw
from rollbook.rules.game import Awaited, Game, ToChoose
from rollbook.rules.refusals import Fact


class Why(StrEnum):
    """Why a command is not carried out, where it is not for the rules of the game to say; clients learn it by name."""

    MATCH_SEALED = "match_sealed"
    NOT_STARTED = "not_started"
    SEAT_UNKNOWN = "seat_unknown"
    SEAT_TAKEN = "seat_taken"
    SEATS_CLOSED = "seats_closed"
    SEATS_NOT_CLOSED = "seats_not_closed"
    NOT_SEATED = "not_seated"
    ALREADY_SEATED = "already_seated"
    ALREADY_READY = "already_ready"
    SEAT_FORFEITED = "seat_forfeited"
    CLOSING_LINK_WRONG = "closing_link_wrong"
    ENTROPY_COMMITMENT_LENGTH = "entropy_commitment_length"
    ENTROPY_MISSING = "entropy_missing"
    ENTROPY_DOES_NOT_FIT = "entropy_does_not_fit"
    ENTROPY_LENGTH = "entropy_length"
    NOT_YOUR_TURN = "not_your_turn"
    POSITION_BEHIND = "position_behind"
    POSITION_AHEAD = "position_ahead"
    POSITION_OTHER_LINK = "position_other_link"


class Declined(Exception):
    """A command that is not carried out; nothing has happened."""

    def __init__(self, reason: Why, why: str, **facts: Fact) -> None:
        """Keep the reason for programs and the sentence for people."""
        super().__init__(reason, why)
        self.reason = reason
        self.why = why
        self.facts = facts

    def __str__(self) -> str:
        """Say why."""
        return self.why


class NotDue(Exception):
    """It is too early, or too late, for what the service does of its own accord."""


@dataclass(frozen=True, slots=True)
class Command:
    """Who asks for something, and when; the service itself has neither player nor request."""

    now_ms: int
    player: bytes = b""
    """The salted reference to whoever asks."""
    request: bytes = b""
    """The hash of subject and request id."""


class Decision:
    """The events of one command, and the ledger as it is once they are appended."""

    def __init__(self, before: Ledger, command: Command) -> None:
        """Decide on a copy; the request marks the first event."""
        self.after = before.copy()
        self.entries: list[Logged] = []
        self.now_ms = max(command.now_ms, before.time_ms)
        """The time of all events of the command."""
        self._request = command.request

    def add(self, event: Event) -> None:
        """Write the event behind the others and take it."""
        after = self.after
        logged = write_bytes(
            after.game,
            event,
            sequence=after.head.sequence + 1,
            time_ms=self.now_ms,
            previous=after.head.link,
            request=b"" if self.entries else self._request,
        )
        after.take(logged)
        self.entries.append(logged)

    def add_what_follows(self) -> Decision:
        """Add everything that follows without anybody's choice."""
        while (event := self._next()) is not None:
            self.add(event)
        return self

    def _next(self) -> Event | None:
        match = self.after.match
        if match.sealed is not None:
            return None
        if not match.started:
            return Started() if None not in match.entropy else None
        if match.must_be_sealed:
            return Sealed(match.places(), None, self.after.secret)
        if match.must_forfeit is not None:
            return Forfeited(match.must_forfeit)
        return self._next_of_game(match.awaited)

    def _next_of_game(self, awaited: Awaited) -> Event | None:
        match = self.after.match
        if isinstance(awaited, Throw | Draw):
            values = self.after.dice.values(match.chance_events + 1, awaited)
            return Happened(match.game.outcome(match.state, values))
        if isinstance(awaited, ToChoose) and match.played_by_caretaker(awaited.seat):
            return Chosen(awaited.seat, match.game.caretaker(match.state), by_caretaker=True)
        return None


def open_match(game: Game[Any, Any, Any], opened: Opened, secret: bytes, command: Command) -> Logged:
    """Event 1 of a new match, with its secret beside it."""
    return write_bytes(
        game,
        opened,
        sequence=1,
        time_ms=command.now_ms,
        previous=genesis(opened.match_id),
        request=command.request,
        secret=secret,
    )


def take_seat(
    ledger: Ledger, command: Command, *, seat: int | None = None, commitment: bytes = b"", house: bool = False
) -> Decision:
    """Sit down, on a certain seat or on the first that is free; `house` says that the service's own bot does."""
    _unsealed(ledger)
    seated = ledger.seat_of(command.player)
    if seated is not None:
        raise Declined(Why.ALREADY_SEATED, f"a player holds one seat, and this one has seat {seated}", seat=seated)
    if ledger.match.closed:
        raise Declined(Why.SEATS_CLOSED, "all seats are taken")
    if commitment and len(commitment) != 32:  # noqa: PLR2004 - SHA-256
        raise Declined(Why.ENTROPY_COMMITMENT_LENGTH, f"a commitment has 32 bytes or none, not {len(commitment)}")
    free = [number for number, taken in enumerate(ledger.match.taken) if not taken]
    if seat is None:
        seat = free[0]
    if seat not in range(len(ledger.match.taken)):
        raise Declined(Why.SEAT_UNKNOWN, f"the seats are 0 to {len(ledger.match.taken) - 1}", free=tuple(free))
    if seat not in free:
        raise Declined(Why.SEAT_TAKEN, f"seat {seat} is taken", seat=seat, free=tuple(free))
    decision = Decision(ledger, command)
    decision.add(SeatTaken(seat, command.player, commitment, house))
    return decision


def leave_seat(ledger: Ledger, command: Command) -> Decision:
    """Get up again, before the seats are closed."""
    _unsealed(ledger)
    seat = _seat(ledger, command)
    if ledger.match.closed:
        raise Declined(Why.SEATS_CLOSED, "nobody leaves once all seats are taken; a seat resigns once the match runs")
    decision = Decision(ledger, command)
    decision.add(SeatLeft(seat))
    return decision


def ready(ledger: Ledger, command: Command, *, closing_link: bytes, entropy: bytes) -> Decision:
    """Reveal what the seat brought; behind the last seat's readiness the match starts."""
    _unsealed(ledger)
    seat = _seat(ledger, command)
    closing = ledger.closing
    if closing is None or not ledger.match.closed:
        raise Declined(Why.SEATS_NOT_CLOSED, "nobody is ready before all seats are taken")
    if ledger.match.entropy[seat] is not None:
        raise Declined(Why.ALREADY_READY, f"seat {seat} is ready already", seat=seat)
    if closing_link != closing.link:
        raise Declined(
            Why.CLOSING_LINK_WRONG,
            f"readiness names the link of event {closing.sequence}, which closed the seats",
            sequence=closing.sequence,
        )
    if entropy and len(entropy) not in ENTROPY_BYTES:
        raise Declined(Why.ENTROPY_LENGTH, f"entropy has 16 to 64 bytes or none, not {len(entropy)}")
    if ledger.entropy_commitments[seat] and not entropy:
        raise Declined(Why.ENTROPY_MISSING, f"seat {seat} has committed to entropy and must reveal it", seat=seat)
    decision = Decision(ledger, command)
    try:
        decision.add(Ready(seat, entropy, closing_link))
    except Misplaced as misplaced:
        raise Declined(Why.ENTROPY_DOES_NOT_FIT, str(misplaced), seat=seat) from None
    return decision.add_what_follows()


def choose(ledger: Ledger, command: Command, *, position: Position, choice: Any) -> Decision:
    """Choose for one's seat at a position; the rules may refuse the choice with their own reasons."""
    seat = check_turn(ledger, command)
    check_position(ledger, position)
    return chosen(ledger, command, seat, choice)


def chosen(ledger: Ledger, command: Command, seat: int, choice: Any) -> Decision:
    """What becomes of a choice of the seat whose turn it is, at the head of the log."""
    decision = Decision(ledger, command)
    decision.add(Chosen(seat, choice, charged_ms=ledger.clock.charge(decision.now_ms)))
    return decision.add_what_follows()


def resign(ledger: Ledger, command: Command) -> Decision:
    """Give up; the caretaker plays on, or the match is over."""
    _running(ledger)
    seat = _seat(ledger, command)
    if seat in ledger.match.forfeited:
        raise Declined(Why.SEAT_FORFEITED, f"seat {seat} has given up already", seat=seat)
    decision = Decision(ledger, command)
    decision.add(Resigned(seat))
    return decision.add_what_follows()


def time_out(ledger: Ledger, command: Command) -> Decision:
    """End the wait for a seat whose time is out; its caretaker plays the rest of the turn in the same append."""
    _running(ledger)
    runs_out_ms = ledger.clock.runs_out_ms()
    seat = ledger.awaited_seat
    if seat is None or runs_out_ms is None or command.now_ms < runs_out_ms:
        raise NotDue("no seat's time is out")
    decision = Decision(ledger, command)
    decision.add(TimedOut(seat, runs_out_ms, ledger.clock.charge(decision.now_ms)))
    return decision.add_what_follows()


def resume(ledger: Ledger, command: Command, not_charged_ms: int) -> Decision:
    """Pardon the time in which the service was away."""
    _running(ledger)
    decision = Decision(ledger, command)
    decision.add(Resumed(not_charged_ms))
    return decision


def abort(ledger: Ledger, command: Command, reason: str, lost: Head | None = None) -> Decision:
    """Seal a match without a result; if its log has lost a head that the service signed, with that head."""
    _unsealed(ledger)
    decision = Decision(ledger, command)
    decision.add(Sealed(None, reason, ledger.secret, lost))
    return decision


def abort_unready(ledger: Ledger, command: Command) -> Decision:
    """Seal a match whose seats were closed `ready_seconds` ago, naming the seats that are not ready."""
    _unsealed(ledger)
    if ledger.match.started or not ledger.match.closed:
        raise NotDue("nobody is waited for")
    seconds = ledger.opened.terms.ready_seconds
    due_ms = ledger.closed_ms + seconds * 1_000
    if not seconds or command.now_ms < due_ms:
        raise NotDue("there is time left to get ready")
    waited_for = (seat for seat, brought in enumerate(ledger.match.entropy) if brought is None)
    return abort(ledger, command, not_ready(waited_for))


def check_turn(ledger: Ledger, command: Command) -> int:
    """The player's seat, if it is the one that is to choose now."""
    _running(ledger)
    seat = _seat(ledger, command)
    if ledger.match.played_by_caretaker(seat):
        raise Declined(Why.NOT_YOUR_TURN, f"the caretaker plays for seat {seat}", seat=seat)
    if ledger.awaited_seat != seat:
        raise Declined(Why.NOT_YOUR_TURN, f"seat {ledger.awaited_seat} is awaited", seat=ledger.awaited_seat)
    return seat


def check_position(ledger: Ledger, position: Position) -> None:
    """Decline a position that is not the head of the log."""
    head = ledger.head
    if position.sequence > head.sequence:
        raise Declined(
            Why.POSITION_AHEAD,
            f"the log ends at event {head.sequence}, before event {position.sequence}",
            head=head.sequence,
        )
    if position.sequence < head.sequence:
        raise Declined(Why.POSITION_BEHIND, f"the log has gone on to event {head.sequence}", head=head.sequence)
    if position.link != head.link:
        raise Declined(Why.POSITION_OTHER_LINK, f"event {head.sequence} has another link", head=head.sequence)


def _unsealed(ledger: Ledger) -> None:
    if ledger.match.sealed is not None:
        raise Declined(Why.MATCH_SEALED, "the match is over")


def _running(ledger: Ledger) -> None:
    _unsealed(ledger)
    if not ledger.match.started:
        raise Declined(Why.NOT_STARTED, "the match has not started")


def _seat(ledger: Ledger, command: Command) -> int:
    seat = ledger.seat_of(command.player)
    if seat is None:
        raise Declined(Why.NOT_SEATED, "the player has no seat in this match")
    return seat
