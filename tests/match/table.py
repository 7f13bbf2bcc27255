"""Plays a match event by event for tests: dice are fair, the test or the caretaker chooses."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from rollbook.match.codec.notation import Header, write
from rollbook.match.dice import Dice, commitment, match_key
from rollbook.match.events import Chosen, Event, Happened, Opened, Ready, Sealed, SeatTaken, Started
from rollbook.match.fold import MatchFold
from rollbook.rules.catalogue import find
from rollbook.rules.game import Perspective, ToChoose
from rollbook.rules.options import OptionValue

SECRET = hashlib.sha256(b"a secret for tests").digest()


class Table:
    """A match in progress with its events."""

    def __init__(
        self,
        game: str = "cant_stop",
        *,
        seats: int | None = None,
        options: Mapping[str, OptionValue] | None = None,
        entropy: tuple[bytes, ...] | None = None,
        match_id: str = "a-match",
    ) -> None:
        """Open the match; all seats are free."""
        rules = find(game)
        count = rules.seats[0] if seats is None else seats
        self.entropy = entropy or (b"",) * count
        names = tuple(f"Seat {seat}" for seat in range(count))
        settled = rules.settle(options or {}, count)
        self.opened = Opened(match_id, game, rules.version, settled, names, commitment(SECRET))
        self.header = Header(self.opened, self.entropy)
        self.match = MatchFold(rules, self.opened)
        self.dice = Dice(match_key(SECRET, match_id, self.entropy))
        self.events: list[tuple[int, Event]] = []
        self.seen: dict[Perspective, list[tuple[int, Event]]] = {}

    def take(self, *events: Event) -> Table:
        """Fold the events into the match."""
        for event in events:
            for perspective, seen in self.seen.items():
                seen.append((self.match.sequence + 1, self.match.as_seen(event, perspective)))
            self.match.take(event)
            self.events.append((self.match.sequence, event))
        return self

    def start(self) -> Table:
        """Fill all seats, get ready, start, and throw until a seat has to choose."""
        seats = range(len(self.entropy))
        self.take(*[SeatTaken(seat) for seat in seats], *[Ready(seat, self.entropy[seat]) for seat in seats], Started())
        return self.chance()

    def chance(self) -> Table:
        """Throw and draw until a seat has to choose or the match is over."""
        match = self.match
        while not match.must_be_sealed and not isinstance(match.awaited, ToChoose):
            values = self.dice.values(match.chance_events + 1, match.awaited)  # type: ignore[arg-type]
            self.take(Happened(match.game.outcome(match.state, values)))
        return self

    @property
    def awaited_seat(self) -> int:
        """The seat that has to choose."""
        awaited = self.match.awaited
        assert isinstance(awaited, ToChoose)
        return awaited.seat

    def choose(self, choice: Any = None, *, by_caretaker: bool | None = None) -> Table:
        """Choose for the awaited seat, the caretaker's choice by default, and take the forced throws."""
        seat = self.awaited_seat
        caretaker = self.match.played_by_caretaker(seat) if by_caretaker is None else by_caretaker
        choice = self.match.game.caretaker(self.match.state) if choice is None else choice
        return self.take(Chosen(seat, choice, by_caretaker=caretaker)).chance()

    def until_turn_of(self, seat: int) -> Table:
        """Play on until this seat has to choose in a new turn."""
        while self.awaited_seat == seat:
            self.choose()
        while self.awaited_seat != seat:
            self.choose()
        return self

    def play_out(self) -> Table:
        """Play on to the end and seal."""
        while not self.match.must_be_sealed:
            self.choose()
        return self.seal()

    def seal(self) -> Table:
        """Seal with the result."""
        return self.take(Sealed(self.match.places(), None, SECRET))

    def lines(self) -> list[str]:
        """The plain form, without line ends."""
        return [line.removesuffix("\n") for line in write(self.header, self.events)]

    def lines_seen(self, perspective: Perspective) -> list[str]:
        """Return the plain form from a perspective that watched from the start."""
        return [line.removesuffix("\n") for line in write(self.header, self.seen[perspective])]
