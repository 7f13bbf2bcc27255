"""Clocks that tick between what the service tells of them."""

from collections.abc import Callable
from time import monotonic

from rollbook.v1.match_pb2 import MatchSummary
from rollbook.v1.table_pb2 import Clocks
from rollbook_replays.games.words import Words

MINUTE, HOUR, DAY = 60, 3_600, 86_400


class TickingClocks:
    """What every seat has left, as far as this client can tell."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._told: Clocks | None = None
        self._at = 0.0
        self._turn_ms = 0

    def agree(self, summary: MatchSummary) -> None:
        """What was agreed for the match."""
        self._turn_ms = summary.turn_seconds * 1_000

    def take(self, clocks: Clocks | None) -> None:
        """What the service says now."""
        self._told = clocks
        self._at = self._now()

    def pass_to(self, seat: int | None) -> None:
        """A turn begins, which the service's next word on clocks will confirm."""
        if self._told is None or seat is None or (self._told.HasField("seat") and seat == self._told.seat):
            return
        reserves = self._told.reserve_left_ms
        self.take(Clocks(seat=seat, turn_left_ms=self._turn_ms, reserve_left_ms=reserves))

    def shown(self) -> tuple[int, str] | None:
        """The seat whose clock runs, and what it has left; nothing while none runs.

        >>> clocks = TickingClocks(now=lambda: 0.0)
        >>> clocks.take(Clocks(seat=1, turn_left_ms=83_000, reserve_left_ms=[60_000, 5_000]))
        >>> clocks.shown()
        (1, '1:23 +0:05')
        """
        if self._told is None or not self._told.HasField("seat"):
            return None
        seat = self._told.seat
        left = self._told.turn_left_ms - round((self._now() - self._at) * 1_000)
        reserve = self._told.reserve_left_ms[seat] if seat < len(self._told.reserve_left_ms) else 0
        if left < 0:
            left, reserve = 0, max(0, reserve + left)
        return seat, minutes(left) + (f" +{minutes(reserve)}" if reserve else "")


def minutes(milliseconds: int) -> str:
    """Days and hours, if there are any, minutes and seconds, begun ones counted.

    >>> minutes(59_001), minutes(3_600_000), minutes(90_000_000)
    ('1:00', '1:00:00', '1d 1:00:00')
    """
    seconds = -(-milliseconds // 1_000)
    days, seconds = divmod(seconds, DAY)
    hours, rest = divmod(seconds, HOUR)
    if days:
        return f"{days}d {hours}:{rest // 60:02}:{rest % 60:02}"
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"


def delay_name(seconds: int, words: Words) -> str:
    """What is said of how much later spectators see a match."""
    if seconds and seconds % MINUTE == 0:
        return words("delay.minutes", number=seconds // MINUTE)
    return words("delay.seconds", number=seconds) if seconds else words("delay.none")


def clock_name(turn_seconds: int, words: Words) -> str:
    """What is said of a match's clock where somebody chooses a match."""
    if not turn_seconds:
        return words("clock.none")
    for unit, seconds in (("day", DAY), ("hour", HOUR), ("minute", MINUTE)):
        if turn_seconds % seconds == 0:
            number = turn_seconds // seconds
            return words(f"clock.{unit}") if number == 1 else words(f"clock.{unit}s", number=number)
    return words("clock.seconds", number=turn_seconds)
