"""`python -m tests.bench web`: what it costs to watch a match in many browsers, one in ten of which reads nothing.

The page and its service run as processes of their own; the browsers are bare sockets in this one.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

import psutil

from rollbook_clients.sdk import Match
from tests.bench import results
from tests.clients.sdk.tables import pick, running, tables, turn
from tests.clients.web.browsing import WebProcess, answers
from tests.server.test_whole_service import Serving

STALLED: Final = 10
"""One of so many reads nothing."""

MOST_KIB: Final = 40
READ_BYTES: Final = 1 << 16


@dataclass
class Crowd:
    """Browsers on one match, and when each heard of each message."""

    heard: dict[bytes, list[float]] = field(default_factory=dict)
    tasks: list[asyncio.Task[None]] = field(default_factory=list)
    writers: list[asyncio.StreamWriter] = field(default_factory=list)

    async def join(self, port: int, match_id: str, number: int) -> None:
        """One more of them."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        # Each from an address of its own: one alone may not have so many.
        address = f"10.0.{number // 250}.{1 + number % 250}"
        head = f"GET /matches/{match_id}/stream HTTP/1.1\r\nhost: page\r\nx-forwarded-for: {address}\r\n\r\n"
        writer.write(head.encode())
        self.writers.append(writer)
        if number % STALLED:
            self.tasks.append(asyncio.create_task(self._listen(reader)))

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        while data := await reader.read(READ_BYTES):
            for line in data.split(b"\n"):
                if line.startswith(b"id: "):
                    self.heard.setdefault(line, []).append(time.monotonic())

    async def close(self) -> None:
        """All of them hang up."""
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        for writer in self.writers:
            writer.close()


async def measure(watchers: int, choices: int) -> list[str]:
    """The rows of the table."""
    with tempfile.TemporaryDirectory() as folder:
        service = Serving(Path(folder) / "data")
        web = WebProcess(Path(folder), service.address)
        try:
            await _until(lambda: web.is_up() and answers(service.address))
            async with tables(service.address, "Anna", "Ben") as players:
                return await _watched(web, await running(players), watchers, choices)
        finally:
            web.kill()
            service.end()


async def _until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 - other processes set no events
        await asyncio.sleep(0.05)


async def _watched(web: WebProcess, matches: list[Match], watchers: int, choices: int) -> list[str]:
    process, crowd, random = psutil.Process(web.process.pid), Crowd(), Random(1)
    await crowd.join(web.port, matches[0].id, 1)
    await _until(lambda: bool(crowd.heard))
    before = process.memory_info().rss
    for number in range(watchers):
        await crowd.join(web.port, matches[0].id, number)
    reading = watchers - len(range(0, watchers, STALLED))
    await _until(lambda: max(map(len, crowd.heard.values())) >= reading)
    memory = (process.memory_info().rss - before) / watchers / 1_024
    crowd.heard.clear()
    cpu = sum(process.cpu_times()[:2])
    for _ in range(choices):
        match, moment = await turn(matches)
        assert moment.legal
        await match.choose(pick(moment.legal, random))
        await asyncio.sleep(0.05)
    await asyncio.sleep(1)
    cpu = sum(process.cpu_times()[:2]) - cpu
    await crowd.close()
    late = sorted(at - min(times) for times in crowd.heard.values() for at in times)
    delivered = len(late)
    return results.table(
        ("", "found", "goal"),
        [
            (f"memory a watcher, of {watchers:,}", f"{memory:.1f} KiB", f"≤ {MOST_KIB} KiB"),
            ("messages delivered", f"{delivered:,}", ""),
            ("processor time a message", f"{1e6 * cpu / max(1, delivered):.0f} µs", ""),
            ("behind the first of the watchers, median", f"{1e3 * statistics.median(late):.0f} ms", ""),
            ("the same, 99 of 100", f"{1e3 * late[int(0.99 * delivered)]:.0f} ms", "< 250 ms"),
        ],
    )


def main(words: list[str]) -> None:
    """Measure, print, and write the section."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench web", description=__doc__)
    parser.add_argument("--watchers", type=int, default=1_000)
    parser.add_argument("--tiny", action="store_true", help="a few watchers, to see that it runs")
    given = parser.parse_args(words)
    lines = asyncio.run(measure(20 if given.tiny else given.watchers, 3 if given.tiny else 60))
    print("\n".join(lines))
    if not given.tiny:
        results.write("web", lines)
