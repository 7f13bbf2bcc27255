"""The fold of a match's whole log.

A `Record` is what any reader can fold: the match, its chain and its clock. A `Ledger` is for the service, which has the
secret: it also maps requests to their events, and decides who may see hidden parts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Final

from rollbook.match.chain import Entry, Position, entropy_commitment, genesis
from rollbook.match.clock import SECOND_MS, Clock
from rollbook.match.codec.envelope import Logged, read_bytes, read_secret
from rollbook.match.dice import Dice, commitment, match_key
from rollbook.match.events import (
    EXPIRED,
    LOG_LOST,
    NOT_READY,
    Chosen,
    Event,
    Happened,
    Opened,
    Ready,
    Resumed,
    Sealed,
    SeatLeft,
    SeatTaken,
    Started,
    TimedOut,
)
from rollbook.match.fold import Breach, MatchFold, Misplaced
from rollbook.rules.catalogue import find
from rollbook.rules.game import Game, Perspective, ToChoose, Watcher

_dice = lru_cache(2_000)(Dice)
"""Cache of the dice of running matches, which every command needs."""

_NOBODY: Final[frozenset[Perspective]] = frozenset()


@dataclass(frozen=True, slots=True)
class EventRange:
    """The events that one command made."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Visible:
    """An event, and the perspectives that may see its private part before the match is sealed."""

    logged: Logged
    insiders: frozenset[Perspective] = _NOBODY
    """Empty if nothing is hidden, and for the secret of event 1."""


class Requests:
    """The events that each request made. Copies share the settled part, so that a copy of a long match stays cheap."""

    __slots__ = ("_fresh", "_settled")

    def __init__(self) -> None:
        """Begin empty."""
        self._settled: dict[bytes, EventRange] = {}
        self._fresh: dict[bytes, EventRange] = {}

    def get(self, request: bytes) -> EventRange | None:
        """The events that this request made; None if it made none."""
        return self._fresh.get(request) or self._settled.get(request)

    def put(self, request: bytes, made: EventRange) -> None:
        """Record the events of a request in this copy only."""
        self._fresh[request] = made

    def copy(self) -> Requests:
        """A copy that shares the settled part."""
        other = Requests()
        other._settled = self._settled
        other._fresh = self._fresh.copy()
        return other

    def settle(self) -> None:
        """Share the recorded events with all copies: they are durable, so every copy's log will contain them."""
        self._settled.update(self._fresh)
        self._fresh = {}

    def __eq__(self, other: object) -> bool:
        """Whether both have the same events."""
        if not isinstance(other, Requests):
            return NotImplemented
        return {**self._settled, **self._fresh} == {**other._settled, **other._fresh}

    __hash__ = None  # type: ignore[assignment]  # it changes


class Record:
    """The fold of a log with chain, clock and seats; `take` refuses an event that does not fit those before it."""

    def __init__(self, first: Logged) -> None:
        """Begin with event 1."""
        opened = first.event
        if not isinstance(opened, Opened):
            raise Misplaced("a log begins with the event that opens the match")
        if (first.sequence, first.previous) != (1, genesis(opened.match_id)):
            raise Misplaced("event 1 does not follow from the name of the match", Breach.CHAIN)
        self.game: Game[Any, Any, Any] = find(opened.game, opened.ruleset)
        self.opened = opened
        self.match = MatchFold(self.game, opened)
        self.clock = Clock.of(opened.terms, len(opened.names))
        self.head = Position(1, first.link)
        """The end of the log; `take` updates it, `take_linked` does not."""
        self._link = first.link
        self.time_ms = first.time_ms
        self.players: list[bytes] = [b""] * len(opened.names)
        """The reference to the player on each seat; empty for a free seat."""
        self.house = [False] * len(opened.names)
        """Whether the service declares the player on each seat to be its own bot."""
        self.entropy_commitments: list[bytes] = [b""] * len(opened.names)
        self.closing: Position | None = None
        """The event that closed the seats."""
        self.closed_ms = 0
        """The time of that event."""
        self.resumed_ms = 0
        """The service's absence is pardoned up to this time."""

    @property
    def awaited_seat(self) -> int | None:
        """The seat whose choice is awaited; None if there is none."""
        match = self.match
        if not match.started or match.sealed is not None:
            return None
        awaited = match.awaited
        return awaited.seat if isinstance(awaited, ToChoose) and not match.must_be_sealed else None

    @property
    def has_person(self) -> bool:
        """Whether a player has a seat who is not the service's own bot."""
        return any(player and not house for player, house in zip(self.players, self.house, strict=True))

    @property
    def ready_until_ms(self) -> int | None:
        """When the match is aborted if seats are not ready; None once it has started, or without a limit."""
        match, seconds = self.match, self.opened.terms.ready_seconds
        if match.sealed is not None or match.started or not match.closed or not seconds:
            return None
        return self.closed_ms + seconds * SECOND_MS

    @property
    def expires_ms(self) -> int | None:
        """When the match expires if nothing happens before; None if clocks or readiness end it, or nothing does."""
        match, terms = self.match, self.opened.terms
        if match.sealed is not None or (match.closed and not match.started):
            return None
        idle_seconds = 0 if terms.turn_seconds else terms.idle_seconds
        seconds = idle_seconds if match.closed else terms.open_seconds
        return self.time_ms + seconds * SECOND_MS if seconds else None

    def take(self, logged: Logged) -> None:
        """Take the next event, or raise Misplaced or the game's refusal and change nothing."""
        head = self.head
        if (logged.sequence, logged.previous) != (head.sequence + 1, head.link):
            raise Misplaced(f"event {logged.sequence} does not follow event {head.sequence} in the chain", Breach.CHAIN)
        link = logged.link
        self.take_linked(logged.event, logged.time_ms, link)
        self.head = Position(logged.sequence, link)

    def take_linked(self, event: Event, time_ms: int, link: bytes) -> None:
        """Take the next event of a chain that was verified; `link` is its own link, and `head` is not updated."""
        if time_ms < self.time_ms:
            raise Misplaced(f"event {self.match.sequence + 1} is older than the one before", Breach.CLOCKS)
        checker = self._checkers.get(type(event))
        if checker is not None:
            try:
                checker(self, event, time_ms)
            except Misplaced as misplaced:
                if misplaced.breach is Breach.CLOCKS:
                    self.match.copy().take(event)  # A refusal by the match goes before one by the clock.
                raise
        self.match.take(event)
        self._link = link
        self.time_ms = time_ms
        if not self.match.started:
            self._note_seat(event)
        elif self.clock.turn_ms:
            self._note_time(event)

    def note_moves(self, time_ms: int, link: bytes) -> None:
        """Record time and link after moves that the match has taken and that affect only the match.

        That is the case without a clock, for moves that charge no seat.
        """
        self.time_ms = time_ms
        self._link = link

    def check_around(self, event: Event, time_ms: int) -> None:
        """Raise Misplaced if the event breaks rules outside the match's fold, such as clocks and commitments."""
        checker = self._checkers.get(type(event))
        if checker is not None:
            checker(self, event, time_ms)

    def _check_seat_taken(self, event: SeatTaken, _now_ms: int) -> None:
        if event.player and event.player in self.players:
            raise Misplaced("a player holds one seat, and this one has one already")
        if event.entropy_commitment and len(event.entropy_commitment) != len(self.opened.commitment):
            raise Misplaced("a commitment has 32 bytes, or none", Breach.ENTROPY)

    def _check_wait(self, event: TimedOut | Chosen[Any], now_ms: int) -> None:
        if not self.clock.turn_ms and type(event) is Chosen and not event.charged_ms:
            return
        if not self._costs_as_it_says(event, now_ms):
            charge = self.clock.charge(now_ms)
            why = f"the wait costs {charge} ms and is out at {self.clock.runs_out_ms()}"
            raise Misplaced(f"{why}, so not as this event says", Breach.CLOCKS)

    def _costs_as_it_says(self, event: TimedOut | Chosen[Any], now_ms: int) -> bool:
        if isinstance(event, Chosen):
            return event.charged_ms == (
                0 if event.by_caretaker or not self.clock.turn_ms else self.clock.charge(now_ms)
            )
        return (
            event.not_before_ms == self.clock.runs_out_ms()
            and now_ms >= event.not_before_ms
            and event.charged_ms == self.clock.charge(now_ms)
        )

    def _check_resumed(self, event: Resumed, now_ms: int) -> None:
        left_ms = self.clock.charge(now_ms)
        if not self.clock.turn_ms or event.not_charged_ms > left_ms:
            raise Misplaced(f"of this wait {left_ms} ms are left to pardon", Breach.CLOCKS)

    def _check_sealed(self, event: Sealed, now_ms: int) -> None:
        if (event.aborted == LOG_LOST) != (event.lost is not None):
            raise Misplaced("a lost log is sealed with a head that it has lost, and nothing else is", Breach.SEAL)
        if event.lost is not None and (event.lost.sequence, event.lost.link) == (self.match.sequence, self._link):
            why = f"the head at event {event.lost.sequence} is not lost: this is the log that it vouches for"
            raise Misplaced(why, Breach.RESULT)
        if event.aborted == EXPIRED and not _has_come(self.expires_ms, now_ms):
            raise Misplaced("the match has not been left alone for as long as its terms allow", Breach.CLOCKS)
        if self.closing is None or event.aborted is None or not event.aborted.startswith(NOT_READY):
            return
        if not _has_come(self.ready_until_ms, now_ms):
            raise Misplaced("there is time left to get ready", Breach.CLOCKS)

    def _check_ready(self, event: Ready, _now_ms: int) -> None:
        if self.closing is None or event.seat not in range(len(self.players)):
            return  # the fold of the match raises the reason
        if event.closing_link != self.closing.link:
            raise Misplaced(f"seat {event.seat} is ready for other seats than these", Breach.ENTROPY)
        committed = self.entropy_commitments[event.seat]
        if bool(event.entropy) != bool(committed):
            what = "reveals no" if committed else "never committed to its"
            raise Misplaced(f"seat {event.seat} {what} entropy", Breach.ENTROPY)
        if committed and entropy_commitment(event.entropy) != committed:
            raise Misplaced(f"the entropy of seat {event.seat} does not fit its commitment", Breach.ENTROPY)

    def _note_time(self, event: Event) -> None:
        if isinstance(event, Chosen | TimedOut):
            self.clock.end_wait(event.charged_ms)
        elif isinstance(event, Resumed):
            self.clock.pardon(event.not_charged_ms)
            self.resumed_ms = self.time_ms
        seat = self.awaited_seat
        if seat is None or self.match.played_by_caretaker(seat):
            self.clock.waiting = False
        else:
            self.clock.wait_for(seat, self.time_ms)

    def _note_seat(self, event: Event) -> None:
        if isinstance(event, SeatTaken):
            self.players[event.seat] = event.player
            self.house[event.seat] = event.house
            self.entropy_commitments[event.seat] = event.entropy_commitment
            if self.match.closed:
                self.closing = Position(self.match.sequence, self._link)
                self.closed_ms = self.time_ms
        elif isinstance(event, SeatLeft):
            self.players[event.seat] = b""
            self.house[event.seat] = False
            self.entropy_commitments[event.seat] = b""

    _checkers: ClassVar[dict[type, Callable[[Record, Any, int], None]]] = {
        SeatTaken: _check_seat_taken,
        Ready: _check_ready,
        Chosen: _check_wait,
        TimedOut: _check_wait,
        Resumed: _check_resumed,
        Sealed: _check_sealed,
    }
    """The checks outside the match's fold, which itself decides whether an event may follow here."""


def _has_come(at_ms: int | None, now_ms: int) -> bool:
    return at_ms is not None and now_ms >= at_ms


class Ledger(Record):
    """The service's record of a match, with the secret from the start."""

    def __init__(self, first: Logged) -> None:
        """Begin with event 1, whose private part is the secret."""
        super().__init__(first)
        self.secret = read_secret(first.private)
        if commitment(self.secret) != self.opened.commitment:
            raise Misplaced("the secret does not fit its commitment", Breach.COMMITMENT)
        self._requests = Requests()
        self.newest = first.data
        """The bytes of the last event."""
        self._key = b""
        """The key of all dice, once the match has started."""
        self.started_ms = 0
        self.person_chose = False
        """Whether a player who is not the service's own bot has made a choice."""
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
        """An independent copy."""
        other = object.__new__(Ledger)
        other.__dict__.update(self.__dict__)
        other.match = self.match.copy()
        other.clock = self.clock.copy()
        other.players = self.players.copy()
        other.house = self.house.copy()
        other.entropy_commitments = self.entropy_commitments.copy()
        other._requests = self._requests.copy()
        return other

    def made_by(self, request: bytes) -> EventRange | None:
        """The events that this request made; None if this log contains none of them."""
        made = self._requests.get(request) if request else None
        return made if made is not None and made.first <= self.match.sequence else None

    def settle(self) -> None:
        """Mark every event of this ledger as durable, before the ledger is shared."""
        self._requests.settle()

    @property
    def dice(self) -> Dice:
        """The draws of this match, which must have started."""
        return _dice(self._key)

    def seat_of(self, player: bytes) -> int | None:
        """The player's seat; None if the player has none."""
        return self.players.index(player) if player and player in self.players else None

    def visible(self, logged: Logged) -> Visible:
        """The next event, not yet taken, with the perspectives that may see its private part."""
        event, match = logged.event, self.match
        if not logged.private or not isinstance(event, Happened):
            return Visible(logged)
        everybody: tuple[Perspective, ...] = (*Watcher, *range(len(match.taken)))
        return Visible(logged, frozenset(each for each in everybody if match.as_seen(event, each) == event))

    def take(self, logged: Logged) -> None:
        """Take the next event, or raise Misplaced or the game's refusal and change nothing."""
        super().take(logged)
        self.newest = logged.data
        if isinstance(logged.event, Started):
            entropy = [brought or b"" for brought in self.match.entropy]
            self._key = match_key(self.secret, self.opened.match_id, entropy)
            self.started_ms = logged.time_ms
        self._remember(logged)

    def _remember(self, logged: Logged) -> None:
        event = logged.event
        if logged.request:
            self._requests.put(logged.request, EventRange(logged.sequence, logged.sequence))
            self._last_request = logged.request
            if isinstance(event, Chosen) and not self.house[event.seat]:
                self.person_chose = True
        elif isinstance(event, TimedOut | Resumed) or (isinstance(event, Sealed) and event.aborted is not None):
            # Events of the service itself belong to no player's command.
            self._last_request = b""
        elif self._last_request:
            first = self._requests.get(self._last_request)
            if first is not None:
                self._requests.put(self._last_request, EventRange(first.first, logged.sequence))
