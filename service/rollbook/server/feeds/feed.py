"""Feeds: sends the events of matches to watchers, from any position.

A watched match has a channel: its log is folded once and each event projected once for all watchers. Catching up and
following are one read of the channel from the watcher's position, so events are neither skipped nor repeated. Watchers
pull; a slow watcher receives more events at once, later, and does not delay others.

The replica has this process's appends at once. Appends of other processes are announced, and read for all channels
together unless the replica has them already, so a read asks only for new events. Announcements may be missed, and
losses are never announced, so every watched log is compared with its replica periodically, a few logs at a time.

Delayed watchers use the same code, with a channel that is cut at now - delay.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final

from rollbook.match.chain import Entry, Position, genesis
from rollbook.match.codec.moves import Unreadable
from rollbook.match.ledger import Ledger
from rollbook.rules.game import Perspective, Watcher
from rollbook.server.access.limits import EXPENSIVE, no_budget, turn
from rollbook.server.failures import MatchUnknown, TailLost
from rollbook.server.feeds.channel import FELL_BEHIND, Bell, Channel, DelayedChannel, Waker
from rollbook.server.feeds.delays import Delays
from rollbook.server.feeds.linger import Linger, extend_watch
from rollbook.server.feeds.seat_feeds import SeatFeeds
from rollbook.server.feeds.watch_table import END_REASONS, TABLE, WatchAction, WatchInput, WatchState
from rollbook.server.loops import BackgroundLoop
from rollbook.server.out.frames import (
    CaughtUpFrame,
    ConfirmedFrame,
    EndedFrame,
    FellBehindFrame,
    Frame,
    HeartbeatFrame,
    RevealedFrame,
)
from rollbook.server.replica.replica import Replica
from rollbook.server.replica.replicas import Replicas
from rollbook.storage.port import MOST_BEHIND, Announcement, EventLog, StoreUnavailable
from rollbook.v1.feed_pb2 import END_REASON_DRAINING, END_REASON_TOKEN_EXPIRED, EndReason

BEAT_SECONDS: Final = 4.0
"""A watcher receives a heartbeat after this much silence."""

WAIT_SECONDS: Final = 5.0
"""The longest wait of the loop that follows the logs for announcements."""

PAUSE_SECONDS: Final = 0.1
"""Before listening again after a connection has ended."""

GUARD_SECONDS: Final = 2.0
"""The period in which every watched log is compared, as long as MOST_COMPARED_A_SECOND allows it."""

MOST_COMPARED: Final = 50
"""How many logs are compared at once."""

MOST_COMPARED_A_SECOND: Final = 1_000
"""The limit on comparisons, however many logs are watched."""


class Feeds:
    """All feeds of a process, and the tasks that follow the logs."""

    def __init__(  # noqa: PLR0913 - the log, who watches it, and what is counted
        self,
        log: EventLog,
        replicas: Replicas,
        clock_ms: Callable[[], int],
        lag: Callable[[int], None] = lambda _events: None,
        failed: Callable[[str], None] = lambda _loop: None,
        *,
        seat_feeds: SeatFeeds | None = None,
    ) -> None:
        """Follow this log while there are watchers; `seat_feeds` is who is present, for watchers with a seat.

        `lag` is called with the number of events in each frame, `failed` with the name of a loop that failed.
        """
        self._log = log
        self._replicas = replicas
        self._clock_ms = clock_ms
        self._lag = lag
        self._live: dict[str, Channel] = {}
        self._delayed: dict[str, DelayedChannel] = {}
        self._delays = Delays(clock_ms)
        self._waker = Waker()
        self._announced: dict[str, int] = {}
        """Announced sequences by match, of matches whose replicas are behind."""
        self._news = asyncio.Event()
        self._uncompared: deque[str] = deque()
        self._hurries = False
        """Whether to compare without pauses, because announcements may have been missed."""
        self._unheard = asyncio.Event()
        """Set when announcements may have been missed."""
        self._following = BackgroundLoop("feeds", self._follow, failed, 0)
        self._watching_over = BackgroundLoop("watch over feeds", self._watch_over, failed, 0)
        self._listening = BackgroundLoop(
            "announcements", lambda: log.listen(self._on_announcement, self._unheard.set), failed, PAUSE_SECONDS
        )
        self._tasks: dict[BackgroundLoop, asyncio.Task[None]] = {}
        self._draining = False
        self._seat_feeds = seat_feeds
        if seat_feeds is not None:
            seat_feeds.changed = self._ring_players

    @property
    def watchers(self) -> int:
        """The number of watchers."""
        return sum(channel.watchers for channel in self._live.values())

    @property
    def stand_still(self) -> bool:
        """Whether there are watchers and a loop is stuck."""
        return self._following.stands_still or self._watching_over.stands_still

    def drain(self) -> None:
        """End every feed with its position, so that its watcher can continue elsewhere."""
        self._draining = True
        self.wake()

    def wake(self) -> None:
        """Make every watcher check whether it still may watch."""
        for channel in (*self._live.values(), *self._delayed.values()):
            channel.bell.ring()

    async def close(self) -> None:
        """Stop following the log."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        self._delays.close()

    async def watch(
        self,
        match_id: str,
        position: Position | None,
        perspective_of: Callable[[Ledger], Perspective],
        expired: Callable[[], bool] = lambda: False,
        *,
        each_event: bool = False,
    ) -> AsyncGenerator[Frame, None]:
        """Yield frames from a position (None: from the start) to the end of the match.

        `perspective_of` returns the watcher's perspective on the current match, and is called until the seats are
        closed; `expired` returns whether the watcher's token has expired; with `each_event` a frame has one event.
        Raises MatchUnknown, TailLost, StoreUnavailable, and Declined for a position that is not in the log.
        """
        with self._replicas.use(match_id) as replica:
            async with self._live_channel(replica) as live, self._visible_channel(live, perspective_of) as channel:
                start = Position(0, genesis(match_id)) if position is None else position
                await channel.check(start)
                frame_after = await channel.frames_after(start, each_event=each_event)
                perspective = perspective_of(replica.ledger)
                yield ConfirmedFrame(perspective, start, channel.ledger)
                at, state = start, WatchState.CATCHING_UP
                # Only a watcher with a seat may know who is present.
                present = self._seat_feeds.here if self._seat_feeds and isinstance(perspective, int) else None
                here: tuple[bool, ...] = ()
                while state is not WatchState.ENDED:
                    silent = False
                    waits = state is WatchState.FOLLOWING and not self._draining and replica.failure is None
                    now = here if present is None else present(replica.ledger)
                    if waits and now == here and not channel.goes_on(at):
                        silent = not await channel.bell.wait(plays=isinstance(perspective, int))
                    if replica.failure is not None:
                        raise replica.failure
                    # Until the seats are closed, the watcher may take or leave a seat, which changes the perspective.
                    ledger = replica.ledger
                    closed = ledger.closing is not None and ledger.closing.sequence <= at.sequence
                    changed = not closed and perspective_of(ledger) != perspective
                    visible = channel.ledger
                    now = here if present is None else present(ledger)
                    silent = silent or (now != here and state is WatchState.FOLLOWING)
                    observed = self._observe(visible, at, expired=expired(), changed=changed, silent=silent)
                    action, state = TABLE[state, observed]
                    if action is WatchAction.SEND_EVENTS and visible is not None:
                        frame = frame_after(perspective, at.sequence)
                        at = frame.ledger.head
                        self._lag(len(frame.events))
                        yield frame
                    elif action is WatchAction.SEND_CAUGHT_UP:
                        yield CaughtUpFrame(at)
                    elif action is WatchAction.SEND_FELL_BEHIND:
                        yield FellBehindFrame(at)
                    elif action is WatchAction.SEND_HEARTBEAT and visible is not None:
                        here = now
                        yield HeartbeatFrame(visible, channel.delay_ms, here)
                    elif action is WatchAction.REVEAL:
                        yield RevealedFrame(tuple(channel.events))
                    if state is WatchState.ENDED:
                        yield EndedFrame(END_REASONS[observed], at)

    def _ring_players(self, match_id: str) -> None:
        if (channel := self._live.get(match_id)) is not None:
            channel.bell.ring_players()

    async def linger(
        self, watch: AsyncGenerator[Frame, None], match_id: str, expired: Callable[[], bool], linger: Linger
    ) -> AsyncGenerator[Frame, None]:
        """Yield the frames of a watch; before the end of a match with a result, a seat gets what `linger` finds."""

        def ending() -> EndReason.ValueType | None:
            if self._draining:
                return END_REASON_DRAINING
            return END_REASON_TOKEN_EXPIRED if expired() else None

        async for frame in extend_watch(watch, lambda: self._replicas.ledger(match_id), ending, linger, BEAT_SECONDS):
            yield frame

    def _observe(
        self, visible: Ledger | None, at: Position, *, expired: bool, changed: bool, silent: bool
    ) -> WatchInput:
        """The input for the watch table; `visible` is what the watcher may see, None before event 1."""
        behind = 0 if visible is None else visible.match.sequence - at.sequence
        if self._draining:
            return WatchInput.DRAINING
        if expired:
            return WatchInput.EXPIRED
        if changed:
            return WatchInput.PERSPECTIVE_CHANGED
        if behind:
            return WatchInput.FAR_BEHIND if behind >= FELL_BEHIND else WatchInput.BEHIND
        if visible is not None and visible.match.sealed is not None:
            return WatchInput.SEALED
        return WatchInput.SILENT if silent and visible is not None else WatchInput.IDLE

    @asynccontextmanager
    async def _live_channel(self, replica: Replica) -> AsyncIterator[Channel]:
        """The match's channel, up to date; removed with its last watcher."""
        channel = self._live.get(replica.match_id)
        if channel is None or channel.replica is not replica:
            channel = self._live[replica.match_id] = Channel(replica, self._bell())
            replica.changed.append(channel.on_change)
        channel.watchers += 1
        replica.watchers += 1
        try:
            self._run()
            async with turn(EXPENSIVE + 1 if replica.reads_all else 0):
                await replica.caught_up()
            channel.followed = True
            if replica.match_id in self._announced:
                self._news.set()
            yield channel
        finally:
            channel.watchers -= 1
            replica.remove_watcher()
            if not channel.watchers:
                replica.changed.remove(channel.on_change)
                if self._live.get(replica.match_id) is channel:
                    del self._live[replica.match_id]
                    if not self._live:
                        self._tasks[self._listening].cancel()

    # Appends of other processes

    def _run(self) -> None:
        """Start the loops, which run as long as there are watchers."""
        for loop in (self._listening, self._following, self._watching_over):
            task = self._tasks.get(loop)
            if task is None or task.done() or task.cancelling():
                self._tasks[loop] = asyncio.create_task(loop.run(lambda: self._live), context=no_budget())

    def _on_announcement(self, announced: Announcement) -> None:
        if not announced.head and self._seat_feeds is not None:
            self._seat_feeds.refresh(announced.match_id)
        channel = self._live.get(announced.match_id)
        if channel is not None and announced.head > channel.replica.sequence:
            self._announced[announced.match_id] = max(announced.head, self._announced.get(announced.match_id, 0))
            self._news.set()

    async def _follow(self) -> None:
        """Read the announced events of all channels together."""
        with suppress(TimeoutError):
            async with asyncio.timeout(WAIT_SECONDS):
                await self._news.wait()
        self._news.clear()
        # A replica still being read for the first time is handled afterwards.
        announced = {match_id: head for match_id, head in self._announced.items() if self._is_followed(match_id)}
        self._announced = {
            match_id: head
            for match_id, head in self._announced.items()
            if match_id in self._live and match_id not in announced
        }
        known = {match_id: self._live[match_id].replica.sequence for match_id in announced}
        heads = {match_id: head for match_id, head in known.items() if announced[match_id] > head}
        try:
            found = await self._log.behind(heads) if heads else {}
        except BaseException:
            self._announced = announced | self._announced
            self._news.set()
            raise
        for match_id, entries in found.items():
            await self._take(match_id, heads[match_id], entries)

    async def _take(self, match_id: str, after: int, entries: Sequence[Entry]) -> None:
        """Give a replica the entries after an event; none at all mean a hole, for which no other match waits."""
        channel = self._live.get(match_id)
        if channel is None:
            return
        if not entries:
            await self._look_over(channel)
            return
        await channel.replica.take_tail(after, entries)
        if len(entries) == MOST_BEHIND:
            self._on_announcement(Announcement(match_id, channel.replica.sequence + 1, is_lifecycle=False))

    def _is_followed(self, match_id: str) -> bool:
        channel = self._live.get(match_id)
        return channel is not None and channel.followed and channel.replica.failure is None

    async def _watch_over(self) -> None:
        """Compare a few watched logs with their replicas, to find lost or unannounced events."""
        if self._unheard.is_set():
            self._unheard.clear()
            self._uncompared, self._hurries = deque(self._live), True
        elif not self._uncompared:
            self._uncompared, self._hurries = deque(self._live), False
        some = [self._uncompared.popleft() for _ in range(min(MOST_COMPARED, len(self._uncompared)))]
        seconds = len(some) / MOST_COMPARED_A_SECOND
        if not self._hurries:
            seconds = max(seconds, GUARD_SECONDS * len(some) / max(len(self._live), 1))
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._unheard.wait()
        known = {match_id: self._live[match_id].replica.sequence for match_id in some if self._is_followed(match_id)}
        if self._hurries:
            # A replica that is still being read may have missed events before the announcements began.
            unread = [match_id for match_id in some if match_id in self._live and not self._live[match_id].followed]
            self._uncompared.extend(unread)
        # Read the last known event again: it must be there and unchanged.
        asked = {match_id: head - 1 for match_id, head in known.items() if not self._live[match_id].sealed}
        found = await self._log.behind(asked) if asked else {}
        for match_id, after in asked.items():
            await self._take(match_id, after, found.get(match_id, ()))

    async def _look_over(self, channel: Channel) -> None:
        """Read the replica to the end; its watchers receive any failure."""
        with suppress(TailLost, MatchUnknown, StoreUnavailable, Unreadable):
            await channel.replica.caught_up()

    @asynccontextmanager
    async def _visible_channel(
        self, live: Channel, perspective_of: Callable[[Ledger], Perspective]
    ) -> AsyncIterator[Channel]:
        """The channel for this perspective; the public one may be delayed."""
        ledger = live.replica.ledger
        delay_ms = ledger.opened.terms.spectator_delay_seconds * 1_000
        if perspective_of(ledger) is Watcher.PUBLIC and delay_ms and not live.sealed:
            async with self._delayed_channel(live, delay_ms) as delayed:
                yield delayed
        else:
            yield live

    @asynccontextmanager
    async def _delayed_channel(self, live: Channel, delay_ms: int) -> AsyncIterator[DelayedChannel]:
        """The delayed channel of a match; the delay ends with the match."""
        match_id = live.replica.match_id
        seen = None if match_id in self._delayed else await self._seen_so_far(live.replica, delay_ms)
        channel = self._delayed.get(match_id)
        if channel is None or channel.replica is not live.replica:
            channel = self._delayed[match_id] = DelayedChannel(live.replica, self._bell(), delay_ms, seen)
            self._delays.add(channel)
        channel.watchers += 1
        try:
            yield channel
        finally:
            channel.watchers -= 1
            if not channel.watchers:
                if self._delayed.get(match_id) is channel:
                    del self._delayed[match_id]
                self._delays.remove(channel)

    async def _seen_so_far(self, replica: Replica, delay_ms: int) -> Ledger | None:
        """The delayed state, folded in slices; None while the seats are open."""
        closing = replica.ledger.closing
        if closing is None:
            return None
        return await replica.as_of(self._clock_ms() - delay_ms, closing.sequence)

    def _bell(self) -> Bell:
        return Bell(self._waker, BEAT_SECONDS)
