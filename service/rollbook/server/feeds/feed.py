"""Feeds: what happens in matches, told to whoever watches, from wherever they want to go on.

A match that somebody watches has a channel: its log folded once, and every event projected once, for all watchers.
Catching up and following live are one read of the channel from the watcher's position, so there is no seam, no gap and
no double. A watcher takes what is there when it is ready to; one that is slow gets more at once, later, and holds
nobody up. One task waits on the log for all channels, and wakes at every new one.

Whoever has to see a match later than it happens is served from a channel that is cut at now - delay, by the same code.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

from rollbook.match.chain import Position, genesis
from rollbook.match.codec.moves import Unreadable
from rollbook.match.ledger import Ledger
from rollbook.rules.game import Perspective, Watcher
from rollbook.server.failures import MatchUnknown, TailLost
from rollbook.server.feeds.channel import FELL_BEHIND, Bell, Channel, DelayedChannel, Waker
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
from rollbook.storage.port import Log, StoreUnavailable
from rollbook.v1.feed_pb2 import (
    END_REASON_DRAINING,
    END_REASON_MATCH_OVER,
    END_REASON_PERSPECTIVE_CHANGED,
    END_REASON_TOKEN_EXPIRED,
    EndReason,
)

BEAT_SECONDS: Final = 4.0
"""A watcher that hears nothing for so long hears that nothing happened."""

WAIT_SECONDS: Final = 5.0
PAUSE_SECONDS: Final = 0.005
"""Between two reads of the log under load."""

LATE_LOOK_MS: Final = 250
"""How often a delayed channel looks at the clock, which may be set, unlike the time that a task sleeps."""

GUARD_SECONDS: Final = 2.0
"""How often it is looked whether the logs that are watched still have what was told of them."""


class Feeds:
    """All feeds of a process, and the one task that waits for what is new."""

    def __init__(
        self,
        log: Log,
        replicas: Replicas,
        clock_ms: Callable[[], int],
        lag: Callable[[int], None] = lambda _events: None,
        failed: Callable[[str], None] = lambda _loop: None,
    ) -> None:
        """Follow this log; nothing is read before somebody watches.

        `lag` hears by how much each frame was behind, `failed` which loop has failed.
        """
        self._log = log
        self._replicas = replicas
        self._clock_ms = clock_ms
        self._lag = lag
        self._live: dict[str, Channel] = {}
        self._delayed: dict[str, DelayedChannel] = {}
        self._late: dict[DelayedChannel, asyncio.Task[None]] = {}
        """What follows the live channel for each delayed one."""
        self._waker = Waker()
        self._joined = asyncio.Event()
        self._following = BackgroundLoop("feeds", self._follow, failed, PAUSE_SECONDS)
        self._watching_over = BackgroundLoop("watch over feeds", self._watch_over, failed, 0)
        self._tailer: asyncio.Task[None] | None = None
        self._guard: asyncio.Task[None] | None = None
        self._draining = False

    @property
    def watchers(self) -> int:
        """How many there are."""
        return sum(channel.watchers for channel in self._live.values())

    @property
    def stand_still(self) -> bool:
        """Whether somebody watches, and is told nothing new for long."""
        return self._following.stands_still or self._watching_over.stands_still

    def drain(self) -> None:
        """Let every feed end with its position, so that its watcher goes on elsewhere."""
        self._draining = True
        for channel in (*self._live.values(), *self._delayed.values()):
            channel.bell.ring()

    async def close(self) -> None:
        """Stop waiting for the log."""
        tasks = [task for task in (self._tailer, self._guard, *self._late.values()) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def watch(
        self,
        match_id: str,
        position: Position | None,
        eyes: Callable[[Ledger], Perspective],
        expired: Callable[[], bool] = lambda: False,
    ) -> AsyncGenerator[Frame, None]:
        """Frames from behind a position (none: from the start) to the end of the match.

        `eyes` says what the watcher sees of the match as it is, and is asked again until the seats are closed;
        `expired` whether it still may. Raises MatchUnknown, Declined for a position that is not there, TailLost and
        StoreUnavailable.
        """
        with self._replicas.use(match_id) as replica:
            async with self._watched(replica) as live, self._seen(live, eyes) as channel:
                start = Position(0, genesis(match_id)) if position is None else position
                await channel.check(start)
                perspective = eyes(replica.ledger)
                yield ConfirmedFrame(perspective, start, channel.ledger)
                at = start
                caught_up = seats_closed = False
                while True:
                    if replica.failure is not None:
                        raise replica.failure
                    # As long as somebody can sit down or get up, the watcher may see with other eyes by now.
                    changed = not seats_closed and eyes(replica.ledger) != perspective
                    if (reason := self._reason(expired=expired(), changed=changed)) is not None:
                        yield EndedFrame(reason, at)
                        return
                    seats_closed = seats_closed or replica.ledger.match.closed
                    head = channel.head
                    behind = head.sequence - at.sequence
                    if behind >= FELL_BEHIND and caught_up:
                        caught_up = False
                        yield FellBehindFrame(at)
                    elif behind:
                        self._lag(behind)
                        after, at = at.sequence, head
                        yield channel.frame(perspective, after)
                    elif not caught_up:
                        caught_up = True
                        yield CaughtUpFrame(at)
                    elif channel.sealed:
                        yield RevealedFrame(tuple(channel.events))
                        yield EndedFrame(END_REASON_MATCH_OVER, at)
                        return
                    elif not await channel.bell.wait(plays=isinstance(perspective, int)) and channel.ledger is not None:
                        yield HeartbeatFrame(channel.ledger, channel.delay_ms)

    def _reason(self, *, expired: bool, changed: bool) -> EndReason.ValueType | None:
        if self._draining:
            return END_REASON_DRAINING
        if expired:
            return END_REASON_TOKEN_EXPIRED
        return END_REASON_PERSPECTIVE_CHANGED if changed else None

    @asynccontextmanager
    async def _watched(self, replica: Replica) -> AsyncIterator[Channel]:
        """The channel of a match, up to date; let go of when nobody watches it any more."""
        channel = self._live.get(replica.match_id)
        if channel is None or channel.replica is not replica:
            channel = self._live[replica.match_id] = Channel(replica, self._bell())
            replica.changed.append(channel.changed)
        channel.watchers += 1
        replica.watchers += 1
        try:
            await replica.caught_up()
            if not channel.followed:
                channel.followed = True
                self._joined.set()
            if self._tailer is None or self._tailer.done():
                self._tailer = asyncio.create_task(self._following.run(lambda: self._live))
            if self._guard is None or self._guard.done():
                self._guard = asyncio.create_task(self._watching_over.run(lambda: self._live))
            yield channel
        finally:
            channel.watchers -= 1
            replica.unwatched()
            if not channel.watchers:
                replica.changed.remove(channel.changed)
                if self._live.get(replica.match_id) is channel:
                    del self._live[replica.match_id]

    async def _watch_over(self) -> None:
        """Notice a log that lost what was told of it, although nothing new comes behind that."""
        await asyncio.sleep(GUARD_SECONDS)
        for channel in tuple(self._live.values()):
            if not channel.sealed:
                await self._look_over(channel)

    async def _look_over(self, channel: Channel) -> None:
        """Read it to the end, for nobody in particular: what is amiss is told to its watchers."""
        with suppress(TailLost, MatchUnknown, StoreUnavailable, Unreadable):
            await channel.replica.caught_up()

    async def _follow(self) -> None:
        """Wait for whatever is new in all channels, or for another one."""
        self._joined.clear()
        heads = {
            match_id: channel.replica.sequence
            for match_id, channel in self._live.items()
            if channel.followed and channel.replica.failure is None
        }
        waiting = asyncio.ensure_future(self._log.wait(heads, WAIT_SECONDS))
        joined = asyncio.ensure_future(self._joined.wait())
        try:
            await asyncio.wait({waiting, joined}, return_when=asyncio.FIRST_COMPLETED)
            found = waiting.result() if waiting.done() else {}
        finally:
            for task in (waiting, joined):
                task.cancel()
            await asyncio.gather(waiting, joined, return_exceptions=True)
        for match_id, entries in found.items():
            channel = self._live.get(match_id)
            if channel is None:
                continue
            if entries:
                await channel.replica.tailed(heads[match_id], entries)
            else:
                await self._look_over(channel)  # a hole, which the others do not wait for

    @asynccontextmanager
    async def _seen(self, live: Channel, eyes: Callable[[Ledger], Perspective]) -> AsyncIterator[Channel]:
        """The channel that such eyes look at: the public's may be late."""
        ledger = live.replica.ledger
        delay_ms = ledger.opened.terms.spectator_delay_seconds * 1_000
        if eyes(ledger) is Watcher.PUBLIC and delay_ms and not live.sealed:
            async with self._cut(live, delay_ms) as delayed:
                yield delayed
        else:
            yield live

    @asynccontextmanager
    async def _cut(self, live: Channel, delay_ms: int) -> AsyncIterator[DelayedChannel]:
        """The channel as it is seen so much later; the delay ends with the match."""
        match_id = live.replica.match_id
        channel = self._delayed.get(match_id)
        if channel is None or channel.replica is not live.replica:
            channel = self._delayed[match_id] = DelayedChannel(live.replica, self._bell(), delay_ms)
            channel.advance(self._clock_ms())
            self._late[channel] = asyncio.create_task(self._follow_late(live, channel))
        channel.watchers += 1
        try:
            yield channel
        finally:
            channel.watchers -= 1
            if not channel.watchers:
                if self._delayed.get(match_id) is channel:
                    del self._delayed[match_id]
                following = self._late.pop(channel)
                following.cancel()
                await asyncio.gather(following, return_exceptions=True)

    def _bell(self) -> Bell:
        return Bell(self._waker, BEAT_SECONDS)

    async def _follow_late(self, live: Channel, channel: DelayedChannel) -> None:
        """Let a delayed channel have what has become old enough, for all its watchers."""
        while live.replica.failure is None:
            channel.advance(self._clock_ms())
            due_ms = channel.due_in_ms(self._clock_ms())
            wait_ms = LATE_LOOK_MS if due_ms is None else min(max(due_ms, 1), LATE_LOOK_MS)
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_ms / 1_000):
                    await live.bell.wait(plays=False)
        channel.bell.ring()
