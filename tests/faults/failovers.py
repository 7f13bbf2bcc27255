"""Failovers forced while clients write and read: no acknowledged or delivered event is lost."""

from __future__ import annotations

import asyncio
import random
import signal
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from rollbook.storage.redis.log import RedisLog
from tests.faults.outcome import Outcome, Run
from tests.storage.failovers import Clustered, Watched, clustered, cut_off, let_in, watched
from tests.storage.servers import Server
from tests.storage.writers import Crowd

WRITERS: Final = 16
APPEND_SECONDS: Final = 1.0
SENTINELS: Final = 3
"""As many as in production, so that two of them can agree."""
REPLICATED: Final = MappingProxyType({"min-replicas-to-write": "1"})

Act = Callable[[Server], None]


@dataclass(frozen=True, slots=True)
class Way:
    """A way to take out a master, and the action that brings it back."""

    begin: Act
    end: Act


def _stall(server: Server) -> None:
    server.process.send_signal(signal.SIGSTOP)


def _go_on(server: Server) -> None:
    server.process.send_signal(signal.SIGCONT)


def _take_over(server: Server) -> None:
    """Let the replica take over from a healthy master."""
    with server.client() as client:
        copy = client.info("replication")["slave0"]
    replica: Any
    with Server(server.process, int(copy["port"]), server.directory).client() as replica:
        replica.execute_command("CLUSTER", "FAILOVER", "TAKEOVER")


WAYS: Final = {
    "stalled": Way(_stall, _go_on),
    "killed": Way(Server.kill, Server.start_again),
    "cut off": Way(cut_off, let_in),
    "taken over": Way(_take_over, lambda _server: None),
}
OF_SENTINEL: Final = ("stalled", "killed", "cut off")
OF_CLUSTER: Final = ("stalled", "killed", "taken over")


COUNT: Final = 100
"""Number of failovers that a run forces, half of them for each kind of store."""


async def run(asked: Run) -> Outcome:
    """Force `COUNT` failovers."""
    figures: dict[str, int | str] = {}
    broken = []
    for topology in ("sentinel", "cluster"):
        directory = asked.directory / topology
        crowd, lost = await forced(directory, topology, COUNT // 2, asked.seed, asked.say)
        figures[f"forced failovers, {topology}"] = COUNT // 2
        figures[f"acknowledged or told, {topology}"] = len(crowd.told())
        broken += [f"event {number} of {name} was acknowledged or told, and is lost" for name, number in lost]
    figures["lost"] = len(broken)
    return Outcome(figures, broken)


class Failovers:
    """Forces failovers of a replicated store, one after the other, while clients write and read."""

    def __init__(self, store: Watched | Clustered, crowd: Crowd, chance: random.Random) -> None:
        """`chance` draws the master to take out."""
        self.store = store
        self.crowd = crowd
        self.chance = chance

    async def force(self, way: str) -> None:
        """Let one master be replaced in this way while all clients write; return when all can write again."""
        await self.crowd.until_all_wrote()
        victim = self._victim()
        await asyncio.to_thread(WAYS[way].begin, victim)
        await asyncio.to_thread(self.store.until_replaced, victim)
        await asyncio.to_thread(WAYS[way].end, victim)
        await asyncio.to_thread(self.store.rejoin, victim)
        await self.crowd.until_all_wrote()

    def _victim(self) -> Server:
        if isinstance(self.store, Watched):
            return self.store.master
        return self.chance.choice(self.store.masters(self.store.servers[0]))


async def forced(  # noqa: PLR0917 - what is forced, and how often
    directory: Path,
    topology: str,
    count: int,
    seed: int,
    said: Callable[[str], None] = lambda _line: None,
    durability: Any = "replicated",
) -> tuple[Crowd, list[tuple[str, int]]]:
    """Force `count` failovers in a row; return the crowd and the events that are lost."""
    chance = random.Random(seed)
    settings = REPLICATED if durability.startswith("replicated") else {}
    made: Any = (
        watched(directory, settings=settings, sentinels=SENTINELS)
        if topology == "sentinel"
        else clustered(directory, settings)
    )
    async with AsyncExitStack() as stack:
        store = stack.enter_context(made)

        async def connect() -> RedisLog:
            log = await RedisLog.connect(store.url, durability, append_seconds=APPEND_SECONDS)
            stack.push_async_callback(_closed(log))
            return log

        crowd = Crowd(await connect(), await connect(), WRITERS)
        crowd.start()
        failovers = Failovers(store, crowd, chance)
        for number in range(count):
            way = chance.choice(OF_SENTINEL if topology == "sentinel" else OF_CLUSTER)
            said(f"failover {number + 1} of {count}: a master of {topology} is {way}")
            await failovers.force(way)
        await crowd.stop()
        return crowd, await crowd.lost(await connect())


def _closed(log: RedisLog) -> Callable[[], Awaitable[None]]:
    return log.close
