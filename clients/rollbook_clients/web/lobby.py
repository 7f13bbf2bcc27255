"""The lobby: which matches are open or running, followed once for all browsers."""

from __future__ import annotations

import asyncio
import time  # noqa: TID251 - what is over is not asked for again at once
from contextlib import aclosing, suppress
from contextvars import Context
from typing import Final

import structlog

from rollbook.v1.match_pb2 import MATCH_STATE_FINISHED, MATCH_STATE_OPEN, MatchSummary
from rollbook_clients.sdk import Lobby, RollbookError, Table

_log = structlog.get_logger()

AGAIN_SECONDS: Final = 1.0
OVER_SECONDS: Final = 5.0
OVER_SHOWN: Final = 8
SHOWN: Final = 200
"""Matches on the page of the lobby."""


class LobbyTail:
    """The public lobby as it is now."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.lobby = Lobby((), is_away=True)
        self.version = 0
        self._over: list[MatchSummary] = []
        self._over_at = float("-inf")
        self._changed = asyncio.Event()
        # On behalf of all visitors: the address of the first one must not be counted for it.
        self._task = asyncio.create_task(self._follow(), context=Context())

    @property
    def matches(self) -> list[MatchSummary]:
        """Open ones first, each the newest first, as many as are shown."""
        ordered = sorted(self.lobby.matches, key=lambda match: (match.state != MATCH_STATE_OPEN, -match.opened_ms))
        return ordered[:SHOWN]

    async def over(self) -> list[MatchSummary]:
        """Matches that have ended lately, without saying how; none if the service cannot say."""
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
