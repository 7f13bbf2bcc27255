"""Stores for tests: one of each kind for the whole run, with new logs for each test."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from rollbook.storage.embedded.server import find_server
from rollbook.storage.redis.log import RedisLog
from tests.sim.network import Network, Weather
from tests.sim.store import Bystander, SimulatedLog
from tests.sim.store import Store as SimulatedStore
from tests.storage.memory import MemoryLog
from tests.storage.servers import ALL_SLOTS, OLDEST_REDIS, Server, running


@dataclass(frozen=True)
class Store:
    """A store, and a function that connects to it."""

    connect: Callable[[], Awaitable[RedisLog | MemoryLog | SimulatedLog]]
    url: str | None
    """None for a store inside this process."""


@pytest.fixture(scope="session")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server that is installed with the service."""
    with running(find_server(), tmp_path_factory.mktemp("valkey")) as server:
        yield server


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A cluster of one server, which refuses commands on two slots like every cluster."""
    with running(find_server(), tmp_path_factory.mktemp("cluster"), slots=ALL_SLOTS) as server:
        yield server


@pytest.fixture(scope="session")
def oldest_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The oldest supported server."""
    with running(OLDEST_REDIS, tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(params=["memory", "simulated", "valkey", "cluster", "oldest_redis"])
def store(request: pytest.FixtureRequest) -> Store:
    """Run the test with each kind of store in turn."""
    if request.param == "memory":
        memory = MemoryLog()

        async def same() -> MemoryLog:
            return memory

        return Store(same, None)
    if request.param == "simulated":
        return Store(simulated_store(), None)
    server: Server = request.getfixturevalue(request.param)

    async def connect() -> RedisLog:
        return await RedisLog.connect(server.url)

    return Store(connect, server.url)


def simulated_store() -> Callable[[], Awaitable[SimulatedLog]]:
    """Return a function that connects to the simulated store, over a network without faults."""
    simulated = SimulatedStore(lambda: time.time_ns() // 1_000_000)
    network = Network(random.Random(0), Weather())

    async def connect() -> SimulatedLog:
        return SimulatedLog(simulated, network, Bystander())

    return connect


@pytest_asyncio.fixture
async def log(store: Store) -> AsyncIterator[RedisLog | MemoryLog | SimulatedLog]:
    """A log on the store."""
    log = await store.connect()
    yield log
    await log.close()


@pytest_asyncio.fixture
async def other(store: Store) -> AsyncIterator[RedisLog | MemoryLog | SimulatedLog]:
    """A second log on the same store, as another replica has it."""
    log = await store.connect()
    yield log
    await log.close()


@pytest.fixture
def match_id() -> str:
    """The id of a match that does not exist yet."""
    return f"m-{uuid.uuid4().hex}"


@pytest.fixture
def short_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory that does not exist yet."""
    return tmp_path_factory.mktemp("d") / "data"
