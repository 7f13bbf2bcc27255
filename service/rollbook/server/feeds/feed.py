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

import structlog

from rollbook.match.chain import Position, genesis
from rollbook.match.codec.moves import Unreadable
from rollbook.match.ledger import Ledger
from rollbook.rules.game import Perspective, Watcher
from rollbook.server.feeds.channel import (
    FELL_BEHIND,
    Beat,
    CaughtUp,
    Channel,
    Confirmed,
    End,
    Ended,
    Events,
    FellBehind,
    Frame,
    Revealed,
)
from rollbook.server.feeds.wakeups import Bell, Waker
from rollbook.server.play.lost_logs import LostTails, Told
from rollbook.server.play.matches import LogLost, MatchUnknown
from rollbook.storage.port import Hole, Log, StoreUnavailable

__all__ = [
    "Beat",
    "CaughtUp",
    "Channel",
    "Confirmed",
    "End",
    "Ended",
    "Events",
    "Feeds",
    "FellBehind",
    "Frame",
    "Revealed",
]

BEAT_SECONDS: Final = 4.0
"""A watcher that hears nothing for so long hears that nothing happened."""

WAIT_SECONDS: Final = 5.0
PAUSE_SECONDS: Final = 0.005
"""Between two reads of the log under load."""

RETRY_SECONDS: Final = 0.5
LATE_LOOK_MS: Final = 250
"""How often a delayed channel looks at the clock, which may be set, unlike the time that a task sleeps."""

PAGE: Final = 1_000

GUARD_SECONDS: Final = 2.0
"""How often it is looked whether the logs that are watched still have what was told of them."""

log = structlog.get_logger()


class Feeds:
    """All feeds of a process, and the one task that waits for what is new."""

    def __init__(
        self,
        store: Log,
        clock_ms: Callable[[], int],
        lost: LostTails,
        lag: Callable[[int], None] = lambda _events: None,
    ) -> None:
        """Follow this log; nothing is read before somebody watches. `lag` hears by how much each frame was behind."""
        self._log = store
        self._clock_ms = clock_ms
        self._lost = lost
        self._lag = lag
        self._channels: dict[str, Channel] = {}
        self._delayed: dict[str, Channel] = {}
        self._late: dict[Channel, asyncio.Task[None]] = {}
        """What follows the live channel for each delayed one."""
        self._waker = Waker()
        self._joined = asyncio.Event()
        self._tailer: asyncio.Task[None] | None = None
        self._guard: asyncio.Task[None] | None = None
        self._draining = False

    @property
    def watchers(self) -> int:
        """How many there are."""
        return sum(channel.watchers for channel in (*self._channels.values(), *self._delayed.values()))

    def drain(self) -> None:
        """Let every feed end with its position, so that its watcher goes on elsewhere."""
        self._draining = True
        for channel in (*self._channels.values(), *self._delayed.values()):
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
        `expired` whether it still may. Raises MatchUnknown, Declined for a position that is not there, LogLost and
        StoreUnavailable.
        """
        async with self._channel(match_id) as live:
            perspective = eyes(live.projector.ledger)
            delay_ms = live.projector.ledger.opened.terms.spectator_delay_seconds * 1_000
            if perspective is Watcher.PUBLIC and delay_ms and not live.sealed:
                async with self._cut(live, delay_ms) as delayed:
                    async for frame in self._told(delayed, live, position, eyes, expired):
                        yield frame
            else:
                async for frame in self._told(live, live, position, eyes, expired):
                    yield frame

    async def _told(
        self,
        channel: Channel,
        live: Channel,
        position: Position | None,
        eyes: Callable[[Ledger], Perspective],
        expired: Callable[[], bool],
    ) -> AsyncGenerator[Frame, None]:
        start = Position(0, genesis(channel.match_id)) if position is None else position
        channel.check(start)
        perspective = eyes(live.projector.ledger)
        yield Confirmed(perspective, start, channel.snapshot() if channel.logged else None)
        at = start
        caught_up = seats_closed = False
        while True:
            if channel.failure is not None:
                raise channel.failure
            # As long as somebody can sit down or get up, the watcher may see with other eyes by now.
            changed = not seats_closed and eyes(live.projector.ledger) != perspective
            if (reason := self._reason(expired=expired(), changed=changed)) is not None:
                yield Ended(reason, at)
                return
            seats_closed = live.projector.ledger.match.closed
            behind = channel.head.sequence - at.sequence
            if behind >= FELL_BEHIND and caught_up:
                caught_up = False
                yield FellBehind(at)
            elif behind:
                frame = channel.frame(perspective, at.sequence)
                self._lag(len(frame.events))
                at = channel.head
                yield frame
            elif not caught_up:
                caught_up = True
                yield CaughtUp(at)
            elif channel.sealed:
                yield Revealed(tuple(channel.logged))
                yield Ended(End.MATCH_OVER, at)
                return
            elif not await channel.bell.wait(plays=isinstance(perspective, int)) and channel.logged:
                yield Beat(channel.snapshot(), channel.delay_ms)

    def _reason(self, *, expired: bool, changed: bool) -> End | None:
        if self._draining:
            return End.DRAINING
        if expired:
            return End.TOKEN_EXPIRED
        return End.PERSPECTIVE_CHANGED if changed else None

    @asynccontextmanager
    async def _channel(self, match_id: str) -> AsyncIterator[Channel]:
        """The channel of a match, up to date; let go of when nobody watches it any more."""
        channel = self._channels.get(match_id)
        if channel is None or channel.failure is not None:
            channel = self._channels[match_id] = Channel(match_id, self._bell())
        channel.watchers += 1
        try:
            await self._catch_up(channel)
            if not channel.followed:
                channel.followed = True
                self._joined.set()
            if self._tailer is None or self._tailer.done():
                self._tailer = asyncio.create_task(self._follow())
            if self._guard is None or self._guard.done():
                self._guard = asyncio.create_task(self._watch_over())
            yield channel
        finally:
            channel.watchers -= 1
            if not channel.watchers and self._channels.get(match_id) is channel:
                del self._channels[match_id]

    async def _catch_up(self, channel: Channel) -> None:
        """Bring a channel up to date; of many who want that at once, one reads for all who were there before."""
        begun_before = channel.reads_begun
        async with channel.reading:
            if channel.last_done <= begun_before:
                channel.reads_begun += 1
                await self._read_to_the_end(channel)
                channel.last_done = channel.reads_begun
        if channel.failure is not None:
            raise channel.failure
        if not channel.logged:
            raise MatchUnknown(channel.match_id)

    async def _read_to_the_end(self, channel: Channel) -> None:
        """Read what the channel does not have yet, and its last event again: it has to be there, and the same."""
        if channel.sealed:
            return
        match_id = channel.match_id
        told = self._lost.told(match_id)
        if channel.logged and (told is None or told.position.sequence < len(channel.logged)):
            told = Told(channel.head, sealed=False)
        stored = max(len(channel.logged) - 1, 0)
        while channel.failure is None and channel.lost is None:
            try:
                entries = await self._log.read(match_id, stored, PAGE)
            except Hole as hole:
                known = hole.stored if told is None else told.position.sequence
                channel.lost = LogLost(match_id, known, hole.stored)
                break
            channel.read(stored, entries)
            stored += len(entries)
            if len(entries) < PAGE:
                break
        if told is not None and channel.failure is None and channel.lost is None:
            known = told.position.sequence
            if await self._lost.falls_short(match_id, told, stored):
                channel.lost = LogLost(match_id, known, await self._log.head(match_id))
            elif channel.logged and not channel.holds(told.position):
                channel.lost = LogLost(match_id, known, known - 1)
        await self._settle(channel)

    async def _settle(self, channel: Channel) -> None:
        """Remember what watchers are told from now on; and seal the match if what they were told is lost."""
        lost = channel.lost
        if lost is not None and channel.failure is None:
            await self._lost.seal(channel.match_id, lost.known, lost.stored)
            channel.fail(lost)
        elif channel.logged:
            self._lost.tell(channel.match_id, channel.head, sealed=channel.sealed)

    async def _watch_over(self) -> None:
        """Notice a log that lost what was told of it, although nothing new comes behind that."""
        while self._channels:
            await asyncio.sleep(GUARD_SECONDS)
            for channel in tuple(self._channels.values()):
                await self._look_over(channel)

    async def _look_over(self, channel: Channel) -> None:
        """Read it to the end, for nobody in particular: what is amiss is told to its watchers."""
        with suppress(LogLost, MatchUnknown, StoreUnavailable, Unreadable):
            await self._catch_up(channel)

    async def _follow(self) -> None:
        """Wait for whatever is new in all channels, until nobody watches any more."""
        while self._channels:
            self._joined.clear()
            heads = {
                match_id: len(channel.logged)
                for match_id, channel in self._channels.items()
                if channel.followed and channel.failure is None
            }
            waiting = asyncio.ensure_future(self._log.wait(heads, WAIT_SECONDS))
            joined = asyncio.ensure_future(self._joined.wait())
            try:
                await asyncio.wait({waiting, joined}, return_when=asyncio.FIRST_COMPLETED)
                if not waiting.done():
                    continue
                found = waiting.result()
            except StoreUnavailable as unavailable:
                log.warning("log cannot be followed", reason=str(unavailable))
                await asyncio.sleep(RETRY_SECONDS)
                continue
            finally:
                for task in (waiting, joined):
                    task.cancel()
                await asyncio.gather(waiting, joined, return_exceptions=True)
            for match_id, entries in found.items():
                channel = self._channels.get(match_id)
                if channel is None:
                    continue
                if not entries:
                    await self._look_over(channel)  # a hole, which the others do not wait for
                    continue
                channel.read(heads[match_id], entries)
                await self._settle(channel)
            if found:
                await asyncio.sleep(PAUSE_SECONDS)

    @asynccontextmanager
    async def _cut(self, live: Channel, delay_ms: int) -> AsyncIterator[Channel]:
        """The channel as it is seen so much later; the delay ends with the match."""
        channel = self._delayed.get(live.match_id)
        if channel is None or channel.failure is not None or not _is_past_of(channel, live):
            channel = self._delayed[live.match_id] = Channel(live.match_id, self._bell(), delay_ms)
            self._advance(live, channel)
            self._late[channel] = asyncio.create_task(self._follow_late(live, channel))
        channel.watchers += 1
        try:
            yield channel
        finally:
            channel.watchers -= 1
            if not channel.watchers:
                if self._delayed.get(live.match_id) is channel:
                    del self._delayed[live.match_id]
                following = self._late.pop(channel)
                following.cancel()
                await asyncio.gather(following, return_exceptions=True)

    def _bell(self) -> Bell:
        return Bell(self._waker, BEAT_SECONDS)

    def _advance(self, live: Channel, channel: Channel) -> None:
        until_ms = self._clock_ms() - channel.delay_ms
        known = len(channel.logged)
        channel.extend([logged for logged in live.logged[known:] if live.sealed or logged.time_ms <= until_ms])

    async def _follow_late(self, live: Channel, channel: Channel) -> None:
        """Let a delayed channel have what has become old enough, for all its watchers."""
        while live.failure is None:
            self._advance(live, channel)
            left = live.logged[len(channel.logged) :]
            due_ms = left[0].time_ms + channel.delay_ms - self._clock_ms() if left else LATE_LOOK_MS
            with suppress(TimeoutError):
                async with asyncio.timeout(min(max(due_ms, 1), LATE_LOOK_MS) / 1_000):
                    await live.bell.wait(plays=False)
        channel.fail(live.failure)


def _is_past_of(delayed: Channel, live: Channel) -> bool:
    """Whether what a delayed channel has is on the log that the live one follows, which may be another after a loss."""
    known = len(delayed.logged)
    return not known or (known <= len(live.logged) and delayed.logged[-1].link == live.logged[known - 1].link)
