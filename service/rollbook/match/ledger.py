"""A match's log as it has been folded so far: the match, its chain, its clock, and whose command made which events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rollbook.match.clock import Clock
from rollbook.match.envelope import Logged, read_bytes, read_secret
from rollbook.match.events import Chosen, Event, Opened, Ready, Resumed, Sealed, SeatLeft, SeatTaken, Started, TimedOut
from rollbook.match.fairness import Dice, commitment, entropy_commitment, genesis, match_key
from rollbook.match.fold import Match, Misplaced
from rollbook.match.log import Entry
from rollbook.rules.catalogue import find
from rollbook.rules.game import Game, ToChoose


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a log: behind the event of this number, whose link this is."""

    sequence: int
    link: bytes


@dataclass(frozen=True, slots=True)
class Made:
    """The events that one command made."""

    first: int
    last: int


class Ledger:
    """The fold of a log with everything around its events; `take` refuses what does not follow from what is there."""

    def __init__(self, first: Logged) -> None:
        """Begin with event 1, which holds the secret beside it."""
        opened = first.event
        if not isinstance(opened, Opened):
            raise Misplaced("a log begins with the event that opens the match")
        if (first.sequence, first.previous) != (1, genesis(opened.match_id)):
            raise Misplaced("event 1 does not follow from the name of the match")
        self.game: Game[Any, Any, Any] = find(opened.game, opened.ruleset)
        self.opened = opened
        self.secret = read_secret(first.private)
        if commitment(self.secret) != opened.commitment:
            raise Misplaced("the secret does not fit its commitment")
        self.match = Match(self.game, opened)
        self.clock = Clock.of(opened.terms, len(opened.names))
        self.head = Position(1, first.link)
        self.newest = first.data
        """The bytes of the event at the head."""
        self.time_ms = first.time_ms
        self.players: list[bytes] = [b""] * len(opened.names)
        """Per seat: the reference to whoever sits there; empty for nobody."""
        self.entropy_commitments: list[bytes] = [b""] * len(opened.names)
        self.closing: Position | None = None
        """The event that closed the seats."""
        self.closed_ms = 0
        """When that was."""
        self.requests: dict[bytes, Made] = {}
        self._key = b""
        """What all dice follow from, once the match has started."""
        self._last_request = b""
        self._remember(first)

    @classmethod
    def fold(cls, match_id: str, entries: list[Entry]) -> Ledger:
        """The ledger of a whole log."""
        ledger = cls(read_bytes(entries[0].event, entries[0].private, match_id=match_id))
        for entry in entries[1:]:
            ledger.take(read_bytes(entry.event, entry.private, ledger.game))
        return ledger

    def copy(self) -> Ledger:
        """A ledger of its own, equal to this one."""
        other = object.__new__(Ledger)
        other.__dict__.update(self.__dict__)
        other.match = self.match.copy()
        other.clock = self.clock.copy()
        other.players = self.players.copy()
        other.entropy_commitments = self.entropy_commitments.copy()
        other.requests = self.requests.copy()
        return other

    @property
    def dice(self) -> Dice:
        """The draws of this match; they are fixed from the start on."""
        return Dice(self._key or self._match_key())

    def _match_key(self) -> bytes:
        entropy = [brought or b"" for brought in self.match.entropy]
        return match_key(self.secret, self.opened.match_id, entropy)

    @property
    def awaited_seat(self) -> int | None:
        """The seat whose choice is awaited."""
        match = self.match
        if not match.started or match.sealed is not None:
            return None
        awaited = match.awaited
        return awaited.seat if isinstance(awaited, ToChoose) and not match.must_be_sealed else None

    def seat_of(self, player: bytes) -> int | None:
        """Where this player sits."""
        return self.players.index(player) if player and player in self.players else None

    def take(self, logged: Logged) -> None:
        """Take the next event, or raise Misplaced or the game's refusal and change nothing."""
        if (logged.sequence, logged.previous) != (self.head.sequence + 1, self.head.link):
            raise Misplaced(f"event {logged.sequence} does not follow event {self.head.sequence} in the chain")
        if logged.time_ms < self.time_ms:
            raise Misplaced(f"event {logged.sequence} is older than the one before")
        self._check_around(logged.event, logged.time_ms)
        self.match.take(logged.event)
        self.head = Position(logged.sequence, logged.link)
        self.newest = logged.data
        self.time_ms = logged.time_ms
        self._note(logged.event)
        self._remember(logged)

    def _check_around(self, event: Event, now_ms: int) -> None:
        if isinstance(event, Ready):
            self._check_ready(event)
        elif isinstance(event, TimedOut):
            runs_out_ms = self.clock.runs_out_ms()
            if runs_out_ms is None or event.not_before_ms != runs_out_ms or now_ms < runs_out_ms:
                raise Misplaced(f"the time of seat {event.seat} is not out")
        if isinstance(event, TimedOut | Chosen):
            charge = 0 if isinstance(event, Chosen) and event.by_caretaker else self.clock.charge(now_ms)
            if event.charged_ms != charge:
                raise Misplaced(f"the wait costs {charge} ms, not {event.charged_ms}")

    def _check_ready(self, event: Ready) -> None:
        if self.closing is None or event.seat not in range(len(self.players)):
            return  # the fold of the match says why
        if event.closing_link != self.closing.link:
            raise Misplaced(f"seat {event.seat} is ready for other seats than these")
        committed = self.entropy_commitments[event.seat]
        if bool(event.entropy) != bool(committed):
            raise Misplaced(f"seat {event.seat} {'reveals no' if committed else 'never committed to its'} entropy")
        if committed and entropy_commitment(event.entropy) != committed:
            raise Misplaced(f"the entropy of seat {event.seat} does not fit its commitment")

    def _note(self, event: Event) -> None:
        if isinstance(event, SeatTaken):
            self.players[event.seat] = event.player
            self.entropy_commitments[event.seat] = event.entropy_commitment
            if self.match.closed:
                self.closing = self.head
                self.closed_ms = self.time_ms
        elif isinstance(event, SeatLeft):
            self.players[event.seat] = b""
            self.entropy_commitments[event.seat] = b""
        elif isinstance(event, Started):
            self._key = self._match_key()
        elif isinstance(event, TimedOut | Chosen):
            self.clock.end_wait(event.charged_ms)
        elif isinstance(event, Resumed):
            self.clock.pardon(event.not_charged_ms)
        seat = self.awaited_seat
        if seat is None or self.match.played_by_caretaker(seat):
            self.clock.waiting = False
        else:
            self.clock.wait_for(seat, self.time_ms)

    def _remember(self, logged: Logged) -> None:
        event = logged.event
        if isinstance(event, TimedOut | Resumed) or (isinstance(event, Sealed) and event.aborted is not None):
            # What the service does of its own accord belongs to nobody's command.
            self._last_request = b""
        elif logged.request:
            self.requests[logged.request] = Made(logged.sequence, logged.sequence)
            self._last_request = logged.request
        elif self._last_request:
            made = self.requests[self._last_request]
            self.requests[self._last_request] = Made(made.first, logged.sequence)
