"""Turn clocks: how long a seat is waited for, what that costs it, and when its time is out.

A turn lasts from the moment a seat is awaited until another seat is. Every wait within it is charged to the turn, and
then to the seat's reserve. No time runs while chance or no seat is awaited, or while the service was away. All times
come from the log.
"""

from __future__ import annotations

from dataclasses import dataclass

from rollbook.match.events import Terms

SECOND_MS = 1_000

LONGEST_GAP_MS = 5_000
"""A shorter absence of the service is not pardoned."""


@dataclass(slots=True)
class Clock:
    """The clock of a match; without `turn_seconds` it does not run."""

    turn_ms: int
    reserve_ms: list[int]
    """The remaining reserve of each seat."""
    seat: int | None = None
    """The seat whose turn it is."""
    since_ms: int = 0
    """When the current wait began; only meaningful while a seat is waited for."""
    waiting: bool = False
    left_ms: int = 0
    """The time left of the turn at the beginning of the current wait."""
    not_charged_ms: int = 0
    """How much of the current wait is not charged."""

    @classmethod
    def of(cls, terms: Terms, seats: int) -> Clock:
        """The clock of a match with these terms."""
        reserve = terms.reserve_seconds * SECOND_MS if terms.turn_seconds else 0
        return cls(terms.turn_seconds * SECOND_MS, [reserve] * seats)

    def copy(self) -> Clock:
        """An independent copy."""
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
        """Begin to wait for a seat; a wait for it that already runs continues."""
        if self.waiting and seat == self.seat:
            return
        if seat != self.seat:
            self.seat = seat
            self.left_ms = self.turn_ms
        self.since_ms = now_ms
        self.waiting = True
        self.not_charged_ms = 0

    def charge(self, now_ms: int) -> int:
        """The charge for the wait if it ends now; 0 without a clock."""
        if not self.turn_ms or not self.waiting:
            return 0
        return max(0, now_ms - self.since_ms - self.not_charged_ms)

    def end_wait(self, charged_ms: int) -> None:
        """End the wait and charge it to the turn, then to the reserve."""
        seat = self.seat
        self.waiting = False
        if seat is None or not self.turn_ms:
            return
        from_turn = min(charged_ms, self.left_ms)
        self.left_ms -= from_turn
        self.reserve_ms[seat] = max(0, self.reserve_ms[seat] - (charged_ms - from_turn))

    def pardon(self, not_charged_ms: int) -> None:
        """Exempt this much of the current wait from the charge."""
        self.not_charged_ms += not_charged_ms

    def runs_out_ms(self) -> int | None:
        """When the awaited seat's time is out, in Unix milliseconds; None without a clock or a wait."""
        if not self.turn_ms or not self.waiting or self.seat is None:
            return None
        return self.since_ms + self.not_charged_ms + self.left_ms + self.reserve_ms[self.seat]
