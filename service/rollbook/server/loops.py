"""Background loops that survive any failure of their work: they log it once, count it, and retry."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from rollbook.storage.port import AppendUnconfirmed, StoreUnavailable

STILL_SECONDS: Final = 15.0
"""A loop without a successful round for so many seconds is considered stuck."""

RETRY_SECONDS: Final = 0.5

_logger = structlog.get_logger()


class BackgroundLoop:
    """Repeats a piece of work, with a pause after each round."""

    def __init__(
        self, name: str, work: Callable[[], Awaitable[object]], count: Callable[[str], None], pause_seconds: float
    ) -> None:
        """Wait `pause_seconds` between rounds; call `count` with the name at every failure."""
        self._name = name
        self._work = work
        self._count = count
        self._pause_seconds = pause_seconds
        self._failure: type[Exception] | None = None
        """The type of the last round's failure, so that a repeated failure is logged once."""
        self._came_round: float | None = None
        self._running: asyncio.Task[None] | None = None

    @property
    def stands_still(self) -> bool:
        """Whether the loop runs and has had no successful round for `STILL_SECONDS`."""
        came_round = self._came_round
        return came_round is not None and asyncio.get_running_loop().time() - came_round > STILL_SECONDS

    def start(self) -> None:
        """Run in a background task until `close`."""
        self._running = asyncio.create_task(self.run(lambda: True))

    async def close(self) -> None:
        """Cancel the background task and wait for its end."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)

    async def run(self, is_wanted: Callable[[], object]) -> None:
        """Run as long as `is_wanted` returns true."""
        self._came_round = asyncio.get_running_loop().time()
        try:
            while is_wanted():
                is_well = await self._attempt()
                await asyncio.sleep(self._pause_seconds if is_well else max(self._pause_seconds, RETRY_SECONDS))
        finally:
            self._came_round = None

    async def _attempt(self) -> bool:
        try:
            await self._work()
        except Exception as failure:  # noqa: BLE001 - any failure may be gone at the next round
            self._count(self._name)
            if self._failure is not type(failure):
                self._failure = type(failure)
                foreseen = isinstance(failure, StoreUnavailable | AppendUnconfirmed)
                say = _logger.warning if foreseen else _logger.exception
                say("a loop has failed, and tries again", loop=self._name, why=str(failure))
            return False
        if self._failure is not None:
            self._failure = None
            _logger.info("a loop goes on", loop=self._name)
        self._came_round = asyncio.get_running_loop().time()
        return True
