"""The service's own store: a server process that is restarted under the same address when it dies."""

from __future__ import annotations

import asyncio
from typing import Any, Final, Self

import structlog

from rollbook.server.configuration.settings import Settings
from rollbook.server.health.restarts import RestartPauses
from rollbook.storage.embedded.server import EmbeddedServer, ServerFailed

LOOK_SECONDS: Final = 0.25
"""How often the process is checked."""

STOP_SECONDS: Final = 10.0


class OwnStore:
    """The service's own store server."""

    def __init__(self, settings: Settings, server: EmbeddedServer) -> None:
        """Use `OwnStore.start`."""
        self._settings = settings
        self._server = server
        self._started = asyncio.get_running_loop().time()
        self._pauses = RestartPauses(first_seconds=0.1, longest_seconds=5.0, lived_seconds=30.0)
        self._logger: Any = structlog.get_logger()
        self.url = server.url

    @classmethod
    async def start(cls, settings: Settings) -> Self:
        """Start the server; raises the exceptions of `EmbeddedServer.start`. Call it on the main thread."""
        return cls(settings, await EmbeddedServer.start(settings.data, settings.durability))

    @property
    def has_ended(self) -> bool:
        """Whether the server has exited, which is logged."""
        if self._server.exit_code is None:
            return False
        self._logger.error("the store has ended", exit_code=self._server.exit_code)
        return True

    async def stop(self) -> None:
        """Stop the server cleanly."""
        exit_code = await self._server.stop(stop_seconds=STOP_SECONDS)
        if exit_code:
            self._logger.error("the store did not end cleanly", exit_code=exit_code)

    async def start_again(self) -> None:
        """Restart the server until it runs; raises DataDirectoryRefused if the directory is in use or unusable."""
        loop = asyncio.get_running_loop()
        pause = self._pauses.after(loop.time() - self._started)
        while True:
            await asyncio.sleep(pause)
            # The directory is released only now, and taken again at once.
            await self._server.stop()
            try:
                self._server = await EmbeddedServer.start(self._settings.data, self._settings.durability)
            except (ServerFailed, OSError) as failure:
                pause = self._pauses.after(0.0)
                self._logger.error(  # noqa: TRY400 - an expected failure
                    "the store does not start", why=str(failure), again_in_seconds=pause
                )
            else:
                self._started = loop.time()
                self._logger.info("the store is back", process=self._server.process_id)
                return
