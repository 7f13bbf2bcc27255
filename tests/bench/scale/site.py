"""A service that is measured, its store from inside, and what its processes use."""

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
"""Of a core: what a service uses at most that has got used to what was put into its store."""
WINDOW_SECONDS: Final = 2.0
LONGEST_SECONDS: Final = 40.0


def filled(service: Service, number: int, **how: Any) -> list[str]:
    """Put so many matches more into its store."""

    async def fill() -> list[str]:
        async with Filler.at(store_url(service)) as filler:
            return await filler.fill(number, **how)

    return asyncio.run(fill())


def played_on(service: Service, match_id: str, events: int) -> None:
    """Let a match have so many events."""

    async def play() -> None:
        async with Filler.at(store_url(service)) as filler:
            await filler.play_on(match_id, events)

    asyncio.run(play())


def store_url(service: Service) -> str:
    """Where its store is."""
    return running_url(Path(service.line("listening")["data"]))


def cores(service: Service, seconds: float) -> dict[str, float]:
    """How much of a core its parts use now."""
    before, began = {part: spent(pids) for part, pids in parts(service).items()}, time.monotonic()
    time.sleep(seconds)
    passed = time.monotonic() - began
    return {part: (spent(pids) - before[part]) / passed for part, pids in parts(service).items()}


def settled(service: Service, *, seconds: float = WINDOW_SECONDS) -> None:
    """Wait until it has noticed what was put into its store; some services never come to rest."""
    deadline = time.monotonic() + LONGEST_SECONDS
    while cores(service, seconds)["server"] > QUIET and time.monotonic() < deadline:
        pass


def resident(service: Service) -> float:
    """Bytes of memory that its server holds."""
    return float(sum(psutil.Process(pid).memory_info().rss for pid in parts(service)["server"]))
