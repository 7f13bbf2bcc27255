"""`rollbook forget --player NAME` that kills itself at a step: `python forgetful.py DATA NAME STEP`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from rollbook.cli.progress import Progress
from rollbook.server.forgetting.erasure import Erasure, Selection
from rollbook.server.forgetting.kept_names import open_places


async def forget(data: Path, name: str, last: str) -> None:
    """Erase the name up to this step; the process then kills itself as `kill -9` would."""

    def step(now: str) -> None:
        if now == last:
            os.kill(os.getpid(), signal.SIGKILL)

    async with open_places(data, None, None) as place:
        with Progress("file", "files", 0) as files:
            await Erasure(place, Selection(frozenset(), name), lambda _match: None, files, step).run()


if __name__ == "__main__":
    asyncio.run(forget(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
