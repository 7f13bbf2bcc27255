"""Queue of items to show one after the other, at a readable pace and with a limit on the delay."""

from asyncio import TimerHandle, get_running_loop
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import Final, Generic, TypeVar

from textual.message_pump import MessagePump

T = TypeVar("T")

MOST_BEHIND_SECONDS: Final = 4.0
"""Upper bound for the delay of an item, however many items are queued."""


class Backlog(Generic[T]):
    """Queue of items in order, each with the time from which it is shown.

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
        """Queue an item, due `after` seconds after the previous one, but at least now and at most 4 seconds ahead."""
        now = self._now()
        self._last = min(max(now, self._last + after), now + MOST_BEHIND_SECONDS)
        self._items.append((self._last, item))

    @property
    def wait(self) -> float | None:
        """Seconds until the next item is due; None if the queue is empty."""
        return max(0.0, self._items[0][0] - self._now()) if self._items else None

    def due(self) -> list[T]:
        """Remove and return the items that are due."""
        now = self._now()
        taken = []
        while self._items and self._items[0][0] <= now:
            taken.append(self._items.popleft()[1])
        return taken

    def all(self) -> list[T]:
        """Remove and return all items, for a person who asked for the present."""
        taken = [item for _, item in self._items]
        self._items.clear()
        self._last = float("-inf")
        return taken


class Alarm:
    """Calls a function of a screen after a delay. Accepts 0 seconds, after which a timer of Textual never fires."""

    def __init__(self, screen: MessagePump) -> None:
        self._screen = screen
        self._timer: TimerHandle | None = None

    def set(self, seconds: float | None, then: Callable[[], None]) -> None:
        """Call `then` in `seconds` seconds and cancel the previous call; None only cancels."""
        self.stop()
        if seconds is not None:
            self._timer = get_running_loop().call_later(seconds, self._screen.call_next, then)

    def stop(self) -> None:
        """Cancel the call."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
