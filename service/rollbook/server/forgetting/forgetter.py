"""What `rollbook forget` asks of every process: to know no names any more but those that store and archive still have.

The command erases names where they are kept, calls all processes, and waits. A process that hears the call lets go of
what it remembers, waits for its own appends and files that may carry older names, brings its index up to the archive,
leaves no trace of what was in there, and answers. Only then the command looks again.
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
"""How often a process looks whether there is something to forget."""

LAST_WORD_SECONDS: Final = 1.0

_logger = structlog.get_logger()


class Forgetter:
    """Forgets when it is called to."""

    def __init__(self, roll: RollCall, lobby: StoredLobby, finished: Finished, failed: Callable[[str], None]) -> None:
        """Answer this roll for the process that has this lobby and these finished matches."""
        self._roll = roll
        self._lobby = lobby
        self._finished = finished
        self._process = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._done = 0
        """The last call that was obeyed. The index may be older than any, so a new process begins with none."""
        self.loop = BackgroundLoop("forgetter", self.look, failed, ANSWER_SECONDS)

    async def look(self) -> None:
        """Answer, and obey a call that is new."""
        called = await self._roll.answer(self._process, self._done)
        if called == self._done:
            return
        forgetting = asyncio.create_task(self._forget())
        try:
            # However long it takes, the process is there.
            while not (await asyncio.wait({forgetting}, timeout=ANSWER_SECONDS))[0]:
                await self._roll.answer(self._process, self._done)
        finally:
            forgetting.cancel()
            await asyncio.wait({forgetting})
        forgetting.result()
        self._done = called
        await self._roll.answer(self._process, self._done)

    async def close(self) -> None:
        """Answer no more."""
        await self.loop.close()
        with suppress(StoreUnavailable, TimeoutError):
            async with asyncio.timeout(LAST_WORD_SECONDS):
                await self._roll.leave(self._process)

    async def _forget(self) -> None:
        await self._lobby.forget()
        await self._finished.forget()
        _logger.info("names were forgotten")
