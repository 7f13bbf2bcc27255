"""A watched match: its state as watchers may see it, the frames that they share, and how they are woken.

Every watcher does a little work when it wakes, before the event loop runs other tasks. Watchers of all matches are
therefore woken in slices, small enough that players' commands are not delayed; the loop runs other tasks between
slices.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
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
"""A watcher that had caught up receives a FellBehindFrame when it is this many events behind."""

MOST_STEPS: Final = 8
"""A watcher of single events that is further behind receives them in one frame."""

SLICE: Final = 50
"""Spectators woken at once."""


class Waker:
    """Wakes the spectators of all matches of a process, in the order in which they became due."""

    def __init__(self) -> None:
        self._due: deque[tuple[asyncio.Future[bool], bool]] = deque()
        self._next: asyncio.Handle | None = None

    def wake(self, waiting: list[asyncio.Future[bool]], *, news: bool) -> None:
        """Schedule these spectators after those already scheduled."""
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
    """Wakes the watchers of one match, when something happens or after a period of silence."""

    def __init__(self, waker: Waker, beat_seconds: float) -> None:
        """Wake spectators through `waker`, and all watchers after `beat_seconds` of silence."""
        self._waker = waker
        self._beat_seconds = beat_seconds
        self._players: list[asyncio.Future[bool]] = []
        self._spectators: list[asyncio.Future[bool]] = []
        self._beat: asyncio.TimerHandle | None = None
        self._rung_at = 0.0

    async def wait(self, *, plays: bool) -> bool:
        """Wait; returns True if something happened, False after silence. Players are woken before spectators."""
        loop = asyncio.get_running_loop()
        heard: asyncio.Future[bool] = loop.create_future()
        (self._players if plays else self._spectators).append(heard)
        if self._beat is None:
            self._beat = loop.call_later(self._beat_seconds, self._fall_silent)
        return await heard

    def ring(self) -> None:
        """Wake all watchers because something has happened."""
        # The timer is kept: restarting it for each event would cost more than checking the time when it fires.
        self._rung_at = asyncio.get_running_loop().time()
        self._ring(news=True)

    def ring_players(self) -> None:
        """Wake the players because something has happened that only concerns them."""
        players, self._players = self._players, []
        for heard in players:
            _settle(heard, True)  # noqa: FBT003 - the future's result

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


def _settle(heard: asyncio.Future[bool], news: bool) -> None:  # noqa: FBT001 - the future's result
    if not heard.done():
        heard.set_result(news)


class Channel:
    """A watched replica whose watchers see its current state."""

    def __init__(self, replica: Replica, bell: Bell) -> None:
        """`bell` rings whenever something changes."""
        self.replica = replica
        self.bell = bell
        self.delay_ms = 0
        self.watchers = 0
        self.followed = False
        """Whether the replica has been read to the end once, so that only later events must be requested."""
        self._frames: dict[tuple[Perspective, int], EventsFrame] = {}
        self._states: dict[int, Ledger] = {}
        """The newest states by sequence, for watchers of single events."""
        self._steps: dict[tuple[Perspective, int], EventsFrame] = {}
        """Frames of single events by the sequence before them."""

    @property
    def ledger(self) -> Ledger | None:
        """The state that watchers may see; None while they may see nothing."""
        return self.replica.known

    @property
    def head(self) -> Position:
        """The position after the last visible event; before event 1 if none is visible."""
        ledger = self.ledger
        return Position(0, genesis(self.replica.match_id)) if ledger is None else ledger.head

    @property
    def sealed(self) -> bool:
        """Whether the seal is visible."""
        ledger = self.ledger
        return ledger is not None and ledger.match.sealed is not None

    def goes_on(self, at: Position) -> bool:
        """Whether a watcher that has received everything up to this position has more to receive."""
        ledger = self.ledger
        return ledger is not None and (ledger.match.sequence != at.sequence or ledger.match.sealed is not None)

    @property
    def events(self) -> Sequence[Visible]:
        """All visible events; the replica holds them while it is watched."""
        return (self.replica.events or [])[: self.head.sequence]

    def on_change(self) -> None:
        """Drop the frames and wake the watchers."""
        self._frames.clear()
        if self._states:
            oldest = self.head.sequence - MOST_STEPS
            self._states = {sequence: state for sequence, state in self._states.items() if sequence >= oldest}
            self._steps = {key: frame for key, frame in self._steps.items() if key[1] >= oldest}
        self.bell.ring()

    def frame(self, perspective: Perspective, after: int) -> EventsFrame:
        """All events after the sequence `after`, shared by watchers with the same view at the same position.

        A long frame is not cached: other watchers are rarely at the same position.
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

    async def frames_after(self, position: Position, *, each_event: bool) -> Callable[[Perspective, int], EventsFrame]:
        """The function that makes the frames of a watcher from this position: `step` if `each_event`, else `frame`."""
        if not each_event:
            return self.frame
        first, ledger = position.sequence, self.ledger
        if ledger is not None and first == ledger.match.sequence:
            self._states[first] = ledger
        elif first and first not in self._states and self.head.sequence - first <= MOST_STEPS:
            self._states[first] = await self.replica.as_of(0, first)
        return self.step

    def step(self, perspective: Perspective, after: int) -> EventsFrame:
        """The event after the sequence `after`, with the state right after it; all events if there are too many."""
        is_known = not after or after in self._states
        if not is_known or not 1 < self.head.sequence - after <= MOST_STEPS:
            bundle = self.frame(perspective, after)
            self._states[bundle.ledger.match.sequence] = bundle.ledger
            return bundle
        frame = self._steps.get((perspective, after))
        if frame is None:
            ledger = self._state_after(after)
            shared = seen_alike(ledger, perspective)
            if shared != perspective:
                frame = self.step(shared, after)
            else:
                frame = EventsFrame((self._event(after + 1),), perspective, ledger)
            self._steps[perspective, after] = frame
        return frame

    def _state_after(self, after: int) -> Ledger:
        """The state one event after a known one."""
        if after + 1 not in self._states:
            logged = self._event(after + 1).logged
            if after:
                state = self._states[after].copy()
                state.take(logged)
            else:
                state = Ledger(logged)
            self._states[after + 1] = state
        return self._states[after + 1]

    def _event(self, sequence: int) -> Visible:
        return (self.replica.events or [])[sequence - 1]

    async def check(self, position: Position) -> None:
        """Raise Declined if the position is not in this log or not visible yet; TailLost if the log was lost."""
        ledger, head = self.ledger, self.head.sequence
        misplaced = await self.replica.check_position(position, head)
        if misplaced is None:
            return
        sealed = None if ledger is None else ledger.match.sealed
        if sealed is not None and sealed.aborted == LOG_LOST:
            raise TailLost(self.replica.match_id, position.sequence, head)
        raise misplaced


class DelayedChannel(Channel):
    """A watched replica whose watchers see it delayed, from the closing of its seats to the end of the match."""

    def __init__(self, replica: Replica, bell: Bell, delay_ms: int, seen: Ledger | None = None) -> None:
        """`seen` is the state visible now; None: before event 1."""
        super().__init__(replica, bell)
        self.delay_ms = delay_ms
        self._ledger = seen

    @property
    def ledger(self) -> Ledger | None:
        """The delayed state."""
        return self._ledger

    def advance(self, now_ms: int) -> None:
        """Show the events that have become old enough."""
        match, closing = self.replica.ledger.match, self.replica.ledger.closing
        # Visible without delay: events while seats are open, and all events once the match is over.
        shown = match.sequence if closing is None or match.sealed is not None else closing.sequence
        until_ms = now_ms - self.delay_ms
        hidden = [event.logged for event in self._hidden_events()]
        due = [logged for logged in hidden if logged.sequence <= shown or logged.time_ms <= until_ms]
        if not due:
            return
        # A copy, because watchers may hold the previous ledger.
        ledger = Ledger(due.pop(0)) if self._ledger is None else self._ledger.copy()
        for logged in due:
            ledger.take(logged)
        self._ledger = ledger
        self.on_change()

    def due_in_ms(self, now_ms: int) -> int | None:
        """Milliseconds until the next event becomes visible; None if no event is hidden."""
        hidden = self._hidden_events()
        return hidden[0].logged.time_ms + self.delay_ms - now_ms if hidden else None

    def _hidden_events(self) -> Sequence[Visible]:
        return (self.replica.events or [])[self.head.sequence :]
