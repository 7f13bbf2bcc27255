"""One of three servers fails at a time, with durability `quorum`: nothing is lost, and play goes on."""

from __future__ import annotations

import asyncio
import random
import statistics
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from rollbook.storage.redis.log import RedisLog
from tests.faults.failovers import APPEND_SECONDS, SENTINELS, WAYS, WRITERS, Way
from tests.faults.outcome import Outcome, Run
from tests.storage.failovers import Watched, watched
from tests.storage.servers import Server
from tests.storage.writers import Crowd

COUNT: Final = 100
REPLICAS: Final = 2

_OF_MASTERS: Final = ("killed", "stalled", "cut off", "coordinated")
_OF_REPLICAS: Final = ("killed", "stalled")


async def run(asked: Run) -> Outcome:
    """Let `COUNT` servers fail, one at a time."""
    crowd, pauses, lost = await failing(asked.directory, COUNT, asked.seed, asked.say)
    figures: dict[str, int | str] = {
        "servers that failed, one at a time": COUNT,
        "masters among them": len(pauses),
        "acknowledged or told": len(crowd.told()),
        "median pause from the new master's name to the next acknowledged writes": f"{statistics.median(pauses):.1f} s",
        "longest": f"{max(pauses):.1f} s",
        "lost": len(lost),
    }
    broken = [f"event {number} of {name} was acknowledged or told, and is lost" for name, number in lost]
    return Outcome(figures, broken)


async def failing(
    directory: Path, count: int, seed: int, said: Callable[[str], None] = lambda _line: None
) -> tuple[Crowd, list[float], list[tuple[str, int]]]:
    """Let `count` servers fail; returns the crowd, the pause after each failover, and the events that are lost."""
    chance = random.Random(seed)
    pauses: list[float] = []
    async with AsyncExitStack() as stack:
        store = stack.enter_context(watched(directory, REPLICAS, {"min-replicas-to-write": "1"}, SENTINELS))

        async def connect() -> RedisLog:
            log = await RedisLog.connect(store.url, "quorum", replicas=REPLICAS, append_seconds=APPEND_SECONDS)
            stack.push_async_callback(log.close)
            return log

        crowd = Crowd(await connect(), await connect(), WRITERS)
        crowd.start()
        for number in range(count):
            role = chance.choice(("master", "master", "replica"))
            way = chance.choice(_OF_MASTERS if role == "master" else _OF_REPLICAS)
            said(f"fault {number + 1} of {count}: the {role} is {way}")
            await crowd.until_all_wrote()
            if role == "master":
                pauses.append(await _replace_master(store, crowd, way))
            else:
                await _lose_replica(store, crowd, WAYS[way], chance)
            await crowd.until_all_wrote()
        await crowd.stop()
        fresh = await connect()
        assert {} == await fresh.losses.sequences()
        return crowd, pauses, await crowd.lost(fresh)


async def _replace_master(store: Watched, crowd: Crowd, way: str) -> float:
    """Let the master fail; returns the seconds from the name of the new one until all writers have written."""
    old = store.master
    if way == "coordinated":
        with store.sentinels[0].client() as client:
            client.execute_command("SENTINEL", "FAILOVER", "main", "COORDINATED")
    else:
        await asyncio.to_thread(WAYS[way].begin, old)
    await asyncio.to_thread(store.until_replaced, old)
    began = time.monotonic()
    # One server is still away.
    await crowd.until_all_wrote()
    pause = time.monotonic() - began
    if way != "coordinated":
        await asyncio.to_thread(WAYS[way].end, old)
    await asyncio.to_thread(store.rejoin, old)
    return pause


async def _lose_replica(store: Watched, crowd: Crowd, way: Way, chance: random.Random) -> None:
    master = store.master
    victim: Server = chance.choice([server for server in store.servers if server is not master])
    await asyncio.to_thread(way.begin, victim)
    await crowd.until_all_wrote()
    await asyncio.to_thread(way.end, victim)
    await asyncio.to_thread(store.rejoin, victim)
