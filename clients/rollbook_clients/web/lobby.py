"""The lobby: open and running matches, followed once for all browsers."""

from __future__ import annotations

import asyncio
import time  # noqa: TID251 - finished matches are cached for a while
from contextlib import aclosing, suppress
from contextvars import Context
from typing import Final

import structlog

from rollbook.v1.match_pb2 import MATCH_STATE_FINISHED, MATCH_STATE_OPEN, MatchSummary
from rollbook_clients.sdk import Lobby, RollbookError, Table
from rollbook_clients.web.changes import ChangingPart

_log = structlog.get_logger()

AGAIN_SECONDS: Final = 1.0
OVER_SECONDS: Final = 5.0
OVER_SHOWN: Final = 8
SHOWN: Final = 200
"""Most matches on the lobby's page."""


class LobbyTail:
    """The public lobby, updated by a task."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.lobby = Lobby((), is_away=True)
        self.version = 0
        self.parts: dict[str, ChangingPart] = {}
        """The rendered list by language."""
        self._over: list[MatchSummary] = []
        self._over_at = float("-inf")
        self._changed = asyncio.Event()
        # An empty context: otherwise the calls would carry the address of the first visitor.
        self._task = asyncio.create_task(self._follow(), context=Context())

    @property
    def matches(self) -> list[MatchSummary]:
        """The matches to show: open ones first, then running ones, each group newest first."""
        ordered = sorted(self.lobby.matches, key=lambda match: (match.state != MATCH_STATE_OPEN, -match.opened_ms))
        return ordered[:SHOWN]

    async def over(self) -> list[MatchSummary]:
        """Matches that ended recently; the previous list if the service cannot be reached."""
        if time.monotonic() - self._over_at > OVER_SECONDS:
            self._over_at = time.monotonic()
            over: list[MatchSummary] = []
            with suppress(RollbookError):
                async for summary in self._table.matches(state=MATCH_STATE_FINISHED):
                    over.append(summary)
                    if len(over) == OVER_SHOWN:
                        break
                self._over = over
        return self._over

    async def beyond(self, version: int) -> None:
        """Wait until the lobby is newer than this version."""
        while self.version <= version:
            await self._changed.wait()

    async def close(self) -> None:
        """Stop following the lobby."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _follow(self) -> None:
        while True:
            try:
                async with aclosing(self._table.lobby()) as lobbies:
                    async for lobby in lobbies:
                        if not _names(self.lobby) <= _names(lobby):
                            # What is rendered may contain names that were removed.
                            self.parts.clear()
                        self.lobby = lobby
                        self.version += 1
                        self._changed.set()
                        self._changed = asyncio.Event()
            except RollbookError as error:
                _log.warning("the lobby cannot be followed", why=str(error))
            except Exception:  # noqa: BLE001 - one failure must not stop the lobby
                _log.exception("the lobby cannot be followed")
            await asyncio.sleep(AGAIN_SECONDS)


def _names(lobby: Lobby) -> set[str]:
    return {seat.name for match in lobby.matches for seat in match.seats}
