"""Clocks of a match that run on between the updates of the service."""

from collections.abc import Callable, Sequence
from time import monotonic, time

from rollbook.v1.table_pb2 import Clocks
from rollbook_replays.games.words import Words

MINUTE, HOUR, DAY = 60, 3_600, 86_400


class TickingClocks:
    """The clocks of a match, extrapolated from the last update of the service.

    An update holds the clocks as of a time of the store. This client estimates how far the store's clock is ahead of
    its own, so that events which it reads late do not set a clock back.
    """

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._told: Clocks | None = None
        self._ahead_ms: int | None = None
        """How far the store's clock is ahead of this client's; None before the first update."""

    def compare(self, clocks: Clocks | None) -> None:
        """Measure the offset to the store's clock, by clocks as of now: those of a heartbeat or of a reply."""
        if clocks is not None:
            self._ahead_ms = clocks.at_ms - self._now_ms()

    def take(self, clocks: Clocks | None, *, is_now: bool = False) -> None:
        """Use these clocks from now on, which are as of now or as of an earlier event.

        None means that no clock is shown: either no clock runs, or the connection is lost and this client may miss
        turns.
        """
        self._told = clocks
        if is_now:
            self.compare(clocks)
        elif clocks is not None:
            # An event arrives after its time, so the offset is at least this difference.
            ahead_ms = clocks.at_ms - self._now_ms()
            self._ahead_ms = ahead_ms if self._ahead_ms is None else max(self._ahead_ms, ahead_ms)

    def time_left(self) -> tuple[int, int, int] | None:
        """The seat whose clock runs, and the milliseconds left of its turn and reserve; None while no clock runs."""
        if self._told is None or self._ahead_ms is None or not self._told.HasField("seat"):
            return None
        seat = self._told.seat
        left = self._told.turn_left_ms - max(0, self._now_ms() + self._ahead_ms - self._told.at_ms)
        reserve = self._told.reserve_left_ms[seat] if seat < len(self._told.reserve_left_ms) else 0
        return seat, max(0, left), max(0, reserve + min(0, left))

    def clock_text(self) -> tuple[int, str] | None:
        """The seat whose clock runs, and its remaining time as text; None while no clock runs.

        >>> clocks = TickingClocks(now=lambda: 0.0)
        >>> clocks.take(Clocks(seat=1, turn_left_ms=83_000, reserve_left_ms=[60_000, 5_000]))
        >>> clocks.clock_text()
        (1, '1:23 +0:05')
        """
        if (left := self.time_left()) is None:
            return None
        seat, turn_ms, reserve_ms = left
        return seat, minutes(turn_ms) + (f" +{minutes(reserve_ms)}" if reserve_ms else "")

    def _now_ms(self) -> int:
        return round(self._now() * 1_000)


class AwayPlayers:
    """Since when players are away, as far as this client has seen."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._since: dict[int, float] = {}

    def take(self, here: Sequence[bool]) -> None:
        """Update from a heartbeat: by seat, whether the player is at the table; empty if unknown."""
        away = [seat for seat, is_here in enumerate(here) if not is_here]
        self._since = {seat: self._since.get(seat, self._now()) for seat in away}

    def minutes(self) -> dict[int, int]:
        """The full minutes for which players are away, by seat."""
        return {seat: int(self._now() - since) // MINUTE for seat, since in self._since.items()}


def away_text(minutes: int, words: Words) -> str:
    """Text for a player who is away."""
    return words("away.minutes", number=minutes) if minutes else words("away")


def minutes(milliseconds: int) -> str:
    """Format a duration as minutes and seconds, with hours and days if needed; rounds up to full seconds.

    >>> minutes(59_001), minutes(3_600_000), minutes(90_000_000)
    ('1:00', '1:00:00', '1d 1:00:00')
    """
    seconds = -(-milliseconds // 1_000)
    days, seconds = divmod(seconds, DAY)
    hours, rest = divmod(seconds, HOUR)
    if days:
        return f"{days}d {hours}:{rest // 60:02}:{rest % 60:02}"
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"


def until_ms(at_ms: int) -> int:
    """Milliseconds until this Unix time by the clock of this machine; 0 once it has passed."""
    return max(0, at_ms - round(time() * 1_000))


def delay_name(seconds: int, words: Words) -> str:
    """Text for the delay with which spectators see a match."""
    if seconds and seconds % MINUTE == 0:
        return words("delay.minutes", number=seconds // MINUTE)
    return words("delay.seconds", number=seconds) if seconds else words("delay.none")


def clock_name(turn_seconds: int, words: Words) -> str:
    """Text for the time per turn of a match, for lists of matches."""
    if not turn_seconds:
        return words("clock.none")
    for unit, seconds in (("day", DAY), ("hour", HOUR), ("minute", MINUTE)):
        if turn_seconds % seconds == 0:
            number = turn_seconds // seconds
            return words(f"clock.{unit}") if number == 1 else words(f"clock.{unit}s", number=number)
    return words("clock.seconds", number=turn_seconds)
