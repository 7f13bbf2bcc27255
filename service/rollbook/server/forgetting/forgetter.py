"""Answers `rollbook forget` in every process: keeps only names that store and archive still have.

The command erases names where they are kept, calls all processes, and waits. A called process clears its caches, waits
for its own appends and files that may carry older names, updates its index from the archive, erases traces of removed
rows, and answers. Then the command checks again.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import structlog

from rollbook.server.lobby.finished_matches import Finished
from rollbook.server.lobby.lobby import StoredLobby
from rollbook.server.loops import BackgroundLoop
from rollbook.storage.port import StoreUnavailable
from rollbook.storage.redis.roll_call import RollCall

ANSWER_SECONDS: Final = 2.0
"""How often a process checks for a call."""

LAST_WORD_SECONDS: Final = 1.0

_logger = structlog.get_logger()


class Forgetter:
    """Forgets names when called."""

    def __init__(self, roll: RollCall, lobby: StoredLobby, finished: Finished, failed: Callable[[str], None]) -> None:
        """Answer calls for the process with this lobby and these archived matches."""
        self._roll = roll
        self._lobby = lobby
        self._finished = finished
        self._process = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._done = 0
        """The last call that was carried out. A new process begins with 0, because its index may be older than any
        call."""
        self.loop = BackgroundLoop("forgetter", self.look, failed, ANSWER_SECONDS)

    async def look(self) -> None:
        """Answer, and carry out a new call."""
        called = await self._roll.answer(self._process, self._done)
        if called == self._done:
            return
        forgetting = asyncio.create_task(self._forget())
        try:
            # Keep answering while the work takes, so that the process does not count as gone.
            while not (await asyncio.wait({forgetting}, timeout=ANSWER_SECONDS))[0]:
                await self._roll.answer(self._process, self._done)
        finally:
            forgetting.cancel()
            await asyncio.wait({forgetting})
        forgetting.result()
        self._done = called
        await self._roll.answer(self._process, self._done)

    async def close(self) -> None:
        """Stop answering."""
        await self.loop.close()
        with suppress(StoreUnavailable, TimeoutError):
            async with asyncio.timeout(LAST_WORD_SECONDS):
                await self._roll.leave(self._process)

    async def _forget(self) -> None:
        await self._lobby.forget()
        await self._finished.forget()
        _logger.info("names were forgotten")
