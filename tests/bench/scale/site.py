"""A measured service: its store, and the usage of its processes."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any, Final

import psutil

from rollbook.storage.embedded.server import running_url
from tests.bench.peers.rounds import spent
from tests.bench.peers.service import parts
from tests.bench.scale.filling import Filler
from tests.server.serving import Service

QUIET: Final = 0.2
"""The part of a core that a service uses at most after it has processed new matches in its store."""
WINDOW_SECONDS: Final = 2.0
LONGEST_SECONDS: Final = 40.0


def filled(service: Service, number: int, **how: Any) -> list[str]:
    """Add matches to the service's store; returns their ids."""

    async def fill() -> list[str]:
        async with Filler.at(store_url(service)) as filler:
            return await filler.fill(number, **how)

    return asyncio.run(fill())


def played_on(service: Service, match_id: str, events: int) -> None:
    """Extend a match to this many events."""

    async def play() -> None:
        async with Filler.at(store_url(service)) as filler:
            await filler.play_on(match_id, events)

    asyncio.run(play())


def store_url(service: Service) -> str:
    """Return the URL of the service's store."""
    return running_url(Path(service.line("listening")["data"]))


def cores(service: Service, seconds: float) -> dict[str, float]:
    """Return the parts of a core that the service's processes use now."""
    before, began = {part: spent(pids) for part, pids in parts(service).items()}, time.monotonic()
    time.sleep(seconds)
    passed = time.monotonic() - began
    return {part: (spent(pids) - before[part]) / passed for part, pids in parts(service).items()}


def settled(service: Service, *, seconds: float = WINDOW_SECONDS) -> None:
    """Wait until the service has processed new matches; gives up for services that never become idle."""
    deadline = time.monotonic() + LONGEST_SECONDS
    while cores(service, seconds)["server"] > QUIET and time.monotonic() < deadline:
        pass


def resident(service: Service) -> float:
    """Return the memory of the server in bytes."""
    return float(sum(psutil.Process(pid).memory_info().rss for pid in parts(service)["server"]))
