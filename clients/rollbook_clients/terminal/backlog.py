"""What has happened and is not shown yet: one after the other, so that it can be followed, but never far behind."""

from asyncio import TimerHandle, get_running_loop
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import Final, Generic, TypeVar

from textual.message_pump import MessagePump

T = TypeVar("T")

MOST_BEHIND_SECONDS: Final = 4.0
"""Whatever has happened is shown by then, however much there is of it."""


class Backlog(Generic[T]):
    """Items in order, each with the moment from which on it is shown.

    >>> time = 0.0
    >>> backlog = Backlog[str](now=lambda: time)
    >>> for move in "abc":
    ...     backlog.add(move, after=3.0)
    >>> backlog.due(), backlog.wait
    (['a'], 3.0)
    >>> time = 4.0
    >>> backlog.due()
    ['b', 'c']
    """

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._items: deque[tuple[float, T]] = deque()
        self._last = float("-inf")
        """When the newest item is or was due."""

    def __len__(self) -> int:
        return len(self._items)

    def add(self, item: T, *, after: float) -> None:
        """Show it so many seconds after the one before, but not before it is there, nor too long after that."""
        now = self._now()
        self._last = min(max(now, self._last + after), now + MOST_BEHIND_SECONDS)
        self._items.append((self._last, item))

    @property
    def wait(self) -> float | None:
        """Seconds until the next one is due; None if there is none."""
        return max(0.0, self._items[0][0] - self._now()) if self._items else None

    def due(self) -> list[T]:
        """Take those whose moment has come."""
        now = self._now()
        taken = []
        while self._items and self._items[0][0] <= now:
            taken.append(self._items.popleft()[1])
        return taken

    def all(self) -> list[T]:
        """Take everything: whoever asks wants to see the present."""
        taken = [item for _, item in self._items]
        self._items.clear()
        self._last = float("-inf")
        return taken


class Alarm:
    """Calls a function of a screen after a delay, which may be 0: a timer of Textual never fires after 0 seconds."""

    def __init__(self, screen: MessagePump) -> None:
        self._screen = screen
        self._timer: TimerHandle | None = None

    def set(self, seconds: float | None, then: Callable[[], None]) -> None:
        """Call `then` in so many seconds, instead of what was set before; never if that is None."""
        self.stop()
        if seconds is not None:
            self._timer = get_running_loop().call_later(seconds, self._screen.call_next, then)

    def stop(self) -> None:
        """Call nothing any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
