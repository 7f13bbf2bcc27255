"""A match that somebody watches: how far its watchers may see it, the frames that they share, and what wakes them.

Every watcher that wakes does a little work, and all that wake at once do it before the loop does anything else. So only
as many wake at once as a player's choice can wait for, whichever matches they watch; the loop looks at everything else
before the next slice.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Final

from rollbook.match.chain import Position, genesis
from rollbook.match.events import LOG_LOST
from rollbook.match.ledger import Ledger, Visible
from rollbook.rules.game import Perspective
from rollbook.server.access.limits import SENT_EVENTS_A_POINT, owe
from rollbook.server.failures import TailLost
from rollbook.server.out.frames import EventsFrame
from rollbook.server.out.projection import seen_alike
from rollbook.server.replica.replica import Replica

FELL_BEHIND: Final = 50
"""A watcher that had caught up and is so many events behind is told so."""

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
            _settle(*self._due.popleft())
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
        self._rung_at = 0.0

    async def wait(self, *, plays: bool) -> bool:
        """Whether something happened, or else nothing for a while; who plays hears of it before all others."""
        loop = asyncio.get_running_loop()
        heard: asyncio.Future[bool] = loop.create_future()
        (self._players if plays else self._spectators).append(heard)
        if self._beat is None:
            self._beat = loop.call_later(self._beat_seconds, self._fall_silent)
        return await heard

    def ring(self) -> None:
        """Something has happened."""
        # The timer goes on: one for each event would cost more than to look at the time when it is out.
        self._rung_at = asyncio.get_running_loop().time()
        self._ring(news=True)

    def _fall_silent(self) -> None:
        loop, self._beat = asyncio.get_running_loop(), None
        left = self._rung_at + self._beat_seconds - loop.time()
        if left <= 0:
            self._ring(news=False)
        elif self._players or self._spectators:
            self._beat = loop.call_later(left, self._fall_silent)

    def _ring(self, *, news: bool) -> None:
        players, self._players = self._players, []
        spectators, self._spectators = self._spectators, []
        for heard in players:
            _settle(heard, news)
        self._waker.wake(spectators, news=news)


def _settle(heard: asyncio.Future[bool], news: bool) -> None:  # noqa: FBT001 - what is told
    if not heard.done():
        heard.set_result(news)


class Channel:
    """A replica with watchers, who see it up to its head."""

    def __init__(self, replica: Replica, bell: Bell) -> None:
        """Begin where the replica is; the bell rings whenever something changes."""
        self.replica = replica
        self.bell = bell
        self.delay_ms = 0
        self.watchers = 0
        self.followed = False
        """Whether it has been read to the end once, so that only what is new has to be asked for."""
        self._frames: dict[tuple[Perspective, int], EventsFrame] = {}

    @property
    def ledger(self) -> Ledger | None:
        """The match as far as it may be seen; none as long as nothing of it may."""
        return self.replica.known

    @property
    def head(self) -> Position:
        """Behind the last event that may be seen; before event 1 as long as none may."""
        ledger = self.ledger
        return Position(0, genesis(self.replica.match_id)) if ledger is None else ledger.head

    @property
    def sealed(self) -> bool:
        """Whether the seal may be seen."""
        ledger = self.ledger
        return ledger is not None and ledger.match.sealed is not None

    def goes_on(self, at: Position) -> bool:
        """Whether there is more for somebody who has been told everything up to here: events, or the end."""
        ledger = self.ledger
        return ledger is not None and (ledger.match.sequence != at.sequence or ledger.match.sealed is not None)

    @property
    def events(self) -> Sequence[Visible]:
        """All events that may be seen, which the replica holds as long as it is watched."""
        return (self.replica.events or [])[: self.head.sequence]

    def changed(self) -> None:
        """Wake the watchers, for whom new frames have to be made."""
        self._frames.clear()
        self.bell.ring()

    def frame(self, perspective: Perspective, after: int) -> EventsFrame:
        """All events behind this one, made once for everybody who sees the same and is at the same place.

        What is made for somebody who is far behind is not kept: hardly anybody else is at the same place.
        """
        frame = self._frames.get((perspective, after))
        if frame is None:
            ledger = self.ledger
            if ledger is None:
                raise LookupError("nothing of the match may be seen yet")
            shared = seen_alike(ledger, perspective)
            if shared != perspective:
                frame = self.frame(shared, after)
            else:
                events = self.replica.events or []
                frame = EventsFrame(tuple(events[after : ledger.match.sequence]), perspective, ledger)
            if len(frame.events) < FELL_BEHIND:
                self._frames[perspective, after] = frame
            elif shared == perspective:
                owe(len(frame.events) / SENT_EVENTS_A_POINT)
        return frame

    async def check(self, position: Position) -> None:
        """Decline a position that is not on this log, or beyond what may be seen of it."""
        ledger, head = self.ledger, self.head.sequence
        misplaced = await self.replica.misplaced(position, head)
        if misplaced is None:
            return
        sealed = None if ledger is None else ledger.match.sealed
        if sealed is not None and sealed.aborted == LOG_LOST:
            raise TailLost(self.replica.match_id, position.sequence, head)
        raise misplaced


class DelayedChannel(Channel):
    """A replica whose watchers see it so much later, from the closing of its seats to the end of the match."""

    def __init__(self, replica: Replica, bell: Bell, delay_ms: int, seen: Ledger | None = None) -> None:
        """Begin with what has been seen of the match by now; before event 1 if that is nothing."""
        super().__init__(replica, bell)
        self.delay_ms = delay_ms
        self._ledger = seen

    @property
    def ledger(self) -> Ledger | None:
        """The match as it was so long ago."""
        return self._ledger

    def advance(self, now_ms: int) -> None:
        """Show what has become old enough."""
        match, closing = self.replica.ledger.match, self.replica.ledger.closing
        # What comes at once in any case: all of it as long as seats are open, and again once the match is over.
        shown = match.sequence if closing is None or match.sealed is not None else closing.sequence
        until_ms = now_ms - self.delay_ms
        hidden = [event.logged for event in self._hidden()]
        due = [logged for logged in hidden if logged.sequence <= shown or logged.time_ms <= until_ms]
        if not due:
            return
        # Whoever reads the ledger as it is keeps that.
        ledger = Ledger(due.pop(0)) if self._ledger is None else self._ledger.copy()
        for logged in due:
            ledger.take(logged)
        self._ledger = ledger
        self.changed()

    def due_in_ms(self, now_ms: int) -> int | None:
        """How long it takes until there is more to show; none if nothing more has happened."""
        hidden = self._hidden()
        return hidden[0].logged.time_ms + self.delay_ms - now_ms if hidden else None

    def _hidden(self) -> Sequence[Visible]:
        return (self.replica.events or [])[self.head.sequence :]
