"""`python -m tests.bench web`: the cost of watching matches in many browsers, one in ten of which does not read.

The page, its service and a bare stream run as processes; the bare stream sends as many bytes as often to as many
browsers in the same run. The browsers are bare sockets in this process.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from random import Random
from typing import Final

import psutil

from rollbook_clients.sdk import Match, Table
from tests.bench import results
from tests.clients.sdk.tables import pick, running, tables, turn
from tests.clients.web.browsing import WebProcess, answers
from tests.ports import free_port
from tests.server.test_whole_service import Serving

STALLED: Final = 10
"""One in this many browsers does not read."""

MOST_KIB: Final = 40
LEAST_RATIO: Final = 0.7
STATE: Final = b'data: {"to":'
"""The beginning of a message of the page, which names the state that the message leads to."""

READ_BYTES: Final = 1 << 16
PAUSE_SECONDS: Final = 0.03
"""Pause between two choices, so that each is a separate message."""


@dataclass(frozen=True)
class Size:
    """The numbers of a run."""

    watchers: int
    choices: dict[int, int]
    """The number of choices by the number of matches."""


FULL: Final = Size(1_000, {1: 60, 100: 300})
TINY: Final = Size(20, {1: 4, 2: 4})


LIMITS: Final = ("MATCHES_PER_SUBJECT", "SEATS_PER_SUBJECT", "WATCHES_PER_SUBJECT")
"""Limits of the one player who is in all matches, and of the page, which has no token."""


@dataclass
class Crowd:
    """Browsers at some addresses of a server, and the times at which they read each message."""

    port: int
    paths: Sequence[str]
    heard: dict[tuple[str, bytes], list[float]] = field(default_factory=dict)
    received: int = 0
    tasks: list[asyncio.Task[None]] = field(default_factory=list)
    writers: list[asyncio.StreamWriter] = field(default_factory=list)

    async def gather(self, watchers: int) -> None:
        """Add browsers at the addresses in turn, and wait until all readers have received data."""
        before, reading = self.delivered, 0
        for number, path in enumerate(islice(cycle(self.paths), watchers)):
            # With a hundred addresses, each has readers and other browsers.
            reads = bool((number // len(self.paths) + number) % STALLED)
            reading += reads
            await self._join(path, number, reads=reads)
        await _until(lambda: self.delivered >= before + reading)

    async def _join(self, path: str, number: int, *, reads: bool) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        # Each browser has its own address, because the connections of one address are limited.
        address = f"10.0.{number // 250}.{1 + number % 250}"
        writer.write(f"GET {path} HTTP/1.1\r\nhost: localhost\r\nx-forwarded-for: {address}\r\n\r\n".encode())
        self.writers.append(writer)
        if reads:
            self.tasks.append(asyncio.create_task(self._listen(reader, path)))

    async def _listen(self, reader: asyncio.StreamReader, path: str) -> None:
        while data := await reader.read(READ_BYTES):
            self.received += len(data)
            for line in data.split(b"\n"):
                if line.startswith(STATE):
                    self.heard.setdefault((path, line.partition(b",")[0]), []).append(time.monotonic())

    @property
    def delivered(self) -> int:
        """Return the number of read messages."""
        return sum(map(len, self.heard.values()))

    def forget(self) -> None:
        """Reset the counts."""
        self.heard.clear()
        self.received = 0

    async def rest(self) -> None:
        """Wait until no more messages arrive."""
        before = -1
        while before != self.delivered:
            before = self.delivered
            await asyncio.sleep(0.5)

    async def close(self) -> None:
        """Close all browsers."""
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        for writer in self.writers:
            writer.close()


@dataclass(frozen=True)
class Found:
    """The results with one crowd."""

    kib: float
    delivered: int
    microseconds: float
    """Processor time for a message to a watcher."""
    message_bytes: int
    times: int
    """The number of messages sent."""
    late: list[float]
    """Seconds after the first watcher."""


async def measured(
    crowd: Crowd, process: psutil.Process, watchers: int, happen: Callable[[], Awaitable[None]]
) -> Found:
    """Measure the cost of events for a server with this many watchers."""
    # The first watchers fill the caches of a match for all.
    first = 2 * len(crowd.paths)
    await crowd.gather(first)
    before = process.memory_info().rss
    await crowd.gather(watchers - first)
    kib = (process.memory_info().rss - before) / (watchers - first) / 1_024
    await crowd.rest()
    crowd.forget()
    # Waking a sleeping crowd would cost a slow sender more than a fast one.
    awake = asyncio.create_task(_stay_awake())
    cpu = sum(process.cpu_times()[:2])
    await happen()
    await crowd.rest()
    cpu = sum(process.cpu_times()[:2]) - cpu
    awake.cancel()
    late = sorted(at - min(times) for times in crowd.heard.values() for at in times)
    delivered = len(late)
    return Found(kib, delivered, 1e6 * cpu / delivered, crowd.received // delivered, len(crowd.heard), late)


async def _stay_awake() -> None:
    while True:  # noqa: ASYNC110 - it waits for nothing
        await asyncio.sleep(0)


async def _until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 - other processes set no events
        await asyncio.sleep(0.05)


async def of_the_page(web: WebProcess, players: list[Table], size: Size, matches: int) -> Found:
    """Make choices in this many watched matches."""
    seated = [await running(players) for _ in range(matches)]
    random = Random(1)

    async def play() -> None:
        for number in range(size.choices[matches]):
            await _choose(seated[number % matches], random)
            await asyncio.sleep(PAUSE_SECONDS)

    crowd = Crowd(web.port, [f"/stream?topic={each[0].id}~" for each in seated])
    try:
        return await measured(crowd, psutil.Process(web.process.pid), size.watchers, play)
    finally:
        await crowd.close()


async def _choose(seated: list[Match], random: Random) -> None:
    match, moment = await turn(seated)
    assert moment.legal
    await match.choose(pick(moment.legal, random))


async def of_a_bare_stream(size: Size, addresses: int, page: Found) -> Found:
    """Send as many bytes as often to the same crowd, without a page."""
    port = free_port()
    with bare(port) as process:
        await _until(lambda: answers(f"127.0.0.1:{port}"))
        crowd = Crowd(port, [f"/{number}" for number in range(addresses)])

        async def post(path: str, number: int) -> None:
            head = STATE + f"{number},".encode()
            body = head + b"." * (page.message_bytes - len(head) - 2) + b"\n\n"
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(f"POST {path} HTTP/1.1\r\nhost: bare\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)
            await reader.readline()
            writer.close()

        async def happen() -> None:
            for number in range(1, page.times + 1):
                await post(crowd.paths[number % addresses], number)
                await asyncio.sleep(PAUSE_SECONDS)

        try:
            for path in crowd.paths:
                await post(path, 0)
            return await measured(crowd, psutil.Process(process.pid), size.watchers, happen)
        finally:
            await crowd.close()


@contextmanager
def bare(port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run a bare stream in its own process."""
    process = subprocess.Popen([sys.executable, "-m", "tests.bench.bare_stream", str(port)])
    try:
        yield process
    finally:
        process.kill()
        process.wait()


async def measure(size: Size) -> list[str]:
    """Return the table."""
    rows: list[tuple[str, ...]] = []
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        service = Serving(folder / "data")
        stack.callback(service.end)
        web = WebProcess(folder, service.address)
        stack.callback(web.kill)
        await _until(lambda: web.is_up() and answers(service.address))
        players = await stack.enter_async_context(tables(service.address, "Anna", "Ben"))
        for matches in size.choices:
            page = await of_the_page(web, players, size, matches)
            rows += _rows(size, matches, page, await of_a_bare_stream(size, matches, page))
    return results.table(("", "found", "goal"), rows)


def _rows(size: Size, matches: int, page: Found, beside: Found) -> list[tuple[str, ...]]:
    # A few messages may take less than the resolution of the clock of processes.
    ratio = beside.microseconds / page.microseconds if page.microseconds else math.inf
    where = "one match" if matches == 1 else f"{matches} matches"
    return [
        (f"{size.watchers:,} watchers of {where}: memory a watcher", f"{page.kib:.1f} KiB", f"≤ {MOST_KIB} KiB"),
        ("messages delivered, bytes of each", f"{page.delivered:,}, {page.message_bytes:,}", ""),
        ("processor time a message", f"{page.microseconds:.0f} µs", ""),
        ("the same of a bare stream", f"{beside.microseconds:.0f} µs", ""),
        ("rate as a part of that of the bare stream", f"{ratio:.2f}", f"≥ {LEAST_RATIO}"),
        ("behind the first of the watchers, median", f"{1e3 * statistics.median(page.late):.0f} ms", ""),
        ("the same, 99 of 100", f"{1e3 * page.late[int(0.99 * page.delivered)]:.0f} ms", "< 250 ms"),
    ]


def main(words: list[str]) -> None:
    """Measure, print, and write the section."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench web", description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="a few watchers, to see that it runs")
    parser.add_argument("--watchers", type=int, default=0, help="so many watchers of a tenth as many matches")
    given = parser.parse_args(words)
    os.environ.update({f"ROLLBOOK_LIMITS_{limit}": "1000" for limit in LIMITS})
    size = Size(given.watchers, {given.watchers // 10: 100}) if given.watchers else TINY if given.tiny else FULL
    lines = asyncio.run(measure(size))
    print("\n".join(lines))
    if size is FULL:
        results.write("web", lines)
