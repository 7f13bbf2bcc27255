"""The lobby board: reads the lobby once a second for all its watchers.

A look reads what has changed: announced matches, and delayed matches of which the public may see more by now. It also
compares one part of the lobby, a different one each time, so that unannounced changes are found. The public view of a
match is computed once for all watchers; only in a delayed match do its players and judges see more. A watcher who asks
for it also sees private matches with a seat of its own, and rematches that ask it. The result of a match that has left
the lobby is also read once.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import AsyncIterator, Callable, Container, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from math import ceil
from typing import Final

from cachetools import LRUCache

from rollbook.identity.tokens import OWN_ISSUER, Role, Subject
from rollbook.server.access.limits import LOBBY_ROWS_A_POINT, no_budget, owe
from rollbook.server.access.players import Players
from rollbook.server.failures import BROKEN, MatchUnknown
from rollbook.server.lobby.listed_match import ListedMatch
from rollbook.server.lobby.lobby import StoredLobby
from rollbook.server.lobby.match_access import Sights, judges
from rollbook.server.lobby.rematches import KEPT_SECONDS, Rematches, asking
from rollbook.server.slices import Slices
from rollbook.storage.archive.port import ArchiveUnavailable
from rollbook.storage.port import Announcement, EventLog, LobbyStore, StoreUnavailable
from rollbook.v1.match_pb2 import MATCH_STATE_OPEN, MatchSummary

COMPARING_LOOKS: Final = 30
"""How many looks compare the whole lobby once."""

HURRIED_LOOKS: Final = 8
"""The same after announcements may have been missed."""

MOST_LOOKS: Final = 60
"""Looks whose changes are kept for slow watchers; a watcher further behind examines everything."""

MOST_GONE: Final = 1_000
MOST_OVER: Final = 10_000

PARTS_AT_ONCE: Final = 16
MATCHES_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True)
class LobbyFilter:
    """Who watches the lobby, and which of its matches."""

    caller: Subject
    game: str = ""
    """Empty: all games."""
    mine: bool = False
    """Whether also the caller's private matches, and which rematches ask the caller."""


_ANYBODY: Final = Subject(OWN_ISSUER, "", Role.PLAYER, (), "", 0)
"""Has the public view: no token has an empty sub."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """A match in the lobby."""

    stored: bytes
    """The bytes in the store."""
    listed: ListedMatch
    public: MatchSummary | None
    """The public view; None if the match is private."""


class Board:
    """All open and running public matches, as of the last look."""

    def __init__(  # noqa: PLR0913, PLR0917 - the parts, the pace and the clock
        self,
        log: EventLog,
        store: LobbyStore,
        lobby: StoredLobby,
        sights: Sights,
        players: Players,
        rematches: Rematches,
        *,
        seconds: float,
        clock_ms: Callable[[], int],
    ) -> None:
        """Read this lobby every `seconds`, while there are watchers."""
        self._log = log
        self._store = store
        self._lobby = lobby
        self._sights = sights
        self._players = players
        self._rematches = rematches
        self._seconds = seconds
        self._clock_ms = clock_ms
        self._watchers = 0
        self._tasks: list[asyncio.Task[None]] = []
        self._lock = asyncio.Lock()
        self._begun = 0
        self._last_done = 0
        self._looked = asyncio.Event()
        self._failure: Exception | None = None
        self._age = lobby.uses.age
        self._shown: dict[str, _Shown] = {}
        self._over: LRUCache[str, bytes] = LRUCache(MOST_OVER)
        """Lobby entries of finished matches that are no longer shown and wait for the archive."""
        self._gone: LRUCache[str, ListedMatch] = LRUCache(MOST_GONE)
        self._announced: dict[str, bool] = {}
        """Announced matches, and whether the lobby entry is unchanged, because a player has declined a rematch."""
        self._due: list[tuple[int, str]] = []
        """When the public may see more of a delayed match, or the seats of a rematch are no longer kept."""
        self._next_part = 0
        self._hurries = False
        """Whether this round of comparing is fast, because announcements may have been missed."""
        self._unseen: dict[str, None] = {}
        """Shown matches that were not found in this round yet."""
        self._changes: deque[list[str]] = deque(maxlen=MOST_LOOKS)
        """The changes found by each of the last looks."""
        self.looks = 0
        """The number of looks so far."""

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[None]:
        """Keep the board current within this context."""
        self._watchers += 1
        try:
            if not self._tasks or any(task.done() or task.cancelling() for task in self._tasks):
                self._rest()
                self._failure = None
                work = self._look_again_and_again, self._listen
                self._tasks = [asyncio.create_task(each(), context=no_budget()) for each in work]
            await self._look_at_all()
            yield
        finally:
            self._watchers -= 1
            if not self._watchers:
                self._rest()

    @property
    def watchers(self) -> int:
        """The number of watchers."""
        return self._watchers

    async def next_look(self) -> None:
        """Wait for the next look; raises the failure that ended the looks."""
        if self._failure is None:
            await self._looked.wait()
        if self._failure is not None:
            raise self._failure

    def wake(self) -> None:
        """Wake all watchers before the next look."""
        looked, self._looked = self._looked, asyncio.Event()
        looked.set()

    async def close(self) -> None:
        """Stop looking."""
        tasks = self._tasks
        self._rest()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def seen_by(self, wanted: LobbyFilter) -> dict[str, MatchSummary]:
        """The wanted matches as the caller may see them, by id, most recently opened first."""
        ordered, slices = sorted(self._shown.items(), key=lambda each: each[1].listed.place, reverse=True), Slices()
        owe(len(ordered) / LOBBY_ROWS_A_POINT)
        seen: dict[str, MatchSummary] = {}
        for match_id, _ in ordered:
            if (summary := await self.seen_of(match_id, wanted)) is not None:
                seen[match_id] = summary
            if slices.is_over:
                await slices.rest()
        return seen

    async def seen_of(self, match_id: str, wanted: LobbyFilter) -> MatchSummary | None:
        """A match as the caller may see it; None if it is not shown or not wanted."""
        shown, caller = self._shown.get(match_id), wanted.caller
        if shown is None or wanted.game not in {"", shown.listed.summary.game}:
            return None
        listed = shown.listed
        summary = listed.summary
        if wanted.mine and await self._rematches.asks(caller, listed):
            seen = await self._sights.summary(caller, summary)
            return None if seen is None else asking(seen)
        if summary.is_private:
            is_own = wanted.mine and self._sits(caller, listed)
            return await self._sights.summary(caller, summary) if is_own else None
        if summary.spectator_delay_seconds and (self._sits(caller, listed) or judges(caller, match_id)):
            return await self._sights.summary(caller, summary)
        return shown.public

    def find_gone(self, match_id: str, caller: Subject) -> MatchSummary | None:
        """The final summary of a match that has left the lobby; None if it is unknown or not for the caller."""
        listed = self._gone.get(match_id)
        if listed is None or (listed.summary.is_private and not self._sits(caller, listed)):
            return None
        return listed.summary

    def changed_since(self, looks: int) -> Iterable[str]:
        """The matches that may have changed since the board had made `looks` looks."""
        missed = self.looks - looks
        if missed > len(self._changes):
            return [*self._shown, *self._gone]
        recent = [self._changes[number] for number in range(len(self._changes) - missed, len(self._changes))]
        return dict.fromkeys(match_id for found in recent for match_id in found)

    def _sits(self, caller: Subject, listed: ListedMatch) -> bool:
        return self._players.reference(caller, listed.summary.match_id) in listed.players

    # Looking

    def _rest(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def _look_at_all(self) -> None:
        """Read the whole lobby; concurrent callers share one read that begins after their calls."""
        begun_before = self._begun
        async with self._lock:
            if self._last_done <= begun_before:
                self._begun += 1
                await self._look(self._store.parts)
                self._last_done = self._begun

    async def _look_again_and_again(self) -> None:
        while True:
            await asyncio.sleep(self._seconds)
            try:
                async with self._lock:
                    await self._look(ceil(self._store.parts / (HURRIED_LOOKS if self._hurries else COMPARING_LOOKS)))
            except Exception as failure:  # noqa: BLE001 - watchers receive the failure
                self._failure = failure
                self._rest()
                return
            finally:
                self.wake()

    async def _listen(self) -> None:
        """Collect announcements of lifecycle events."""
        while True:
            with suppress(StoreUnavailable):
                await self._log.listen(self._on_announcement, self._hurry)
            await asyncio.sleep(self._seconds)

    def _on_announcement(self, announced: Announcement) -> None:
        if announced.is_lifecycle:
            beside = self._announced.get(announced.match_id, False)
            self._announced[announced.match_id] = beside or not announced.head

    def _hurry(self) -> None:
        self._next_part, self._hurries = 0, True

    async def _look(self, parts: int) -> None:
        """Find changes, and compare the next `parts` parts of the lobby with what is shown."""
        if self._age != self._lobby.uses.age:
            # Names were erased that the shown matches still have.
            self._age = self._lobby.uses.age
            self._shown.clear()
            self._gone.clear()
            parts = self._store.parts
        if parts == self._store.parts:
            self._next_part = 0
        now_ms = self._clock_ms()
        due: dict[str, None] = {}
        while self._due and self._due[0][0] <= now_ms:
            due[heapq.heappop(self._due)[1]] = None
        announced, self._announced = self._announced, {}
        due.update((match_id, None) for match_id, beside in announced.items() if beside)
        ids = dict.fromkeys((*announced, *due, *await self._differing(parts)))
        self._changes.append(await self._refresh(list(ids), due))
        self.looks += 1

    async def _differing(self, parts: int) -> list[str]:
        """The matches of the next parts whose lobby entries changed; at the end of a round also those that are gone."""
        if not self._next_part:
            self._unseen = dict.fromkeys(self._shown)
        last = min(self._next_part + parts, self._store.parts)
        found, slices = list[str](), Slices()
        for first in range(self._next_part, last, PARTS_AT_ONCE):
            stored = await self._store.lobby_parts(range(first, min(first + PARTS_AT_ONCE, last)))
            for match_id, data in stored.items():
                self._unseen.pop(match_id, None)
                shown = self._shown.get(match_id)
                if data != (self._over.get(match_id) if shown is None else shown.stored):
                    found.append(match_id)
            if slices.is_over:
                await slices.rest()
        self._next_part = last
        if last == self._store.parts:
            found += self._unseen
            self._next_part, self._hurries = 0, False
        return found

    async def _refresh(self, match_ids: Sequence[str], due: Container[str]) -> list[str]:
        """Read the lobby entries of these matches; returns those that are new, changed or in `due`."""
        changed, slices = list[str](), Slices()
        for first in range(0, len(match_ids), MATCHES_AT_ONCE):
            some = match_ids[first : first + MATCHES_AT_ONCE]
            stored = await self._store.summaries(some)
            entries = await self._lobby.read(stored)
            for match_id in some:
                before, listed = self._shown.get(match_id), entries.get(match_id)
                if listed is None or listed.is_over:
                    if before is not None:
                        await self._take_out(match_id, listed)
                        changed.append(match_id)
                    if listed is not None:
                        self._over[match_id] = stored[match_id]
                elif before is None or before.stored != stored[match_id] or match_id in due:
                    await self._show(match_id, stored[match_id], listed)
                    changed.append(match_id)
                if slices.is_over:
                    await slices.rest()
        return changed

    async def _show(self, match_id: str, stored: bytes, listed: ListedMatch) -> None:
        summary = listed.summary
        seen = None if summary.is_private else await self._sights.summary(_ANYBODY, summary)
        self._shown[match_id] = _Shown(stored, listed, seen)
        delayed_ms = summary.changed_ms + summary.spectator_delay_seconds * 1_000
        kept_ms = summary.opened_ms + KEPT_SECONDS * 1_000 if listed.asked and summary.state == MATCH_STATE_OPEN else 0
        for due_ms in (delayed_ms, kept_ms):
            if due_ms > self._clock_ms():
                heapq.heappush(self._due, (due_ms, match_id))

    async def _take_out(self, match_id: str, listed: ListedMatch | None) -> None:
        """Stop showing a match; its result is read from the lobby, or else from its log."""
        shown = self._shown.pop(match_id)
        if listed is not None:
            self._gone[match_id] = listed
        elif not shown.listed.summary.is_private:
            with suppress(MatchUnknown, ArchiveUnavailable, *BROKEN):
                ended = (await self._sights.looked_at(_ANYBODY, match_id)).summary
                self._gone[match_id] = ListedMatch(ended, b"", ())
