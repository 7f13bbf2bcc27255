"""Decides which events a command appends to a match, or why it is declined. Pure: nothing is stored here.

A command is decided on a copy of the ledger, which takes each of its events at once; so every appended event has been
checked like one that was read. The append also contains all events that follow without a player's choice: the start
after the last readiness, forced throws, a caretaker's choices, result and seal. Checks go from the subject over seat,
turn and position to legality, so that no refusal reveals anything about a hand to a stranger.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from rollbook.match.chain import Position, genesis
from rollbook.match.clock import LONGEST_GAP_MS, SECOND_MS
from rollbook.match.codec.envelope import Logged, write_bytes
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
    position_ahead,
    position_behind,
    position_of_another_log,
)
from rollbook.match.events import (
    BY_OPERATOR,
    EXPIRED,
    LOG_LOST,
    Chosen,
    Event,
    Forfeited,
    Happened,
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
from rollbook.match.ledger import Ledger, Visible
from rollbook.rules.catalogue import find
from rollbook.rules.chance import Draw, Throw
from rollbook.rules.game import Awaited, ToChoose
from rollbook.rules.refusals import Invalid


class Decision:
    """The events of one command, and the ledger after them."""

    def __init__(self, before: Ledger, origin: Origin, *events: Event) -> None:
        """Take these events on a copy of the ledger; the first one carries the request."""
        self.before = before
        self.after = before.copy()
        self.made: list[Visible] = []
        self.not_before_ms: int | None = None
        """The store may not append the events before this time by its own clock."""
        self.now_ms = max(origin.now_ms, before.time_ms)
        """The time of all events of the command."""
        self._request = origin.request
        for event in events:
            self.add(event)

    @property
    def entries(self) -> list[Logged]:
        """The events to append."""
        return [made.logged for made in self.made]

    def add(self, event: Event) -> None:
        """Append the event to the decision and take it."""
        after = self.after
        head = after.head
        logged = write_bytes(
            after.game,
            event,
            sequence=head.sequence + 1,
            time_ms=self.now_ms,
            previous=head.link,
            request=b"" if self.made else self._request,
        )
        made = after.visible(logged)
        after.take(logged)
        self.made.append(made)

    def add_what_follows(self) -> Decision:
        """Add all events that follow without a player's choice."""
        while (event := self._next()) is not None:
            self.add(event)
        return self

    def _next(self) -> Event | None:
        match = self.after.match
        if match.sealed is not None:
            return None
        if match.must_be_sealed:
            places, aborted = (match.places(), None) if match.is_over else (None, BY_OPERATOR)
            return Sealed(places, aborted, self.after.secret)
        if not match.started:
            return Started() if None not in match.entropy else None
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


def open_match(command: OpenMatch) -> Logged:
    """Event 1 of a new match, with the secret as its private part."""
    opened = command.opened
    return write_bytes(
        find(opened.game, opened.ruleset),
        opened,
        sequence=1,
        time_ms=command.origin.now_ms,
        previous=genesis(opened.match_id),
        request=command.origin.request,
        secret=command.secret,
    )


def decide(ledger: Ledger, command: Command) -> Decision:
    """Decide a command; raises Declined, NotDue, or the game's own refusal."""
    decision = _DECIDED_BY[type(command)](ledger, command)
    misplaced: Declined | None = getattr(command, "misplaced", None)
    if misplaced is not None:
        raise misplaced
    return decision


def next_due(ledger: Ledger) -> tuple[int, type[TimeOut | AbortUnready | Expire]] | None:
    """When the service acts by itself if nothing happens before, and with which command; None if it waits for ever."""
    if (runs_out_ms := ledger.clock.runs_out_ms()) is not None:
        return runs_out_ms, TimeOut
    if (ready_until_ms := ledger.ready_until_ms) is not None:
        return ready_until_ms, AbortUnready
    if (expires_ms := ledger.expires_ms) is not None:
        return expires_ms, Expire
    return None


def unplayed_until_ms(ledger: Ledger, first_choice_seconds: int) -> int | None:
    """When the service ends a running match in which no person has made a choice; None if it does not.

    A match between bots of the service needs no person.
    """
    if not ledger.match.started or ledger.match.sealed is not None or ledger.person_chose or not ledger.has_person:
        return None
    terms = ledger.opened.terms
    return ledger.started_ms + max(first_choice_seconds, 2 * terms.turn_seconds + terms.reserve_seconds) * SECOND_MS


def _take_seat(ledger: Ledger, command: TakeSeat) -> Decision:
    seat, player, commitment = command.seat, command.origin.player, command.commitment
    if seat is not None and seat < 0:
        raise Declined(Why.SEAT_UNKNOWN, "seats are numbered from 0")
    _check_unsealed(ledger)
    seated = ledger.seat_of(player)
    if seated is not None:
        raise Declined(Why.ALREADY_SEATED, f"a player holds one seat, and this one has seat {seated}", seat=seated)
    if ledger.match.closed:
        raise Declined(Why.SEATS_CLOSED, "all seats are taken")
    if commitment and len(commitment) != 32:  # noqa: PLR2004 - SHA-256
        raise Declined(Why.ENTROPY_COMMITMENT_LENGTH, f"a commitment has 32 bytes or none, not {len(commitment)}")
    free = [number for number, taken in enumerate(ledger.match.taken) if not taken]
    if len(free) <= command.kept:
        why = "the seats of a rematch are kept for those who sat in the match before"
        raise Declined(Why.SEATS_KEPT, why, retry_after_ms=command.kept_ms)
    if seat is None:
        seat = free[0]
    if seat not in range(len(ledger.match.taken)):
        raise Declined(Why.SEAT_UNKNOWN, f"the seats are 0 to {len(ledger.match.taken) - 1}", free=tuple(free))
    if seat not in free:
        raise Declined(Why.SEAT_TAKEN, f"seat {seat} is taken", seat=seat, free=tuple(free))
    return Decision(ledger, command.origin, SeatTaken(seat, player, commitment, command.house)).add_what_follows()


def _leave_seat(ledger: Ledger, command: LeaveSeat) -> Decision:
    seat = _seat(ledger, command)
    _check_unsealed(ledger)
    if ledger.match.closed:
        raise Declined(Why.SEATS_CLOSED, "no seat can be left once all are taken; a seat resigns once the match runs")
    return Decision(ledger, command.origin, SeatLeft(seat)).add_what_follows()


def _free_seat(ledger: Ledger, command: FreeSeat) -> Decision:
    seat = command.seat
    if seat not in range(len(ledger.players)):
        raise Declined(Why.SEAT_UNKNOWN, f"the seats are 0 to {len(ledger.players) - 1}")
    _check_unsealed(ledger)
    if ledger.match.closed:
        raise Declined(Why.SEATS_CLOSED, "no seat is freed once all seats are taken")
    if not ledger.match.taken[seat]:
        raise Declined(Why.SEAT_FREE, f"no player sits on seat {seat}", seat=seat)
    if not ledger.opened.terms.is_private and not ledger.house[seat]:
        raise Declined(Why.MATCH_IS_PUBLIC, "only a seat of a private match is freed, or that of a bot", seat=seat)
    return Decision(ledger, command.origin, SeatLeft(seat)).add_what_follows()


def _get_ready(ledger: Ledger, command: GetReady) -> Decision:
    seat, entropy = _seat(ledger, command), command.entropy
    _check_unsealed(ledger)
    closing = ledger.closing
    if closing is None or not ledger.match.closed:
        raise Declined(Why.SEATS_NOT_CLOSED, "a seat can get ready only once all seats are taken")
    if ledger.match.entropy[seat] is not None:
        raise Declined(Why.ALREADY_READY, f"seat {seat} is ready already", seat=seat)
    if command.closing_link != closing.link:
        raise Declined(
            Why.CLOSING_LINK_WRONG,
            f"readiness names the link of event {closing.sequence}, which closed the seats",
            sequence=closing.sequence,
        )
    if entropy and len(entropy) not in ENTROPY_BYTES:
        raise Declined(Why.ENTROPY_LENGTH, f"entropy has 16 to 64 bytes or none, not {len(entropy)}")
    if ledger.entropy_commitments[seat] and not entropy:
        raise Declined(Why.ENTROPY_MISSING, f"seat {seat} has committed to entropy and must reveal it", seat=seat)
    try:
        decision = Decision(ledger, command.origin, Ready(seat, entropy, closing.link))
    except Misplaced as misplaced:
        raise Declined(Why.ENTROPY_DOES_NOT_FIT, str(misplaced), seat=seat) from None
    return decision.add_what_follows()


def _choose(ledger: Ledger, command: Choose) -> Decision:
    """The position must be the head; the rules may refuse the choice for their own reasons."""
    seat = _seat(ledger, command)
    _check_turn(ledger, seat)
    _check_position(ledger, command.position)
    if isinstance(command.choice, Invalid):
        raise command.choice
    decision = Decision(ledger, command.origin)
    decision.add(Chosen(seat, command.choice, charged_ms=ledger.clock.charge(decision.now_ms)))
    return decision.add_what_follows()


def _resign(ledger: Ledger, command: Resign) -> Decision:
    seat = _seat(ledger, command)
    _check_running(ledger)
    if seat in ledger.match.forfeited:
        raise Declined(Why.SEAT_FORFEITED, f"seat {seat} has given up already", seat=seat)
    return Decision(ledger, command.origin, Resigned(seat)).add_what_follows()


def _abort(ledger: Ledger, command: Abort) -> Decision:
    _check_unsealed(ledger)
    if command.by_opener and ledger.match.closed:
        raise Declined(Why.SEATS_CLOSED, "a match cannot be withdrawn once all its seats are taken")
    return Decision(ledger, command.origin, Sealed(None, BY_OPERATOR, ledger.secret))


def _time_out(ledger: Ledger, command: TimeOut) -> Decision:
    _check_running(ledger)
    runs_out_ms = ledger.clock.runs_out_ms()
    seat = ledger.awaited_seat
    if seat is None or runs_out_ms is None or command.origin.now_ms < runs_out_ms:
        raise NotDue("no seat's time is out")
    decision = Decision(ledger, command.origin)
    decision.not_before_ms = runs_out_ms
    decision.add(TimedOut(seat, runs_out_ms, ledger.clock.charge(decision.now_ms)))
    return decision.add_what_follows()


def _pardon(ledger: Ledger, command: Pardon) -> Decision:
    """Pardon the part of the wait within the service's absence, once, even if several processes notice the absence."""
    _check_running(ledger)
    clock, now_ms = ledger.clock, command.origin.now_ms
    away_since_ms = max(command.away_since_ms, ledger.resumed_ms)
    missed_ms = now_ms - max(away_since_ms, clock.since_ms)
    if now_ms - away_since_ms <= LONGEST_GAP_MS or not clock.waiting or missed_ms <= 0:
        raise NotDue("the service was not away for long while a seat was waited for")
    return Decision(ledger, command.origin, Resumed(missed_ms))


def _abort_unready(ledger: Ledger, command: AbortUnready) -> Decision:
    _check_unsealed(ledger)
    if ledger.match.started or not ledger.match.closed:
        raise NotDue("no seat is awaited")
    waited_for = (seat for seat, brought in enumerate(ledger.match.entropy) if brought is None)
    return _end(ledger, command.origin, ledger.ready_until_ms, not_ready(waited_for))


def _expire(ledger: Ledger, command: Expire) -> Decision:
    _check_unsealed(ledger)
    return _end(ledger, command.origin, ledger.expires_ms, EXPIRED)


def _end_unplayed(ledger: Ledger, command: EndUnplayed) -> Decision:
    _check_unsealed(ledger)
    return _end(ledger, command.origin, unplayed_until_ms(ledger, command.first_choice_seconds), BY_OPERATOR)


def _end(ledger: Ledger, origin: Origin, not_before_ms: int | None, aborted: str) -> Decision:
    """Seal the match as aborted, not before this time by the store's clock."""
    if not_before_ms is None or origin.now_ms < not_before_ms:
        raise NotDue("there is time left")
    decision = Decision(ledger, origin)
    decision.not_before_ms = not_before_ms
    decision.add(Sealed(None, aborted, ledger.secret))
    return decision


def _seal_lost(ledger: Ledger, command: SealLost) -> Decision:
    _check_unsealed(ledger)
    return Decision(ledger, command.origin, Sealed(None, LOG_LOST, ledger.secret, command.lost))


_DECIDED_BY: Final[dict[type, Callable[[Ledger, Any], Decision]]] = {
    TakeSeat: _take_seat,
    LeaveSeat: _leave_seat,
    FreeSeat: _free_seat,
    GetReady: _get_ready,
    Choose: _choose,
    Resign: _resign,
    Abort: _abort,
    TimeOut: _time_out,
    Pardon: _pardon,
    AbortUnready: _abort_unready,
    Expire: _expire,
    EndUnplayed: _end_unplayed,
    SealLost: _seal_lost,
}


# Checks, in the order in which they are made: seat, state of the match, turn, position


def _seat(ledger: Ledger, command: LeaveSeat | GetReady | Choose | Resign) -> int:
    """The caller's seat; Declined if the command names another one."""
    seat, named, seats = ledger.seat_of(command.origin.player), command.seat, len(ledger.players)
    if named is not None and named not in range(seats):
        raise Declined(Why.SEAT_UNKNOWN, f"the seats are 0 to {seats - 1}")
    if seat is None:
        raise Declined(Why.NOT_SEATED, "the caller has no seat in this match")
    if named not in {None, seat}:
        raise Declined(Why.NOT_YOUR_SEAT, f"the caller has seat {seat}", seat=seat)
    return seat


def _check_turn(ledger: Ledger, seat: int) -> None:
    _check_running(ledger)
    if ledger.match.played_by_caretaker(seat):
        raise Declined(Why.NOT_YOUR_TURN, f"the caretaker plays for seat {seat}", seat=seat)
    if ledger.awaited_seat != seat:
        raise Declined(Why.NOT_YOUR_TURN, f"seat {ledger.awaited_seat} is awaited", seat=ledger.awaited_seat)


def _check_position(ledger: Ledger, position: Position | Declined) -> None:
    if isinstance(position, Declined):
        raise position
    head = ledger.head
    if position.sequence > head.sequence:
        raise position_ahead(position, head.sequence)
    if position.sequence < head.sequence:
        raise position_behind(head.sequence)
    if position.link != head.link:
        raise position_of_another_log(position, head.sequence)


def _check_running(ledger: Ledger) -> None:
    _check_unsealed(ledger)
    if not ledger.match.started:
        raise Declined(Why.NOT_STARTED, "the match has not started")


def _check_unsealed(ledger: Ledger) -> None:
    if ledger.match.sealed is not None:
        raise Declined(Why.MATCH_SEALED, "the match is over")
