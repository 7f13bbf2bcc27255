"""A master that stands still, is replaced, and comes back as a master that nobody told."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any, Final

import pytest

from rollbook.match.chain import Entry
from rollbook.storage.port import Appended, AppendUnconfirmed, StoreUnavailable
from rollbook.storage.redis.log import RedisLog
from tests.storage.failovers import Watched, watched

pytestmark = pytest.mark.asyncio

WRITERS: Final = 16
LONGER_SECONDS: Final = 2.0
"""How long people write after the old master is back; a Sentinel needs up to ten seconds to demote it."""


class Writer:
    """Appends to a match of its own, one entry after the other, and remembers what was acknowledged."""

    def __init__(self, log: RedisLog, name: str) -> None:
        """Begin with nothing."""
        self.log = log
        self.name = name
        self.head = 0
        self.acknowledged: dict[int, bytes] = {}
        self.last_at = 0.0

    async def write(self, until: asyncio.Event) -> None:
        """Write until it is enough; what was not acknowledged is looked up."""
        number = 0
        while not until.is_set():
            number += 1
            event = f"{self.name} {number}".encode()
            try:
                result = await self.log.append(self.name, self.head, [Entry(event)])
                if isinstance(result, Appended):
                    self.head, self.last_at = result.head, time.monotonic()
                    self.acknowledged[result.head] = event
                else:
                    self.head = await self.log.head(self.name)
            except (AppendUnconfirmed, StoreUnavailable):
                await asyncio.sleep(0.05)


async def lost(url: str, writers: list[Writer]) -> list[tuple[str, int]]:
    """What was acknowledged, and is not stored."""
    log = await RedisLog.connect(url)
    try:
        stored = {writer.name: [one.event for one in await log.read(writer.name, 0, 100_000)] for writer in writers}
    finally:
        await log.close()
    return [
        (writer.name, number)
        for writer in writers
        for number, event in writer.acknowledged.items()
        if stored[writer.name][number - 1 : number] != [event]
    ]


async def stall_and_replace(store: Watched, writers: list[Writer]) -> None:
    """The master stands still, another takes its place, and it comes back while people write."""
    until = asyncio.Event()
    writing = [asyncio.create_task(writer.write(until)) for writer in writers]

    async def wait_for(condition: Any) -> None:
        async with asyncio.timeout(30):
            while not condition():  # noqa: ASYNC110 - of several tasks
                await asyncio.sleep(0.01)

    await wait_for(lambda: all(len(writer.acknowledged) > 5 for writer in writers))
    old = store.stall()
    await asyncio.to_thread(store.until_replaced, old)
    store.go_on(old)
    back_at = time.monotonic()
    await wait_for(lambda: all(writer.last_at > back_at + LONGER_SECONDS for writer in writers))
    until.set()
    await asyncio.gather(*writing)


async def test_nothing_is_written_to_a_master_that_stood_still_and_was_replaced(tmp_path: Path) -> None:
    """It calls itself a master for seconds; whatever it acknowledged then would be gone with its demotion."""
    with watched(tmp_path) as store:
        log = await RedisLog.connect(store.url)
        writers = [Writer(log, f"match-{number}") for number in range(WRITERS)]
        await stall_and_replace(store, writers)
        await log.close()
        assert [] == await lost(store.url, writers)


async def test_an_older_sentinel_does_not_lead_back(tmp_path: Path) -> None:
    """The newest of what Sentinels say counts, so that one which was cut off does not name the master before."""
    with watched(tmp_path) as store:
        log = await RedisLog.connect(store.url)
        servers: Any = log.dispatch.servers
        sentinels = servers._sentinels
        new = ("127.0.0.1", store.master.port)
        assert await sentinels.names(new)
        sentinels._epoch += 1
        sentinels._wires.append(type(sentinels._wires[0])(_Nowhere(), 1))
        sentinels._host = ("127.0.0.1", 1)
        assert not await sentinels.names(new)
        sentinels._wires.pop()
        assert await sentinels.names(new)
        await log.close()


class _Nowhere:
    """Connections to a Sentinel that cannot be reached."""

    async def get_connection(self) -> Any:
        raise OSError("nowhere")
