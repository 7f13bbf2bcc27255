"""Two processes of a service over one store."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from itertools import count
from typing import TypeVar

from rollbook.server.configuration.limit_table import Limits
from rollbook.storage.redis.log import RedisLog
from tests.server.rpc.talking import World
from tests.storage.servers import Server

PATIENCE_SECONDS = 100
PLENTY = 10**6


def limits(**fields: int) -> Limits:
    """Limits with a request rate that tests do not reach."""
    return Limits(requests_at_once=PLENTY, **fields)


WorldT = TypeVar("WorldT", bound=World)


def run(store: Server, scenario: Callable[[World, World], Awaitable[None]], **fields: int) -> None:
    """Run the scenario at two processes of a service with these limits, on an emptied store."""
    run_pair(store, scenario, World, **fields)


def run_pair(
    store: Server,
    scenario: Callable[[WorldT, WorldT], Awaitable[None]],
    make: Callable[..., WorldT],
    seconds: float = PATIENCE_SECONDS,
    **fields: int,
) -> None:
    """Run the scenario at two processes that `make` returns for a log and limits, on an emptied store."""
    with store.client() as client:
        client.flushall()

    async def main() -> None:
        async with asyncio.timeout(seconds), AsyncExitStack() as stack:
            worlds = []
            for number in range(2):
                log = await RedisLog.connect(store.url)
                stack.push_async_callback(log.close)
                world = make(log=log, limits=limits(**fields))
                world.requests = count(1 + number * PLENTY)
                worlds.append(await stack.enter_async_context(world.serving()))
                await world.service.clock.compare()
            await scenario(*worlds)

    asyncio.run(main())
