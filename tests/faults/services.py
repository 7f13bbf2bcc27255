"""Faults of services and their store while clients play; the checkers examine all answers and frames."""

from __future__ import annotations

import asyncio
import random
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager, suppress
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import psutil
import redis

from rollbook.storage.embedded.server import find_server, running_url
from tests.faults.failovers import REPLICATED, SENTINELS
from tests.faults.outcome import Fault, Outcome, Run
from tests.faults.site import POLL_SECONDS, START_SECONDS, Site, site
from tests.storage.failovers import Copied, Watched, copied, joined, watched
from tests.storage.servers import Server, running

PAUSE_SECONDS: Final = (0.2, 1.5)
STALL_SECONDS: Final = (0.5, 4.0)
ILL_SECONDS: Final = (0.5, 2.0)
MORE: Final = 40
"""Number of answers and refusals to wait for between two steps."""

Harm: TypeAlias = Callable[[Site, Any, random.Random], Awaitable[None]]


async def _stalled(process: psutil.Process | Any, chance: random.Random) -> None:
    with suppress(psutil.NoSuchProcess, ProcessLookupError):
        process.send_signal(signal.SIGSTOP)
        try:
            await asyncio.sleep(chance.uniform(*STALL_SECONDS))
        finally:
            process.send_signal(signal.SIGCONT)


async def kill_service(site: Site, _store: Any, chance: random.Random) -> None:
    """Kill a service, with its own store if it has one, and start it again."""
    service = chance.choice(site.services)
    site.happened("a service is killed")
    await asyncio.to_thread(service.kill)
    service.start()
    if chance.random() < 0.5:
        await site.until_served()


async def stall_service(site: Site, _store: Any, chance: random.Random) -> None:
    """Stop a service's process for a while."""
    site.happened("a service stands still")
    await _stalled(chance.choice(site.services).process, chance)


async def harm_worker(site: Site, _store: Any, chance: random.Random) -> None:
    """Kill or stop a worker, but only once the service listens: before that it would exit."""
    await site.until_served()
    workers = chance.choice(site.services).children("rollbook.cli.worker")
    if workers:
        worker = chance.choice(workers)
        if chance.random() < 0.5:
            site.happened("a worker is killed")
            with suppress(psutil.NoSuchProcess):
                worker.kill()
        else:
            site.happened("a worker stands still")
            await _stalled(worker, chance)


async def kill_store(site: Site, store: Server, _chance: random.Random) -> None:
    """Kill the store, and start it again with its files."""
    site.happened("the store is killed")
    await asyncio.to_thread(store.kill)
    await asyncio.to_thread(store.start_again)


async def stall_store(site: Site, store: Server, chance: random.Random) -> None:
    """Stop the store's process for a while."""
    site.happened("the store stands still")
    await _stalled(store.process, chance)


async def flush_scripts(site: Site, store: Server, _chance: random.Random) -> None:
    """Flush the store's cached scripts."""
    site.happened("scripts are forgotten")
    with store.client() as client:
        client.script_flush()


async def kill_clients(site: Site, store: Server, chance: random.Random) -> None:
    """Close the store's connections of one kind."""
    kind = chance.choice(("normal", "pubsub"))
    site.happened(f"the store hangs up on its clients, {kind}")
    with store.client() as client:
        client.execute_command("CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes")


async def exhaust_memory(site: Site, store: Server, chance: random.Random) -> None:
    """Let the store run out of memory for a while."""
    site.happened("the store is out of memory")
    with store.client() as client:
        client.config_set("maxmemory", "1")
        try:
            await asyncio.sleep(chance.uniform(*ILL_SECONDS))
        finally:
            client.config_set("maxmemory", "0")


async def fill_disk(site: Site, store: Server, chance: random.Random) -> None:
    """Limit the file size of the store in the middle of a command, until it exits.

    Then restart it without the limit.
    """
    site.happened("the disk is full")
    largest = max((path.stat().st_size for path in store.directory.rglob("*.aof")), default=0)
    limit = largest + chance.randrange(1, 4_000)
    psutil.Process(store.process.pid).rlimit(psutil.RLIMIT_FSIZE, (limit, psutil.RLIM_INFINITY))
    for _ in range(200):
        if store.process.poll() is not None:
            break
        await asyncio.sleep(0.02)
    site.happened("there is room again")
    await asyncio.to_thread(store.kill)
    await asyncio.to_thread(store.start_again)


async def stall_master(site: Site, store: Watched, chance: random.Random) -> None:
    """Stop the master until a replica has been promoted, then let it continue with its old role."""
    site.happened("the master stands still")
    old = store.stall()
    await asyncio.to_thread(store.until_replaced, old)
    store.go_on(old)
    site.happened("it goes on, and another is the master")
    await _rejoined(store, old, chance)


async def kill_master(site: Site, store: Watched, chance: random.Random) -> None:
    """Kill the master until a replica has been promoted, then start it again."""
    site.happened("the master is killed")
    old = store.master
    await asyncio.to_thread(old.kill)
    await asyncio.to_thread(store.until_replaced, old)
    await asyncio.to_thread(old.start_again)
    await _rejoined(store, old, chance)


async def replace_master(site: Site, store: Watched, chance: random.Random) -> None:
    """Either stall or kill the master."""
    await chance.choice((stall_master, kill_master))(site, store, chance)


async def _rejoined(store: Watched, old: Server, chance: random.Random) -> None:
    await asyncio.sleep(chance.uniform(0.5, 3.0))
    with suppress(redis.RedisError):
        await asyncio.to_thread(store.rejoin, old)


async def add_replicas(site: Site, store: Copied, _chance: random.Random) -> None:
    """Add replicas while clients play, and fail over to the one that has missed the latest commands."""
    folder = store.master.directory.parent
    with ExitStack() as stack:

        async def join(name: str, settings: Mapping[str, str]) -> Server:
            site.happened(f"a replica is added, {name}")
            return await asyncio.to_thread(stack.enter_context, joined(store, folder / name, settings))

        await join("never promoted", {"replica-priority": "0"})
        await _told_more(site)
        added = await join("promotable", {})
        added.process.send_signal(signal.SIGSTOP)
        await _told_more(site)
        site.happened("the added replica takes the master's place")
        await asyncio.to_thread(store.fail_over_to, added)
        await _told_more(site)
    await asyncio.to_thread(store.until_followed, 1)


async def _told_more(site: Site) -> None:
    """Wait until the clients have received `MORE` more answers or refusals."""
    enough = len(site.history.seen) + MORE
    async with asyncio.timeout(START_SECONDS):
        while len(site.history.seen) < enough:  # noqa: ASYNC110 - of many tasks
            await asyncio.sleep(POLL_SECONDS)


async def restart_in_turn(site: Site, _store: Any, _chance: random.Random) -> None:
    """Drain and restart one service after the other, as for an upgrade."""
    for number, service in enumerate(site.services):
        site.happened(f"service {number} is restarted")
        code = await asyncio.to_thread(service.end)
        if code:
            site.happened(f"it ended with {code}")
        service.start()
        await asyncio.wait_for(site.processes[number].channel.channel_ready(), 60)


@asynccontextmanager
async def _no_store(_asked: Run) -> AsyncIterator[tuple[Any, tuple[str, ...]]]:
    yield None, ()


@asynccontextmanager
async def _one_store(asked: Run) -> AsyncIterator[tuple[Any, tuple[str, ...]]]:
    with running(find_server(), asked.directory / "store") as store:
        yield store, ("--redis", store.url)


@asynccontextmanager
async def _plainly_watched_store(asked: Run) -> AsyncIterator[tuple[Any, tuple[str, ...]]]:
    with ExitStack() as stack:
        made = watched(asked.directory / "store", sentinels=SENTINELS)
        store = await asyncio.to_thread(stack.enter_context, made)
        yield store, ("--redis", store.url)


@asynccontextmanager
async def _copied_store(asked: Run) -> AsyncIterator[tuple[Any, tuple[str, ...]]]:
    with ExitStack() as stack:
        made = copied(asked.directory / "store", settings=REPLICATED)
        store = await asyncio.to_thread(stack.enter_context, made)
        yield store, ("--redis", store.url, "--durability", "replicated")


@asynccontextmanager
async def _watched_store(asked: Run) -> AsyncIterator[tuple[Any, tuple[str, ...]]]:
    with ExitStack() as stack:
        made = watched(asked.directory / "store", settings=REPLICATED, sentinels=SENTINELS)
        store = await asyncio.to_thread(stack.enter_context, made)
        yield store, ("--redis", store.url, "--durability", "replicated")


def _fault(harm: Harm, made: Any, *words: str, services: int = 1) -> Fault:
    async def run(asked: Run) -> Outcome:
        chance = random.Random(f"{asked.seed}/faults")
        loop = asyncio.get_running_loop()
        async with made(asked) as (store, where), site(asked, (*where, *words), services) as found:
            playing = found.play()
            end = loop.time() + asked.seconds
            while True:
                await asyncio.sleep(chance.uniform(*PAUSE_SECONDS))
                await harm(found, store, chance)
                if loop.time() > end:
                    break
            url = running_url(found.services[0].data) if store is None else store.url
            return await found.judge(playing, url, frozenset())

    return run


MIXED: Final = (
    kill_service, stall_service, harm_worker, kill_store, stall_store, flush_scripts, kill_clients, exhaust_memory,
    fill_disk,
)  # fmt: skip


async def mixed(asked: Run) -> Outcome:
    """All faults of `MIXED` in random order, repeated until the time is over, at least once."""
    chance = random.Random(f"{asked.seed}/faults")
    loop = asyncio.get_running_loop()
    async with _one_store(asked) as (store, where), site(asked, (*where, "--workers", "2"), 1) as found:
        playing = found.play()
        end = loop.time() + asked.seconds
        while True:
            for harm in chance.sample(MIXED, len(MIXED)):
                await asyncio.sleep(chance.uniform(*PAUSE_SECONDS))
                # A service that starts while its store is unavailable exits with an error.
                await found.until_served()
                await harm(found, store, chance)
            if loop.time() > end:
                return await found.judge(playing, store.url, frozenset())


FAULTS: Final[Mapping[str, Fault]] = MappingProxyType(
    {
        "mixed": mixed,
        "kill-service": _fault(kill_service, _no_store),
        "stall-service": _fault(stall_service, _one_store, services=2),
        "workers": _fault(harm_worker, _one_store, "--workers", "2"),
        "kill-store": _fault(kill_store, _one_store, services=2),
        "stall-store": _fault(stall_store, _one_store, services=2),
        "stalled-master": _fault(stall_master, _plainly_watched_store, services=2),
        "masters": _fault(replace_master, _watched_store, services=2),
        "replicas": _fault(add_replicas, _copied_store, services=2),
        "scripts": _fault(flush_scripts, _one_store, services=2),
        "hang-up": _fault(kill_clients, _one_store, services=2),
        "memory": _fault(exhaust_memory, _one_store, services=2),
        "disk": _fault(fill_disk, _one_store, services=2),
        "rolling-restart": _fault(restart_in_turn, _one_store, "--workers", "2", services=2),
    }
)
