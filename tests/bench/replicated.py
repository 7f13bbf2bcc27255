"""`python -m tests.bench replicated`: the time of a move with replicas, beside a single disk.

A master and its replica run on one machine; logs with each durability take turns. A move is an append and the read by
which another process delivers it.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Final

from rollbook.match.chain import Entry
from rollbook.storage.port import Appended
from rollbook.storage.redis.durability import Durability
from rollbook.storage.redis.log import RedisLog
from tests.bench import results
from tests.storage.failovers import copied

LEVELS: Final[tuple[Durability, ...]] = ("fsync", "replicated-memory", "replicated")
ENTRY: Final = Entry(b"e" * 120)
AT_ONCE: Final = 50


class Level:
    """Logs with one durability, and the times of their rounds."""

    def __init__(self, name: Durability, url: str) -> None:
        """`url`: the store; `connect` opens the connections."""
        self.name = name
        self._url = url
        self._heads: dict[str, int] = {}
        self.append_ms: list[float] = []
        self.look_ms: list[float] = []
        self.together: list[float] = []

    async def connect(self) -> None:
        """Connect as a writing process and as a reading one."""
        self._writing = await RedisLog.connect(self._url, self.name)
        self._reading = await RedisLog.connect(self._url, self.name)

    async def close(self) -> None:
        """Close the connections."""
        await self._writing.close()
        await self._reading.close()

    async def measure(self, moves: int) -> None:
        """Make moves one after the other, and as many concurrently."""
        for _ in range(moves):
            began = time.perf_counter()
            head = await self._append("alone")
            appended = time.perf_counter()
            await self._reading.behind({f"{self.name} alone": head - 1})
            self.append_ms.append((appended - began) * 1_000)
            self.look_ms.append((time.perf_counter() - appended) * 1_000)
        began = time.perf_counter()
        each = max(1, moves // AT_ONCE)
        await asyncio.gather(*(self._several(f"match {number}", each) for number in range(AT_ONCE)))
        self.together.append(AT_ONCE * each / (time.perf_counter() - began))

    async def _several(self, match: str, times: int) -> None:
        for _ in range(times):
            await self._append(match)

    async def _append(self, match: str) -> int:
        match_id = f"{self.name} {match}"
        result = await self._writing.append(match_id, self._heads.get(match_id, 0), [ENTRY])
        assert isinstance(result, Appended)
        self._heads[match_id] = result.head
        return result.head


async def measured(rounds: int, moves: int) -> list[Level]:
    """Measure all levels in turn, this many times."""
    with (
        tempfile.TemporaryDirectory() as folder,
        copied(Path(folder), settings={"min-replicas-to-write": "1"}) as store,
    ):
        levels = [Level(name, store.url) for name in LEVELS]
        for level in levels:
            await level.connect()
        for _ in range(rounds):
            for level in levels:
                await level.measure(moves)
        for level in levels:
            await level.close()
        return levels


def section(levels: Sequence[Level], rounds: int) -> list[str]:
    """Return the table."""
    heads: tuple[str, ...] = ("", "an append, ms", "fastest tenth", "a look that finds it, ms", "fastest tenth")
    heads += (f"appends/s of {AT_ONCE} matches",)
    rows = [
        [
            level.name,
            *(f"{value:.2f}" for value in (median(level.append_ms), _tenth(level.append_ms))),
            *(f"{value:.2f}" for value in (median(level.look_ms), _tenth(level.look_ms))),
            f"{median(level.together):,.0f}",
        ]
        for level in levels
    ]
    return [f"{rounds} rounds, medians; master and replica on one machine.", "", *results.table(heads, rows)]


def _tenth(found: Sequence[float]) -> float:
    """Return the 10th percentile, which other programs disturb less."""
    return sorted(found)[len(found) // 10]


def main(words: Sequence[str]) -> None:
    """Measure, print, and write the section."""
    parser = argparse.ArgumentParser("python -m tests.bench replicated", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tiny", action="store_true", help="next to nothing, to see that it runs")
    asked = parser.parse_args(words)
    rounds, moves = (1, 3) if asked.tiny else (asked.rounds, 300)
    lines = section(asyncio.run(measured(rounds, moves)), rounds)
    print("\n".join(lines))
    if not asked.tiny:
        results.write("replicated", lines)
