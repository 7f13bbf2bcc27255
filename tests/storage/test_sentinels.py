"""A stopped master that is replaced, and continues in its old role."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any, Final

import pytest

from rollbook.storage.redis.credibility import UNCONTESTED
from rollbook.storage.redis.log import RedisLog
from tests.storage.failovers import watched
from tests.storage.writers import Crowd

pytestmark = pytest.mark.asyncio

WRITERS: Final = 16
LONGER_SECONDS: Final = 2.0
"""Seconds of writing after the old master is back; a Sentinel needs up to ten seconds to demote it."""


async def test_nothing_is_written_to_a_master_that_stood_still_and_was_replaced(tmp_path: Path) -> None:
    """The old master keeps its role for seconds, and its demotion would discard everything written to it then."""
    with watched(tmp_path) as store:
        log, reading = await RedisLog.connect(store.url), await RedisLog.connect(store.url)
        crowd = Crowd(log, reading, WRITERS)
        crowd.start()
        await crowd.until_all_wrote()
        old = store.stall()
        await asyncio.to_thread(store.until_replaced, old)
        store.go_on(old)
        await crowd.until_all_wrote(time.monotonic() + LONGER_SECONDS)
        await crowd.stop()
        fresh = await RedisLog.connect(store.url)
        assert [] == await crowd.lost(fresh)
        for one in (log, reading, fresh):
            await one.close()


async def test_an_older_sentinel_does_not_lead_back(tmp_path: Path) -> None:
    """The newest epoch of all Sentinels counts, so that a Sentinel that was cut off does not name the old master."""
    with watched(tmp_path) as store:
        log = await RedisLog.connect(store.url)
        servers: Any = log.dispatch.servers
        sentinels = servers._sentinels
        new = ("127.0.0.1", store.master.port)
        assert await sentinels.names(new)
        sentinels._epoch += 1
        sentinels._wires.append(type(sentinels._wires[0])(_Nowhere(), 1, UNCONTESTED))
        sentinels._host = ("127.0.0.1", 1)
        assert not await sentinels.names(new)
        sentinels._wires.pop()
        assert await sentinels.names(new)
        await log.close()


class _Nowhere:
    """Connections to a Sentinel that cannot be reached."""

    async def get_connection(self) -> Any:
        raise OSError("nowhere")
