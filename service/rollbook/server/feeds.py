"""Feeds: what happens in matches, told to whoever watches, from wherever they want to go on.

A match that somebody watches has a channel: its log folded once, and every event projected once, for all watchers.
Catching up and following live are one read of the channel from the watcher's position, so there is no seam, no gap and
no double. A watcher takes what is there when it is ready to; one that is slow gets more at once, later, and holds
nobody up. One task waits on the log for all channels, and wakes at every new one.

Whoever has to see a match later than it happens is served from a channel that is cut at now - delay, by the same code.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

import structlog

from rollbook.match.decide import Declined, Why
from rollbook.match.envelope import Logged, read_bytes
from rollbook.match.fairness import genesis
from rollbook.match.fold import Misplaced
from rollbook.match.ledger import Ledger, Position
from rollbook.match.log import Entry, Log, StoreUnavailable
from rollbook.match.vocabulary import Unreadable
from rollbook.rules.game import Perspective, Watcher
from rollbook.server.matches import LogLost, MatchUnknown
from rollbook.server.projection import Projected, Projector

BEAT_SECONDS: Final = 4.0
"""A watcher that hears nothing for so long hears that nothing happened."""

WAIT_SECONDS: Final = 5.0
PAUSE_SECONDS: Final = 0.005
"""Between two reads of the log under load."""

RETRY_SECONDS: Final = 0.5
LATE_LOOK_MS: Final = 250
"""How often a delayed channel looks at the clock, which may be set, unlike the time that a task sleeps."""

PAGE: Final = 1_000

FELL_BEHIND: Final = 50
"""A watcher that had caught up and is so many events behind is told so."""

log = structlog.get_logger()


class End(Enum):
    """Why a feed ends."""

    MATCH_OVER = "match_over"
    TOKEN_EXPIRED = "token_expired"  # noqa: S105 - a reason
    DRAINING = "draining"
    PERSPECTIVE_CHANGED = "perspective_changed"


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The first frame: with whose eyes, and from where the feed goes on."""

    perspective: Perspective
    position: Position
    ledger: Ledger | None
    """The match as far as it may be seen; none as long as nothing of it may."""


@dataclass(frozen=True, slots=True)
class Events:
    """What has happened since the frame before; the ledger is the match after the last of them."""

    events: Sequence[Projected]
    perspective: Perspective
    ledger: Ledger


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """There is nothing more at this moment."""

    position: Position


@dataclass(frozen=True, slots=True)
class FellBehind:
    """The watcher had caught up, and was too slow to stay so."""

    position: Position


@dataclass(frozen=True, slots=True)
class Revealed:
    """Everything that the sealed match hid."""

    log: Sequence[Logged]


@dataclass(frozen=True, slots=True)
class Beat:
    """Nothing has happened for a while."""

    ledger: Ledger


@dataclass(frozen=True, slots=True)
class Ended:
    """The last frame."""

    reason: End
    position: Position


Frame: TypeAlias = Confirmed | Events | CaughtUp | FellBehind | Revealed | Beat | Ended


class Channel:
    """A match that is watched: folded, projected, and known up to where it may be seen."""

    def __init__(self, match_id: str) -> None:
        """Begin before event 1."""
        self.match_id = match_id
        self.watchers = 0
        self.projector = Projector()
        self.logged: list[Logged] = []
        self.projected: list[Projected] = []
        self.failure: Exception | None = None
        """Why nothing more will come, if the log cannot be followed any more."""
        self._changed = asyncio.Event()
        self._snapshot: Ledger | None = None
        self._frames: dict[tuple[Perspective, int], Events] = {}

    @property
    def head(self) -> Position:
        """Behind the last event that may be seen; before event 1 as long as none may."""
        if not self.logged:
            return Position(0, genesis(self.match_id))
        return self.projector.ledger.head

    @property
    def sealed(self) -> bool:
        """Whether the seal may be seen."""
        return bool(self.logged) and self.projector.ledger.match.sealed is not None

    def extend(self, events: Sequence[Logged]) -> None:
        """Take the next events."""
        for logged in events:
            self.projected.append(self.projector.take(logged))
            self.logged.append(logged)
        if events:
            self._frames.clear()
            self._snapshot = None
            self.wake()

    def read(self, after: int, entries: Sequence[Entry]) -> None:
        """Take entries of the log that stand behind `after`; those that are known already are passed over."""
        try:
            for entry in entries[len(self.logged) - after :]:
                game = self.projector.ledger.game if self.logged else None
                self.extend([read_bytes(entry.event, entry.private, game, self.match_id)])
        except Misplaced:
            self.fail(LogLost(self.match_id, len(self.logged), len(self.logged)))
        except Unreadable as unreadable:
            self.fail(StoreUnavailable(f"this program cannot read event {len(self.logged) + 1}: {unreadable}"))

    def fail(self, failure: Exception) -> None:
        """Nothing more will come."""
        self.failure = failure
        self.wake()

    def wake(self) -> None:
        """Let all watchers look."""
        self._changed.set()
        self._changed = asyncio.Event()

    def snapshot(self) -> Ledger:
        """The match at the head, made once for everybody."""
        if self._snapshot is None:
            self._snapshot = self.projector.ledger.copy()
        return self._snapshot

    def frame(self, perspective: Perspective, after: int) -> Events:
        """All events behind this one, made once for everybody who sees the same and is at the same place.

        What is made for somebody who is far behind is not kept: hardly anybody else is at the same place.
        """
        frame = self._frames.get((perspective, after))
        if frame is None:
            frame = Events(tuple(self.projected[after:]), perspective, self.snapshot())
            if len(frame.events) < FELL_BEHIND:
                self._frames[perspective, after] = frame
        return frame

    async def change(self, seconds: float) -> bool:
        """Whether something changed before so much time had gone by."""
        changed = self._changed
        try:
            await asyncio.wait_for(changed.wait(), seconds)
        except TimeoutError:
            return False
        return True

    def check(self, position: Position) -> None:
        """Decline a position that is not on this log, or ahead of it."""
        head = self.head
        if position.sequence > head.sequence:
            raise Declined(
                Why.POSITION_AHEAD,
                f"the log ends at event {head.sequence}, before event {position.sequence}",
                head=head.sequence,
            )
        link = self.logged[position.sequence - 1].link if position.sequence else genesis(self.match_id)
        if position.link != link:
            raise Declined(Why.POSITION_OTHER_LINK, f"event {position.sequence} has another link", head=head.sequence)


class Feeds:
    """All feeds of a process, and the one task that waits for what is new."""

    def __init__(self, store: Log, clock_ms: Callable[[], int]) -> None:
        """Follow this log; nothing is read before somebody watches."""
        self._log = store
        self._clock_ms = clock_ms
        self._channels: dict[str, Channel] = {}
        self._delayed: dict[str, Channel] = {}
        self._joined = asyncio.Event()
        self._tailer: asyncio.Task[None] | None = None
        self._draining = False

    @property
    def watchers(self) -> int:
        """How many there are."""
        return sum(channel.watchers for channel in (*self._channels.values(), *self._delayed.values()))

    def drain(self) -> None:
        """Let every feed end with its position, so that its watcher goes on elsewhere."""
        self._draining = True
        for channel in (*self._channels.values(), *self._delayed.values()):
            channel.wake()

    async def close(self) -> None:
        """Stop waiting for the log."""
        if self._tailer is not None:
            self._tailer.cancel()
            await asyncio.gather(self._tailer, return_exceptions=True)

    async def watch(
        self,
        match_id: str,
        position: Position | None,
        eyes: Callable[[Ledger], Perspective],
        expired: Callable[[], bool] = lambda: False,
    ) -> AsyncGenerator[Frame, None]:
        """Frames from behind a position (none: from the start) to the end of the match.

        `eyes` says what the watcher sees of the match as it is, and is asked again whenever something happens;
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
        caught_up = False
        while True:
            if channel.failure is not None or live.failure is not None:
                raise channel.failure or live.failure or AssertionError
            if (reason := self._reason(live, perspective, eyes, expired)) is not None:
                yield Ended(reason, at)
                return
            head = channel.head
            if at.sequence < head.sequence:
                if caught_up and head.sequence - at.sequence >= FELL_BEHIND:
                    yield FellBehind(at)
                    caught_up = False
                frame = channel.frame(perspective, at.sequence)
                at = head
                yield frame
            elif not caught_up:
                caught_up = True
                yield CaughtUp(at)
            elif channel.sealed:
                yield Revealed(tuple(channel.logged))
                yield Ended(End.MATCH_OVER, at)
                return
            elif not await channel.change(BEAT_SECONDS) and channel.logged:
                yield Beat(channel.snapshot())

    def _reason(
        self,
        live: Channel,
        perspective: Perspective,
        eyes: Callable[[Ledger], Perspective],
        expired: Callable[[], bool],
    ) -> End | None:
        if self._draining:
            return End.DRAINING
        if expired():
            return End.TOKEN_EXPIRED
        return End.PERSPECTIVE_CHANGED if eyes(live.projector.ledger) != perspective else None

    @asynccontextmanager
    async def _channel(self, match_id: str) -> AsyncIterator[Channel]:
        """The channel of a match, up to date; let go of when nobody watches it any more."""
        channel = self._channels.get(match_id) or Channel(match_id)
        await self._catch_up(channel)
        channel = self._channels.setdefault(match_id, channel)
        channel.watchers += 1
        self._joined.set()
        if self._tailer is None or self._tailer.done():
            self._tailer = asyncio.create_task(self._follow())
        try:
            yield channel
        finally:
            channel.watchers -= 1
            if not channel.watchers and self._channels.get(match_id) is channel:
                del self._channels[match_id]

    async def _catch_up(self, channel: Channel) -> None:
        while True:
            after = len(channel.logged)
            entries = await self._log.read(channel.match_id, after, PAGE)
            channel.read(after, entries)
            if channel.failure is not None:
                raise channel.failure
            if not channel.logged:
                raise MatchUnknown(channel.match_id)
            if len(entries) < PAGE:
                return

    async def _follow(self) -> None:
        """Wait for whatever is new in all channels, until nobody watches any more."""
        while self._channels:
            self._joined.clear()
            heads = {match_id: len(channel.logged) for match_id, channel in self._channels.items()}
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
                if match_id in self._channels:
                    self._channels[match_id].read(heads[match_id], entries)
            if found:
                await asyncio.sleep(PAUSE_SECONDS)

    @asynccontextmanager
    async def _cut(self, live: Channel, delay_ms: int) -> AsyncIterator[Channel]:
        """The channel as it is seen so much later; the delay ends with the match."""
        channel = self._delayed.setdefault(live.match_id, Channel(live.match_id))
        channel.watchers += 1
        following = asyncio.create_task(self._follow_late(live, channel, delay_ms))
        try:
            self._advance(live, channel, delay_ms)
            yield channel
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
            channel.watchers -= 1
            if not channel.watchers and self._delayed.get(live.match_id) is channel:
                del self._delayed[live.match_id]

    def _advance(self, live: Channel, channel: Channel, delay_ms: int) -> None:
        until_ms = self._clock_ms() - delay_ms
        known = len(channel.logged)
        channel.extend([logged for logged in live.logged[known:] if live.sealed or logged.time_ms <= until_ms])

    async def _follow_late(self, live: Channel, channel: Channel, delay_ms: int) -> None:
        while True:
            self._advance(live, channel, delay_ms)
            left = live.logged[len(channel.logged) :]
            due_ms = left[0].time_ms + delay_ms - self._clock_ms() if left else LATE_LOOK_MS
            await live.change(min(max(due_ms, 1), LATE_LOOK_MS) / 1_000)
