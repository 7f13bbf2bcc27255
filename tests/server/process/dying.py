"""A service's archivist in a separate process that kills itself at a step: `python dying.py URL FOLDER [STEP]`.

It archives the finished matches of the store at this URL into FOLDER/archive and exits; at the given step it dies as by
`kill -9`.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from rollbook.storage.redis.log import RedisLog
from tests.server.lobby.archives import Keeper


async def archive(url: str, folder: Path, last: str) -> None:
    """One look of the archivist, up to this step."""

    def step(name: str) -> None:
        if name == last:
            os.kill(os.getpid(), signal.SIGKILL)

    log = await RedisLog.connect(url)
    keeper = Keeper(folder, log=log)
    keeper.clock.ms += 1_000_000
    place = str(folder / "archive")
    archivist = keeper.service.archivist(keeper.log, keeper.finished, place, after_seconds=0, step=step)
    await archivist.settle()
    await archivist.look()
    await archivist.close()
    await log.close()


if __name__ == "__main__":
    asyncio.run(archive(sys.argv[1], Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else ""))
