"""Waking whoever waits for something to happen: players first, everybody else a slice at a time.

Every watcher that wakes does a little work, and all that wake at once do it before the loop does anything else. So only
as many wake at once as a player's choice can wait for, whichever matches they watch; the loop looks at everything else
before the next slice.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

SLICE: Final = 50
"""Spectators that wake at once."""


class Waker:
    """Wakes the spectators of all matches of a process, in the order in which they became due."""

    def __init__(self) -> None:
        """Nobody is due."""
        self._due: deque[tuple[asyncio.Future[bool], bool]] = deque()
        self._next: asyncio.Handle | None = None

    def wake(self, waiting: list[asyncio.Future[bool]], *, news: bool) -> None:
        """Wake them all behind those who are due already."""
        self._due.extend((future, news) for future in waiting)
        self._go_on()

    def _go_on(self) -> None:
        if self._due and self._next is None:
            self._next = asyncio.get_running_loop().call_soon(self._slice)

    def _slice(self) -> None:
        self._next = None
        for _ in range(min(SLICE, len(self._due))):
            _tell(*self._due.popleft())
        self._go_on()


class Bell:
    """What the watchers of one match wait for; it also rings when nothing has happened for a while."""

    def __init__(self, waker: Waker, beat_seconds: float) -> None:
        """Wake spectators by this waker, and everybody after so much silence."""
        self._waker = waker
        self._beat_seconds = beat_seconds
        self._players: list[asyncio.Future[bool]] = []
        self._spectators: list[asyncio.Future[bool]] = []
        self._beat: asyncio.TimerHandle | None = None

    async def wait(self, *, plays: bool) -> bool:
        """Whether something happened, or else nothing for a while; who plays hears of it before all others."""
        loop = asyncio.get_running_loop()
        heard: asyncio.Future[bool] = loop.create_future()
        (self._players if plays else self._spectators).append(heard)
        if self._beat is None:
            self._beat = loop.call_later(self._beat_seconds, self._ring, False)  # noqa: FBT003 - no news
        return await heard

    def ring(self) -> None:
        """Something has happened."""
        self._ring(news=True)

    def _ring(self, news: bool) -> None:  # noqa: FBT001 - a timer calls it
        if self._beat is not None:
            self._beat.cancel()
            self._beat = None
        players, self._players = self._players, []
        spectators, self._spectators = self._spectators, []
        for heard in players:
            _tell(heard, news)
        self._waker.wake(spectators, news=news)


def _tell(heard: asyncio.Future[bool], news: bool) -> None:  # noqa: FBT001 - what is told
    if not heard.done():
        heard.set_result(news)
