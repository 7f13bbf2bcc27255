"""Turn clocks: how long a seat is waited for, what that costs it, and when its time is out.

A turn lasts from when a seat is awaited until another is. Every wait within it is charged to the turn, and what the
turn does not cover to the seat's reserve; while chance or nobody is awaited, and while the service was away, no time
runs. All of it follows from the times in the log.
"""

from __future__ import annotations

from dataclasses import dataclass

from rollbook.match.events import Terms

SECOND_MS = 1_000

LONGEST_GAP_MS = 5_000
"""For which the service may be away before it is nobody's time."""


@dataclass(slots=True)
class Clock:
    """The clock of a match; one without `turn_seconds` stands still."""

    turn_ms: int
    reserve_ms: list[int]
    """What each seat has left beyond its turns."""
    seat: int | None = None
    """Whose turn it is."""
    since_ms: int = 0
    """When the wait that runs now began; only meaningful while a seat is waited for."""
    waiting: bool = False
    left_ms: int = 0
    """What is left of the turn, before this wait."""
    not_charged_ms: int = 0
    """How much of this wait is nobody's."""

    @classmethod
    def of(cls, terms: Terms, seats: int) -> Clock:
        """The clock of a match with these terms."""
        reserve = terms.reserve_seconds * SECOND_MS if terms.turn_seconds else 0
        return cls(terms.turn_seconds * SECOND_MS, [reserve] * seats)

    def copy(self) -> Clock:
        """A clock of its own."""
        return Clock(
            self.turn_ms,
            self.reserve_ms.copy(),
            self.seat,
            self.since_ms,
            self.waiting,
            self.left_ms,
            self.not_charged_ms,
        )

    def wait_for(self, seat: int, now_ms: int) -> None:
        """A seat is awaited from now on; a wait for it that runs already goes on."""
        if self.waiting and seat == self.seat:
            return
        if seat != self.seat:
            self.seat = seat
            self.left_ms = self.turn_ms
        self.since_ms = now_ms
        self.waiting = True
        self.not_charged_ms = 0

    def charge(self, now_ms: int) -> int:
        """What the wait costs if it ends now; 0 without a clock."""
        if not self.turn_ms or not self.waiting:
            return 0
        return max(0, now_ms - self.since_ms - self.not_charged_ms)

    def end_wait(self, charged_ms: int) -> None:
        """The wait has ended; the turn pays, then the reserve."""
        seat = self.seat
        self.waiting = False
        if seat is None or not self.turn_ms:
            return
        from_turn = min(charged_ms, self.left_ms)
        self.left_ms -= from_turn
        self.reserve_ms[seat] = max(0, self.reserve_ms[seat] - (charged_ms - from_turn))

    def pardon(self, not_charged_ms: int) -> None:
        """So much of the wait that runs now is nobody's."""
        self.not_charged_ms += not_charged_ms

    def runs_out_ms(self) -> int | None:
        """When the time of the seat that is waited for is out, in Unix milliseconds; never without a clock."""
        if not self.turn_ms or not self.waiting or self.seat is None:
            return None
        return self.since_ms + self.not_charged_ms + self.left_ms + self.reserve_ms[self.seat]
