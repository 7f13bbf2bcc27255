"""Running matches, each followed once per process for all browsers with the same perspective."""

from __future__ import annotations

import asyncio
import time  # noqa: TID251 - the page shows clocks
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from copy import copy
from typing import Any, Final

import structlog
from markupsafe import Markup

from rollbook.match.chain import Position
from rollbook.replay_file.container import NotAReplay, read
from rollbook.v1.match_pb2 import (
    MATCH_STATE_ABORTED,
    MATCH_STATE_GETTING_READY,
    MATCH_STATE_OPEN,
    MATCH_STATE_RUNNING,
    MatchSummary,
)
from rollbook.v1.table_pb2 import PERSPECTIVE_KIND_SEAT, Perspective
from rollbook_clients.sdk import (
    Away,
    Back,
    Beat,
    CaughtUp,
    Confirmed,
    Ended,
    Event,
    Events,
    Frame,
    Legal,
    Match,
    RollbookError,
)
from rollbook_clients.terminal.clocks import AwayPlayers, TickingClocks
from rollbook_clients.terminal.film import Film, NotShown
from rollbook_clients.terminal.known_game import KnownGame, known_game
from rollbook_clients.terminal.notices import turns_left
from rollbook_clients.terminal.rematch import RematchNews
from rollbook_clients.web.changes import ChangingPart
from rollbook_clients.web.effects import NO_EFFECT, effect_of
from rollbook_clients.web.log import ShownLog
from rollbook_clients.web.streams import BEAT_SECONDS
from rollbook_replays.games.seats import Seating
from rollbook_replays.games.words import Words

_log = structlog.get_logger()

IDLE_SECONDS: Final = 30.0
"""Time for which a match is still followed after its last viewer has left."""

LEFT_SECONDS: Final = 1.0
"""The same for a player whose stream has ended, so that the others see it; long enough to load the page again."""

LOOK_SECONDS: Final = 60.0
"""Largest age of the names on a page, as names can be removed from the service."""

DRIFT_MS: Final = 1_000
"""Largest error of a clock that a browser counts down by itself."""

GONE: Final = {"forfeited", "resigned"}
CHANGE_SUMMARY: Final = {"seat_taken", "seat_left", "ready", "started", "sealed", *GONE}


class FollowedMatch:
    """One match from one perspective."""

    def __init__(self, match: Match, *, public_only: bool) -> None:
        self.match = match
        self.public_only = public_only
        self.summary = MatchSummary()
        self.known: KnownGame | None = None
        self.own: int | None = None
        self.view: Any = None
        self.legal: Legal | None = None
        self.position: Position | None = None
        self.effect = NO_EFFECT
        """What the last event has done to the table."""
        self._clocks = TickingClocks()
        self._absences = AwayPlayers()
        self.away: dict[int, int] = {}
        """The full minutes for which players are away, by seat."""
        self._looked_at = 0.0
        self._is_stale = False
        """Whether the summary has to be requested once the events so far have arrived."""
        self._shown = self.summary
        self.is_away = False
        self.has_ended = False
        self.failed: RollbookError | None = None
        """The error because of which the match cannot be followed; None if there is none."""
        self.news = RematchNews()
        """The rematch of this match once it is over; at the table of a rematch, the answers to it."""
        self.film: Film | None = None
        """The whole match once it is over; None before, and if it has no places."""
        self.may_be_asked = False
        """Whether news of a rematch may still come."""
        self._following: asyncio.Task[None] | None = None
        self.version = 0
        """Incremented with every visible change."""
        self.watchers = 0
        self.parts: dict[str, ChangingPart] = {}
        """The rendered table by language."""
        self._events: list[Event] = []
        self._seatings: dict[str, Seating] = {}
        self._logs: dict[str, ShownLog] = {}
        """`_seatings` and `_logs` are caches by language, until the players change."""
        self._changed = asyncio.Event()
        self._is_ready = asyncio.Event()
        self._getting_ready: asyncio.Task[None] | None = None
        self._silence = asyncio.get_running_loop().call_later(BEAT_SECONDS, self._wake)
        self._task = asyncio.create_task(self._follow())

    async def ready(self) -> None:
        """Wait until there is something to show; raises the error if the match cannot be followed."""
        await self._is_ready.wait()
        if self.failed is not None and self.position is None:
            raise self.failed

    @property
    def changed(self) -> asyncio.Event:
        """An event, set at the next change or after 15 seconds without one; one timer serves all waiting requests."""
        return self._changed

    @property
    def is_over(self) -> bool:
        """Whether no more changes will come."""
        return self._task.done()

    async def close(self) -> None:
        """Stop following the match."""
        self._silence.cancel()
        tasks = [task for task in (self._task, self._getting_ready, self._following) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def seating(self, words: Words) -> Seating:
        """The names of the seats and the settings of the match, in this language."""
        seating = self._seatings.get(words.language)
        if seating is None:
            seating = self._seatings[words.language] = self._seating(words)
        return seating

    def _seating(self, words: Words) -> Seating:
        if self.known is not None:
            return self.known.seating(self.summary, self.own, words)
        return Seating(tuple(seat.name for seat in self.summary.seats), self.own, {}, words)

    def log(self, words: Words) -> Markup:
        """The log in this language as HTML, the newest event first."""
        log = self._logs.get(words.language)
        if log is None:
            log = self._logs[words.language] = ShownLog(self.match.id)
        return log.items(self._events, self.seating(words))

    def newest(self, words: Words) -> Markup:
        """The newest sentence of the log, as far as `log` has formatted it."""
        log = self._logs.get(words.language)
        return Markup() if log is None else log.newest

    @property
    def on_turn(self) -> int | None:
        """The seat whose turn it is; None if the match is not running or the view has no seat."""
        if self.summary.state != MATCH_STATE_RUNNING or self.has_ended:
            return None
        seat: int | None = getattr(self.view, "seat", None)
        return seat

    def leaving_reason(self, seat: int) -> str:
        """`forfeited` or `resigned` if the seat left the match early; empty if no event so far shows it."""
        return next((event.kind for event in self._events if event.kind in GONE and event.seat == seat), "")

    def turns_left(self, seat: int) -> int | None:
        """The number of turns in a row after which a bot plays for the seat; None if the last one did not time out."""
        return turns_left(self._events, seat)

    async def _follow(self) -> None:
        try:
            async with aclosing(self.match.watch(public_only=self.public_only, each_event=True)) as frames:
                async for frame in frames:
                    await self._take(frame)
                    if self.position is not None and isinstance(frame, CaughtUp | Ended):
                        if self._is_stale:
                            await self._look()
                        self._is_ready.set()
        except RollbookError as error:
            self.failed = error
        except Exception as error:  # noqa: BLE001 - a failure with one match must not affect others
            # Only the viewers of this match see the error.
            _log.exception("a match cannot be followed", match_id=self.match.id)
            self.failed = RollbookError(str(error))
        finally:
            self._is_ready.set()
            self._show()

    async def _take(self, frame: Frame) -> None:
        match frame:
            case Confirmed():
                self._see_as(frame.perspective)
            case Events():
                await self._take_events(frame)
            case Beat():
                if not await self._changed_by(frame):
                    return
            case Away():
                self._clocks.take(None)
                self.is_away = True
            case Back():
                self.is_away = False
            case Ended():
                self.has_ended = True
                await self._look()
                self._follow_rematch(self.match)
                await self._fetch_film()
            case _:
                return
        self._show()

    async def _changed_by(self, beat: Beat) -> bool:
        """Whether a heartbeat changes anything that browsers cannot compute themselves."""
        seats = range(len(self.summary.seats))
        expected, before = [self.left_ms(seat) for seat in seats], copy(self._clocks)
        await self.look_again(LOOK_SECONDS)
        self._clocks.take(beat.clocks, is_now=True)
        self._absences.take(beat.here)
        absent, self.away = self.away, self._absences.minutes()
        if self._shown != self.summary or self.away != absent:
            return True
        if all(_is_about(self.left_ms(seat), left) for seat, left in zip(seats, expected, strict=True)):
            # Keep the old clocks, so that small differences do not add up.
            self._clocks = before
            return False
        return True

    def left_ms(self, seat: int) -> int | None:
        """Milliseconds left for this seat; None while its clock does not run."""
        left = None if self.has_ended else self._clocks.time_left()
        return None if left is None or left[0] != seat else left[1] + left[2]

    def _see_as(self, perspective: Perspective) -> None:
        is_seat = perspective.kind == PERSPECTIVE_KIND_SEAT and not self.public_only
        self.own = perspective.seat if is_seat else None
        self._seatings.clear()

    async def _take_events(self, frame: Events) -> None:
        is_changed = bool(CHANGE_SUMMARY & {event.kind for event in frame.events})
        if self.known is None or (is_changed and self._is_ready.is_set()):
            await self._look()
        elif is_changed:
            self._is_stale = True
        # Update without waiting in between: requests that run meanwhile must see either the old or the new state.
        self._events += frame.events
        self.position, self.legal = frame.position, frame.legal
        before, self.view = self.view, None if self.known is None else self.known.view(frame.view)
        self.effect = effect_of(self.known, frame.events, before, self.view)
        self._clocks.take(frame.clocks)
        if self.own is not None and self.summary.state == MATCH_STATE_GETTING_READY:
            self._get_ready()
        if self.summary.state == MATCH_STATE_OPEN and self.summary.rematch_of:
            self._follow_rematch(self.match.other(self.summary.rematch_of))

    async def look_again(self, seconds: float = 1.0) -> None:
        """Refresh names and seats unless that happened in the last `seconds`; ignored while the service is away."""
        if time.monotonic() - self._looked_at > seconds and not self.is_away:
            with suppress(RollbookError):
                await self._look()

    async def _look(self) -> None:
        state = await self.match.state()
        self._is_stale = False
        self._looked_at = time.monotonic()
        if [seat.name for seat in self.summary.seats] != [seat.name for seat in state.summary.seats]:
            # What is rendered may contain names that were removed.
            self._logs.clear()
            self.parts.clear()
        self.summary = state.summary
        self.known = known_game(state.summary.game, state.summary.ruleset)
        self._seatings.clear()
        # The state may be ahead of the events that have arrived.
        self._clocks.compare(state.clocks)

    async def _fetch_film(self) -> None:
        """Fetch the finished match, for the places over time."""
        if self.summary.HasField("places"):
            with suppress(RollbookError, NotAReplay, NotShown):
                data = await self.match.replay(public_only=self.public_only)
                self.film = await asyncio.to_thread(lambda: Film(read(data).replay))

    def _follow_rematch(self, before: Match) -> None:
        """Follow the rematch of this match, for the players of the match before."""
        if self.own is not None and self._following is None and self.summary.state != MATCH_STATE_ABORTED:
            self.may_be_asked = True
            self._following = asyncio.create_task(self._hear(before))

    async def _hear(self, before: Match) -> None:
        with suppress(RollbookError):
            names = [seat.name for seat in (await before.state()).summary.seats]
            self.news = RematchNews(before, names)
            await self.news.follow(self._show)
        self.may_be_asked = False
        self._show()

    def _get_ready(self) -> None:
        """Reveal this seat's entropy as soon as all seats are taken."""
        if self._getting_ready is None and self.own is not None and not self.summary.seats[self.own].ready:
            self._getting_ready = asyncio.create_task(self._ready())

    async def _ready(self) -> None:
        with suppress(RollbookError):
            await self.match.ready()

    def _show(self) -> None:
        self.version += 1
        self._shown = self.summary
        if self.watchers:
            # At once, so that browsers receive each change by itself.
            for part in self.parts.values():
                part.update(self.version)
        self._wake()

    def _wake(self) -> None:
        self._silence.cancel()
        if not self.is_over or self.may_be_asked:
            self._silence = asyncio.get_running_loop().call_later(BEAT_SECONDS, self._wake)
        self._changed.set()
        self._changed = asyncio.Event()


def _is_about(left_ms: int | None, expected_ms: int | None) -> bool:
    if left_ms is None or expected_ms is None:
        return left_ms is expected_ms
    return abs(left_ms - expected_ms) < DRIFT_MS


class FollowedMatches:
    """All matches that are followed in this process."""

    def __init__(self) -> None:
        self._tails: dict[tuple[str, str], FollowedMatch] = {}
        self._closing: dict[tuple[str, str], asyncio.TimerHandle] = {}
        self._ends: set[asyncio.Task[None]] = set()

    def find(self, eyes: str, match_id: str) -> FollowedMatch | None:
        """The match from this perspective if it is already followed; None otherwise."""
        return self._tails.get((match_id, eyes))

    @asynccontextmanager
    async def following(
        self, eyes: str, match: Match, *, public_only: bool, idle_seconds: float = IDLE_SECONDS
    ) -> AsyncIterator[FollowedMatch]:
        """Follow the match from this perspective, and `idle_seconds` longer; yields it when it can be shown."""
        key = (match.id, eyes)
        tail = self._tails.get(key)
        if tail is None or tail.failed is not None:
            tail = self._tails[key] = FollowedMatch(match, public_only=public_only)
        tail.watchers += 1
        if (handle := self._closing.pop(key, None)) is not None:
            handle.cancel()
        try:
            await tail.ready()
            yield tail
        finally:
            tail.watchers -= 1
            if tail.watchers == 0:
                self._leave(key, tail, idle_seconds)

    async def close(self) -> None:
        """Stop following all matches."""
        for handle in self._closing.values():
            handle.cancel()
        await asyncio.gather(*(tail.close() for tail in self._tails.values()), *self._ends, return_exceptions=True)

    def _leave(self, key: tuple[str, str], tail: FollowedMatch, idle_seconds: float) -> None:
        if tail.failed is not None:
            self._forget(key, tail)
            return
        loop = asyncio.get_running_loop()
        self._closing[key] = loop.call_later(idle_seconds, self._forget, key, tail)

    def _forget(self, key: tuple[str, str], tail: FollowedMatch) -> None:
        self._closing.pop(key, None)
        if self._tails.get(key) is tail:
            del self._tails[key]
        end = asyncio.create_task(tail.close())
        self._ends.add(end)
        end.add_done_callback(self._ends.discard)
