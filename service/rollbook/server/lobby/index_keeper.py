"""Keeps the store's index consistent with the lobby: builds it if incomplete, and compares it periodically.

The process that sweeps does this. Errors, from appends without the index or from manual changes, are found and repaired
within a minute. Until then a list may miss a match, or a timer run late.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Final

import structlog

from rollbook.server.lobby.lobby import StoredLobby
from rollbook.storage.port import EventLog, IndexedLobby

ROUND_SECONDS: Final = 60
"""How long one comparison of the whole index takes, at one slice a second."""

_logger = structlog.get_logger()


class IndexKeeper:
    """Builds and repairs the index of a store."""

    def __init__(self, log: EventLog, store: IndexedLobby, lobby: StoredLobby) -> None:
        self._log = log
        self._store = store
        self._lobby = lobby
        self._next = 0
        """The next part to compare."""
        self._owed = ROUND_SECONDS - 1
        """What is to be compared, in parts of the lobby divided by ROUND_SECONDS."""

    async def settle(self) -> bool:
        """Build the index if it is incomplete; returns whether it was."""
        if await self._store.has_index():
            return False
        count = await self.make()
        _logger.info("made the index of the lobby", matches=count)
        return True

    async def make(self) -> int:
        """Rebuild all parts from the lobby and mark the index as complete; returns how many matches were wrong."""
        count = 0
        for part in range(self._store.parts):
            count += await self._lobby.mend(part)
            await asyncio.sleep(0)
        await self._store.mark_index(whole=True)
        return count

    async def mend_a_slice(self) -> int:
        """Compare the next parts with the lobby and repair them; returns how many matches were wrong."""
        count = 0
        many, self._owed = divmod(self._owed + self._store.parts, ROUND_SECONDS)
        for _ in range(many):
            count += await self._lobby.mend(self._next)
            self._next = (self._next + 1) % self._store.parts
        if count:
            _logger.warning("mended the index of the lobby", matches=count)
        return count

    async def check(self) -> list[str]:
        """The matches whose index entries differ from the lobby."""
        return [match_id for part in range(self._store.parts) for match_id in await self._lobby.differing(part)]

    async def find_archived(self, match_ids: Collection[str]) -> set[str]:
        """The archived ones among these matches: not in the lobby, and only the head of the log is left."""
        listed, lengths = await self._store.summaries(list(match_ids)), await self._store.lengths(list(match_ids))
        left = [match_id for match_id in match_ids if match_id not in listed and not lengths.get(match_id, 1)]
        return {match_id for match_id in left if await self._log.head(match_id)}
