"""The tables that the lobby shows live: a few matches, each followed once for all visitors, as the public sees it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from contextvars import Context
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import Final

import structlog

from rollbook.v1.match_pb2 import MATCH_STATE_RUNNING, MatchSummary
from rollbook_clients.sdk import RollbookError, Table
from rollbook_clients.web.changes import ChangingPart
from rollbook_clients.web.followed import FollowedMatch, FollowedMatches
from rollbook_clients.web.lobby import LobbyTail
from rollbook_clients.web.surface import score_of
from rollbook_clients.web.words import words_in

_log = structlog.get_logger()

MOST: Final = 24
"""Most matches that a process follows for the lobby, and most rows of it."""

PERIOD_SECONDS: Final = 2.0
"""Least time between two looks at a match."""

IDLE_SECONDS: Final = 30.0
"""Time for which the tables are still followed after the last visitor has left the lobby."""

FIRST_SECONDS: Final = 1.0
"""Longest wait for the first look at the tables, when a page is requested."""

PUBLIC: Final = "public"


@dataclass(frozen=True, slots=True)
class TableLook:
    """What the lobby shows of a running match, in all languages."""

    thumb: str
    """The small drawing as SVG; empty for a game without one."""
    scores: tuple[str, ...]
    """By seat; empty without a score."""
    on_turn: int | None
    watchers: int


def is_among_people(match: MatchSummary) -> bool:
    """Whether no bot of the house sits in the match."""
    return not any(seat.is_house for seat in match.seats)


def mix(matches: Iterable[MatchSummary], most: int = MOST) -> list[MatchSummary]:
    """Up to `most` of the matches, of every game as many: first those among people, then the newest."""
    by_game: dict[str, list[MatchSummary]] = {}
    for match in sorted(matches, key=lambda match: (not is_among_people(match), -match.opened_ms)):
        by_game.setdefault(match.game, []).append(match)
    mixed = [match for several in zip_longest(*by_game.values()) for match in several if match is not None]
    return mixed[:most]


class LiveTables:
    """The running matches that the lobby shows, followed while a visitor is there."""

    def __init__(self, tail: LobbyTail, tails: FollowedMatches, table: Table) -> None:
        self.tail = tail
        self._tails = tails
        self._table = table
        self.looks: dict[str, TableLook] = {}
        """The newest look at each match, by id; updated every two seconds at most."""
        self.parts: dict[tuple[str, str, bool], ChangingPart] = {}
        """The rendered lists by language, game and whether only people play."""
        self.version = 0
        """Increases when the list of matches or a look has changed."""
        self._followed: dict[str, FollowedMatch] = {}
        self._watches: dict[str, asyncio.Task[None]] = {}
        self._seen: dict[str, tuple[int, int]] = {}
        self._viewers = 0
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def changed(self) -> asyncio.Event:
        """An event, set when the list of matches or a look has changed."""
        return self._changed

    @asynccontextmanager
    async def viewing(self) -> AsyncIterator[None]:
        """Follow the tables within the context; waits a moment for the first looks."""
        self._viewers += 1
        if self._task is None or self._task.done():
            self._choose()
            # An empty context: otherwise the calls would carry the address of the first visitor.
            self._task = asyncio.create_task(self._follow(), context=Context())
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(FIRST_SECONDS):
                    while self._watches.keys() - self.looks.keys():
                        await self._changed.wait()
            yield
        finally:
            self._viewers -= 1

    async def close(self) -> None:
        """Stop following the tables."""
        tasks = [task for task in (self._task, *self._watches.values()) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _follow(self) -> None:
        now = asyncio.get_running_loop().time
        seen, next_look, used_at, minute = self.tail.version, now(), now(), 0
        while now() - used_at < IDLE_SECONDS:
            used_at = now() if self._viewers else used_at
            with suppress(TimeoutError):
                async with asyncio.timeout_at(next_look):
                    await self.tail.beyond(seen)
            if self.tail.version != seen:
                seen = self.tail.version
                self._choose()
                self._wake()
            if now() >= next_look:
                next_look = now() + PERIOD_SECONDS
                self._choose()
                looks = [self._look_at(match_id) for match_id in list(self._followed)]
                minute, before = int(now() // 60), minute
                if any(looks) or minute != before:
                    self._wake()
        for task in self._watches.values():
            task.cancel()

    def _choose(self) -> None:
        """Begin to follow matches that are new in the list, and stop following those that left it."""
        running = [match for match in self.tail.lobby.matches if match.state == MATCH_STATE_RUNNING]
        wanted = {match.match_id for match in mix(running)}
        for match_id in self._watches.keys() - wanted:
            self._watches[match_id].cancel()
        for match_id in wanted - self._watches.keys():
            task = self._watches[match_id] = asyncio.create_task(self._watch(match_id), context=Context())
            task.add_done_callback(partial(self._forget, match_id))

    async def _watch(self, match_id: str) -> None:
        with suppress(RollbookError):
            match = self._table.match(match_id)
            async with self._tails.following(PUBLIC, match, public_only=True) as followed:
                self._followed[match_id] = followed
                self._look_at(match_id)
                self._wake()
                while not followed.is_over:
                    await followed.changed.wait()

    def _forget(self, match_id: str, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("a table of the lobby cannot be followed", match_id=match_id, why=str(error))
        for kept in (self._watches, self._followed, self._seen, self.looks):
            kept.pop(match_id, None)

    def _look_at(self, match_id: str) -> bool:
        """Look at a match again if it has changed; returns whether the look is another one."""
        followed = self._followed[match_id]
        if self._seen.get(match_id) == (followed.version, followed.watchers):
            return False
        self._seen[match_id] = followed.version, followed.watchers
        look, before = _look(followed), self.looks.get(match_id)
        self.looks[match_id] = look
        return look != before

    def _wake(self) -> None:
        self.version += 1
        self._changed.set()
        self._changed = asyncio.Event()


def _look(followed: FollowedMatch) -> TableLook:
    seating, known = followed.seating(words_in("en")), followed.known
    scores = [score_of(known, followed.view, seat, seating)[0] for seat in range(len(followed.summary.seats))]
    thumb = known.shown.thumb if known is not None else None
    drawn = "" if thumb is None or followed.view is None else thumb.draw(followed.view, f"thumb-{followed.match.id}")
    return TableLook(drawn, tuple(scores), followed.on_turn, followed.watchers - 1)
