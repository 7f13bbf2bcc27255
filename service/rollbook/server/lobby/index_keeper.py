"""Keeps the store's index like its lobby: made where it is not whole, and compared with the lobby again and again.

Whoever sweeps does so. What an append could not bring into the index, and what a hand or a fault has put out of place,
is found within a minute and mended; until then it costs a line in a list, or a look too late.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Final

import structlog

from rollbook.server.lobby.lobby import StoredLobby
from rollbook.storage.port import Log

ROUND_SECONDS: Final = 60
"""How long it takes to compare everything once, at one slice a second."""

_logger = structlog.get_logger()


class IndexKeeper:
    """Makes and mends the index of a store."""

    def __init__(self, log: Log, lobby: StoredLobby) -> None:
        """Keep that of this log, which lists this lobby."""
        self._log = log
        self._lobby = lobby
        self._next = 0
        """The part that is compared next."""

    async def settle(self) -> bool:
        """Make the index if it is not whole; whether it was not."""
        if await self._log.has_index():
            return False
        count = await self.make()
        _logger.info("made the index of the lobby", matches=count)
        return True

    async def make(self) -> int:
        """Let the index say of all parts what follows from the lobby, and say that it is whole; what was not so."""
        count = 0
        for part in range(self._log.parts):
            count += await self._lobby.mend(part)
            await asyncio.sleep(0)
        await self._log.mark_index(whole=True)
        return count

    async def mend_a_slice(self) -> int:
        """Compare the next parts of the lobby with the index and mend what is wrong; of how many matches."""
        count = 0
        for _ in range(-(-self._log.parts // ROUND_SECONDS)):
            count += await self._lobby.mend(self._next)
            self._next = (self._next + 1) % self._log.parts
        if count:
            _logger.warning("mended the index of the lobby", matches=count)
        return count

    async def check(self) -> list[str]:
        """The matches that are not indexed as the lobby lists them."""
        return [match_id for part in range(self._log.parts) for match_id in await self._lobby.differing(part)]

    async def archived(self, match_ids: Collection[str]) -> set[str]:
        """Those of these matches that are archived: not in the lobby, and only the head of their log is left."""
        listed, lengths = await self._log.summaries(list(match_ids)), await self._log.lengths(list(match_ids))
        left = [match_id for match_id in match_ids if match_id not in listed and not lengths.get(match_id, 1)]
        return {match_id for match_id in left if await self._log.head(match_id)}
