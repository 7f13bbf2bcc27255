"""The state of a match as a fold of its events: every event is checked against those before it.

Seats fill and get ready, and the match starts; then the game's rules determine what is awaited. The rules of every
match come on top: a caretaker plays the rest of the turn for a seat that times out, and all further turns after three
such turns in a row or a resignation. With fewer than two players left, or after MOST_EVENTS, the match is sealed with
the current standing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from typing import Any, ClassVar, Final

from rollbook.match.events import (
    BY_OPERATOR,
    EXPIRED,
    NOT_READY,
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
from rollbook.rules.game import Awaited, Game, Over, Perspective, ToChoose
from rollbook.rules.places import places as shared_places

MOST_EVENTS: Final = 10_000
"""The longest log; its last event is the seal."""

_LAST_BUT_THE_SEAL: Final = MOST_EVENTS - 1

TURNS_TO_FORFEIT: Final = 3

ENTROPY_BYTES: Final = range(16, 65)


class Breach(StrEnum):
    """The kind of rule that a misplaced event breaks."""

    CHAIN = "chain"
    COMMITMENT = "commitment"
    ENTROPY = "entropy"
    TURNS = "turns"
    CLOCKS = "clocks"
    CARETAKER = "caretaker"
    LIFECYCLE = "lifecycle"
    RESULT = "result"
    SEAL = "seal"


class Misplaced(Exception):
    """An event that may not follow at this place; the fold has not taken it."""

    def __init__(self, why: str, breach: Breach = Breach.LIFECYCLE) -> None:
        """`why` is a sentence for people, `breach` the broken rule for programs."""
        super().__init__(why)
        self.breach = breach


_WHILE_RUNNING: Final = frozenset({Happened, Chosen, TimedOut, Forfeited, Resigned, Resumed})
"""Events that happen only between start and end."""


class MatchFold:
    """The fold of a match's events so far."""

    def __init__(self, game: Game[Any, Any, Any], opened: Opened) -> None:
        """Begin with event 1; raises the game's refusal if the options are invalid."""
        seats = len(opened.names)
        self.game = game
        self.opened = opened
        self.sequence = 1
        self.state = game.start(opened.options, seats)
        self.awaited: Awaited = game.awaited(self.state)
        """The next step: a choice, a throw, a draw, or the end."""
        self.must_be_sealed = False
        """Whether the seal is the only event left."""
        self._undisturbed = False
        """Whether the match continues and no seat has timed out or given up: the common, faster case."""
        self.taken = [False] * seats
        self.entropy: list[bytes | None] = [None] * seats
        """The entropy that each seat revealed when it got ready; None until then."""
        self.started = False
        self.sealed: Sealed | None = None
        self.chance_events = 0
        self.turn_of: int | None = None
        """The seat that is, or was last, awaited."""
        self.turn_timed_out = False
        self.timed_out_turns = [0] * seats
        """For each seat, how many of its turns in a row have timed out."""
        self.forfeited: list[int] = []
        """The forfeited seats in the order in which they gave up."""

    def copy(self) -> MatchFold:
        """An independent copy."""
        other = object.__new__(MatchFold)
        other.__dict__.update(self.__dict__)
        other.state = self.game.copy(self.state)
        other.taken = self.taken.copy()
        other.entropy = self.entropy.copy()
        other.timed_out_turns = self.timed_out_turns.copy()
        other.forfeited = self.forfeited.copy()
        return other

    @property
    def closed(self) -> bool:
        """Whether all seats are taken, so that no seat can be taken or left any more."""
        return all(self.taken)

    @property
    def is_over(self) -> bool:
        """Whether the match has a result: it has started, and only its seal may follow."""
        return self.started and self.must_be_sealed

    @property
    def must_forfeit(self) -> int | None:
        """The seat whose third turn in a row has just timed out."""
        seat = self.turn_of
        if seat is None or self.timed_out_turns[seat] < TURNS_TO_FORFEIT or seat in self.forfeited:
            return None
        return seat

    def played_by_caretaker(self, seat: int) -> bool:
        """Whether the caretaker chooses for this seat now."""
        return seat in self.forfeited or (seat == self.turn_of and self.turn_timed_out)

    def places(self) -> tuple[int, ...]:
        """The places: players as the game ranks them, then forfeited seats, those that gave up later first."""
        standing = self.game.places(self.state)
        return shared_places(
            [
                (0, self.forfeited.index(seat)) if seat in self.forfeited else (1, -place)
                for seat, place in enumerate(standing)
            ]
        )

    def as_seen(self, event: Event, perspective: Perspective) -> Event:
        """The next event, not yet taken, as this perspective sees it before the match is sealed."""
        if isinstance(event, Happened):
            return replace(event, outcome=self.game.seen(self.state, event.outcome, perspective))
        return event

    def take(self, event: Event) -> None:
        """Take the next event, or raise Misplaced or the game's own refusal and change nothing."""
        if self._undisturbed and type(event) is Chosen:
            self._chosen(event)
        elif self._undisturbed and type(event) is Happened:
            self._happened(event)
        else:
            self._take_any(event)
            return
        self.sequence += 1
        awaited = self.awaited = self.game.awaited(self.state)
        if type(awaited) is Over or self.sequence >= _LAST_BUT_THE_SEAL:
            self.must_be_sealed = True
            self._undisturbed = False

    def _take_any(self, event: Event) -> None:
        """Take an event of any kind with all checks; the slower path."""
        if self.sealed is not None:
            raise Misplaced("nothing follows the seal", Breach.SEAL)
        kind = type(event)
        if kind is not Sealed:
            if kind in _WHILE_RUNNING and not self.started:
                raise Misplaced("the match has not started")
            if self.must_be_sealed:
                raise Misplaced("the match is over, so only its seal may follow")
            if self.turn_timed_out and kind is not Forfeited and self.must_forfeit is not None:
                raise Misplaced(f"seat {self.must_forfeit} forfeits: {TURNS_TO_FORFEIT} turns in a row have timed out")
        taker = self._takers.get(kind)
        if taker is None:
            raise Misplaced("a match is opened once")
        taker(self, event)
        self.sequence += 1
        self.must_be_sealed = self.sequence >= _LAST_BUT_THE_SEAL
        if self.started:
            awaited = self.awaited = self.game.awaited(self.state)
            self.must_be_sealed |= (
                isinstance(awaited, Over) or len(self.taken) - len(self.forfeited) < 2  # noqa: PLR2004 - one player alone
            )
            self._undisturbed = not (self.must_be_sealed or self.sealed or self.turn_timed_out or self.forfeited)

    def _seat_taken(self, event: SeatTaken) -> None:
        self._check_seat(event.seat)
        if self.taken[event.seat]:
            raise Misplaced(f"seat {event.seat} is taken already")
        self.taken[event.seat] = True

    def _seat_left(self, event: SeatLeft) -> None:
        self._check_seat(event.seat)
        if self.closed:
            raise Misplaced("no seat can be left once all are taken")
        if not self.taken[event.seat]:
            raise Misplaced(f"seat {event.seat} is empty")
        self.taken[event.seat] = False

    def _ready(self, event: Ready) -> None:
        self._check_seat(event.seat)
        if not self.closed:
            raise Misplaced("a seat can get ready only once all seats are taken")
        if self.entropy[event.seat] is not None:
            raise Misplaced(f"seat {event.seat} is ready already")
        if event.entropy and len(event.entropy) not in ENTROPY_BYTES:
            raise Misplaced(
                f"seat {event.seat} brings {len(event.entropy)} bytes of entropy, not 16 to 64 or none", Breach.ENTROPY
            )
        self.entropy[event.seat] = event.entropy

    def _started(self, _event: Started) -> None:
        if self.started:
            raise Misplaced("the match has started already")
        if None in self.entropy:
            raise Misplaced(f"seat {self.entropy.index(None)} is not ready")
        self.started = True

    def _happened(self, event: Happened[Any]) -> None:
        self.game.play(self.state, event.outcome)
        self.chance_events += 1

    def _chosen(self, event: Chosen[Any]) -> None:
        awaited = self.awaited
        seat = event.seat
        if not isinstance(awaited, ToChoose):
            self._check_seat(seat)
            raise Misplaced("chance is awaited, not a choice", Breach.TURNS)
        if seat != awaited.seat:
            self._check_seat(seat)
            raise Misplaced(f"it is the turn of seat {awaited.seat}, not of seat {seat}", Breach.TURNS)
        by_caretaker = not self._undisturbed and self.played_by_caretaker(seat)
        if event.by_caretaker != by_caretaker:
            who = "its caretaker" if by_caretaker else "the seat itself"
            raise Misplaced(f"{who} chooses for seat {seat} here", Breach.CARETAKER)
        if event.by_caretaker and event.choice != self.game.caretaker(self.state):
            raise Misplaced(f"the caretaker would choose {self.game.caretaker(self.state)}", Breach.CARETAKER)
        self.game.play(self.state, event.choice)
        if seat != self.turn_of:
            self._turn_passes_to(seat)

    def _timed_out(self, event: TimedOut) -> None:
        self._check_seat(event.seat)
        awaited = self.awaited
        if not isinstance(awaited, ToChoose) or awaited.seat != event.seat:
            raise Misplaced(f"seat {event.seat} is not awaited, so it cannot time out", Breach.TURNS)
        if self.played_by_caretaker(event.seat):
            raise Misplaced(f"the caretaker plays for seat {event.seat}, so it cannot time out", Breach.CARETAKER)
        if event.seat != self.turn_of:
            self._turn_passes_to(event.seat)
        self.turn_timed_out = True
        self.timed_out_turns[event.seat] += 1

    def _forfeits(self, event: Forfeited) -> None:
        self._check_seat(event.seat)
        if self.must_forfeit != event.seat:
            raise Misplaced(f"seat {event.seat} has not timed out {TURNS_TO_FORFEIT} turns in a row")
        self.forfeited.append(event.seat)

    def _resigns(self, event: Resigned) -> None:
        self._check_seat(event.seat)
        if event.seat in self.forfeited:
            raise Misplaced(f"seat {event.seat} has given up already")
        self.forfeited.append(event.seat)

    def _resumed(self, _event: Resumed) -> None:
        """Changes nothing here; only clocks are affected."""

    def _seal(self, event: Sealed) -> None:
        if event.aborted is not None:
            self._check_abort(event.aborted)
        else:
            if not self.is_over:
                raise Misplaced("the match is not over, so it has no result", Breach.RESULT)
            if event.places != self.places():
                raise Misplaced(f"the places are {list(self.places())}, not {list(event.places or ())}", Breach.RESULT)
        self.sealed = event

    def _check_abort(self, why: str) -> None:
        reason, _, seats = why.partition(":")
        if reason == NOT_READY:
            waited_for = not_ready(seat for seat, brought in enumerate(self.entropy) if brought is None)
            if not self.closed or None not in self.entropy or why != waited_for:
                raise Misplaced(f"those that the match waits for to get ready are not seats {seats}", Breach.RESULT)
        elif seats:
            raise Misplaced(f"no seat ends a match by {reason}", Breach.RESULT)
        elif reason in {BY_OPERATOR, EXPIRED} and self.is_over:
            raise Misplaced(f"the match is over, and its places are {list(self.places())}", Breach.RESULT)
        elif reason == EXPIRED and self.closed and not self.started:
            raise Misplaced("a match does not expire while its seats get ready", Breach.RESULT)

    def _check_seat(self, seat: int) -> None:
        if seat not in range(len(self.taken)):
            raise Misplaced(f"there is no seat {seat}")

    def _turn_passes_to(self, seat: int) -> None:
        if self.turn_of is not None and not self.turn_timed_out:
            self.timed_out_turns[self.turn_of] = 0
        self.turn_of = seat
        self.turn_timed_out = False

    _takers: ClassVar[dict[type, Callable[[MatchFold, Any], None]]] = {
        SeatTaken: _seat_taken,
        SeatLeft: _seat_left,
        Ready: _ready,
        Started: _started,
        Happened: _happened,
        Chosen: _chosen,
        TimedOut: _timed_out,
        Forfeited: _forfeits,
        Resigned: _resigns,
        Resumed: _resumed,
        Sealed: _seal,
    }
