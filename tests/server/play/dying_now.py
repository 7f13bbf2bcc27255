"""A process of a service that kills itself while it answers PlayNow: `python dying_now.py URL REQUEST_ID STEP`.

Steps: `claimed` behind the script, `opened` behind event 1, `answered` right before the answer leaves.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import Any

from rollbook.storage.redis.log import RedisLog
from rollbook.storage.redis.now import RedisPools
from tests.server.play.halls import Hall


def dying(method: Any) -> Any:
    """The method, after whose success the process dies as by `kill -9`."""

    async def dies(*arguments: Any, **named: Any) -> Any:
        await method(*arguments, **named)
        os.kill(os.getpid(), signal.SIGKILL)

    return dies


async def main(url: str, request_id: str, step: str) -> None:
    """Call PlayNow and die."""
    log = await RedisLog.connect(url)
    if step == "claimed":
        RedisPools.claim = dying(RedisPools.claim)  # type: ignore[method-assign]
    elif step == "opened":
        RedisLog.append = dying(RedisLog.append)  # type: ignore[method-assign]
    else:
        RedisPools.hold = dying(RedisPools.hold)  # type: ignore[method-assign]
    async with Hall(log=log).serving() as hall:
        await hall.service.clock.compare()
        await hall.person("anna").call("PlayNow", game="cant_stop", request_id=request_id)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
