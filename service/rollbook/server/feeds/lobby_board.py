"""The lobby, looked at once a second for everybody who watches it.

What the public may see of a match is found out once for all; only of a match with a delay do those who sit at it, or
judge it, see more. A match whose entry in the lobby has not changed is not read again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from rollbook.identity.tokens import OWN_ISSUER, Role, Subject
from rollbook.server.access import Players, Sights, judges
from rollbook.server.lobby import ListedMatch, StoredLobby
from rollbook.v1.match_pb2 import MatchSummary

_ANYBODY: Final = Subject(OWN_ISSUER, "", Role.PLAYER, (), "", 0)
"""Sees what everybody sees: no token has an empty sub."""


class Board:
    """All public matches that are open or running, as of the last look."""

    def __init__(self, lobby: StoredLobby, sights: Sights, players: Players, seconds: float) -> None:
        """Look at this lobby so often, as long as somebody watches."""
        self._lobby = lobby
        self._sights = sights
        self._players = players
        self._seconds = seconds
        self._watchers = 0
        self._looking: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()
        self._begun = 0
        self._last_done = 0
        self._looked = asyncio.Event()
        self._failure: Exception | None = None
        self._shown: dict[str, tuple[ListedMatch, MatchSummary | None]] = {}
        """By match id what the lobby lists, and what of it the public may see."""

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Let it be looked at from now on."""
        self._watchers += 1
        try:
            await self._look()
            if self._looking is None or self._looking.done():
                self._failure = None
                self._looking = asyncio.create_task(self._look_again_and_again())
            yield
        finally:
            self._watchers -= 1

    async def next_look(self) -> None:
        """Wait for it; raises what keeps the lobby from being looked at."""
        if self._failure is None:
            await self._looked.wait()
        if self._failure is not None:
            raise self._failure

    def wake(self) -> None:
        """Let everybody who waits for the next look go on without it."""
        looked, self._looked = self._looked, asyncio.Event()
        looked.set()

    async def close(self) -> None:
        """Look no more."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)

    async def seen_by(self, caller: Subject, game: str) -> dict[str, MatchSummary]:
        """By match id, those opened last first: what the caller may see of the matches of a game, or of all games."""
        seen = {}
        for match_id, (listed, shown) in self._shown.items():
            if game not in {"", listed.summary.game}:
                continue
            sees_more = listed.summary.spectator_delay_seconds and self._is_inside(caller, listed)
            summary = await self._sights.summary(caller, listed.summary) if sees_more else shown
            if summary is not None:
                seen[match_id] = summary
        return seen

    def _is_inside(self, caller: Subject, listed: ListedMatch) -> bool:
        match_id = listed.summary.match_id
        return self._players.reference(caller, match_id) in listed.players or judges(caller, match_id)

    async def _look(self) -> None:
        """Of many who want to know at once, one looks for all who were there before."""
        begun_before = self._begun
        async with self._lock:
            if self._last_done <= begun_before:
                self._begun += 1
                self._shown = await self._public()
                self._last_done = self._begun

    async def _look_again_and_again(self) -> None:
        while self._watchers:
            await asyncio.sleep(self._seconds)
            try:
                await self._look()
            except Exception as failure:  # noqa: BLE001 - whoever watches is told of it
                self._failure = failure
                self.wake()
                return
            self.wake()

    async def _public(self) -> dict[str, tuple[ListedMatch, MatchSummary | None]]:
        found: dict[str, tuple[ListedMatch, MatchSummary | None]] = {}
        for listed in await self._lobby.listed():
            match_id = listed.summary.match_id
            if listed.summary.is_private:
                continue
            known = self._shown.get(match_id)
            if known is None or known[0] is not listed or listed.summary.spectator_delay_seconds:
                known = listed, await self._sights.summary(_ANYBODY, listed.summary)
            found[match_id] = known
        return found
