"""The lobby: which matches are open or running, followed once for all browsers."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Final

import structlog

from rollbook.v1.match_pb2 import MATCH_STATE_OPEN, MatchSummary
from rollbook_clients.sdk import Lobby, RollbookError, Table

_log = structlog.get_logger()

AGAIN_SECONDS: Final = 1.0
SHOWN: Final = 200
"""Matches on the page of the lobby."""


class LobbyTail:
    """The public lobby as it is now."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.lobby = Lobby((), is_away=True)
        self.version = 0
        self._changed = asyncio.Event()
        self._task = asyncio.create_task(self._follow())

    @property
    def matches(self) -> list[MatchSummary]:
        """Open ones first, each the newest first, as many as are shown."""
        ordered = sorted(self.lobby.matches, key=lambda match: (match.state != MATCH_STATE_OPEN, -match.opened_ms))
        return ordered[:SHOWN]

    async def beyond(self, version: int) -> None:
        """Wait until it has changed."""
        while self.version <= version:
            await self._changed.wait()

    async def close(self) -> None:
        """Follow it no more."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _follow(self) -> None:
        while True:
            try:
                async with aclosing(self._table.lobby()) as lobbies:
                    async for lobby in lobbies:
                        self.lobby = lobby
                        self.version += 1
                        self._changed.set()
                        self._changed = asyncio.Event()
            except RollbookError as error:
                _log.warning("the lobby cannot be followed", why=str(error))
            except Exception:  # noqa: BLE001 - the lobby outlives whatever happens in it
                _log.exception("the lobby cannot be followed")
            await asyncio.sleep(AGAIN_SECONDS)
