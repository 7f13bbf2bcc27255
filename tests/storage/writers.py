"""Clients that write and read while a store fails, and a check of what was lost."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Final

from rollbook.match.chain import Entry
from rollbook.storage.port import Appended, AppendUnconfirmed, StoreUnavailable
from rollbook.storage.redis.log import RedisLog

_PAUSE_SECONDS: Final = 0.02
_LOOK_SECONDS: Final = 0.005
PATIENCE_SECONDS: Final = 60.0


class Writer:
    """Appends to its own match, entry by entry, and remembers the acknowledged entries."""

    def __init__(self, log: RedisLog, name: str) -> None:
        """Begin with an empty match."""
        self.log = log
        self.name = name
        self.head = 0
        self.acknowledged: dict[int, bytes] = {}
        self.last_at = 0.0
        self.number = 0

    async def write(self, enough: asyncio.Event) -> None:
        """Write until `enough` is set; after an unconfirmed append read the head."""
        while not enough.is_set():
            self.number += 1
            event = f"{self.name} {self.number}".encode()
            try:
                result = await self.log.append(self.name, self.head, [Entry(event)])
                if isinstance(result, Appended):
                    self.head, self.last_at = result.head, time.monotonic()
                    self.acknowledged.setdefault(result.head, event)
                else:
                    self.head = await self.log.head(self.name)
            except (AppendUnconfirmed, StoreUnavailable):
                await asyncio.sleep(_PAUSE_SECONDS)


class Reader:
    """Reads all entries of some matches as a process does for watchers, and remembers them."""

    def __init__(self, log: RedisLog, names: Sequence[str]) -> None:
        """Begin at the first entry."""
        self.log = log
        self.after = dict.fromkeys(names, 0)
        self.told: dict[tuple[str, int], bytes] = {}

    async def read(self, enough: asyncio.Event) -> None:
        """Read until `enough` is set; entries that disappear are found at the end."""
        while not enough.is_set():
            try:
                for name, entries in (await self.log.behind(self.after)).items():
                    for number, entry in enumerate(entries, self.after[name] + 1):
                        self.told.setdefault((name, number), entry.event)
                        self.after[name] = number
            except StoreUnavailable:
                await asyncio.sleep(_PAUSE_SECONDS)
            await asyncio.sleep(_LOOK_SECONDS)


class Crowd:
    """Writers and a reader over one store, with separate logs."""

    def __init__(self, writing: RedisLog, reading: RedisLog, count: int, name: str = "match") -> None:
        """Create this many writers, each with a match."""
        self.writers = [Writer(writing, f"{name}-{number}") for number in range(count)]
        self.reader = Reader(reading, [writer.name for writer in self.writers])
        self._enough = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Start writers and reader."""
        working = [*(writer.write(self._enough) for writer in self.writers), self.reader.read(self._enough)]
        self._tasks = [asyncio.create_task(work) for work in working]

    async def until_all_wrote(self, since: float | None = None) -> None:
        """Wait until every writer has an acknowledgement after `since`, or after now."""
        since = time.monotonic() if since is None else since
        async with asyncio.timeout(PATIENCE_SECONDS):
            while min(writer.last_at for writer in self.writers) <= since:  # noqa: ASYNC110 - of several tasks
                await asyncio.sleep(_PAUSE_SECONDS)

    async def until_all_tried(self, times: int = 2) -> None:
        """Wait until every writer has begun this many more appends, acknowledged or not."""
        enough = {writer: writer.number + times for writer in self.writers}
        async with asyncio.timeout(PATIENCE_SECONDS):
            while any(writer.number < number for writer, number in enough.items()):  # noqa: ASYNC110 - of several tasks
                await asyncio.sleep(_PAUSE_SECONDS)

    async def stop(self) -> None:
        """Let running operations finish."""
        self._enough.set()
        await asyncio.gather(*self._tasks)

    def told(self) -> Mapping[tuple[str, int], bytes]:
        """Everything that was acknowledged or read."""
        acknowledged = {
            (writer.name, number): event for writer in self.writers for number, event in writer.acknowledged.items()
        }
        return {**self.reader.told, **acknowledged}

    async def lost(self, log: RedisLog) -> list[tuple[str, int]]:
        """The acknowledged or read entries that are missing or different in the store."""
        stored = {writer.name: [one.event for one in await log.read(writer.name, 0, 10**6)] for writer in self.writers}
        return [
            (name, number)
            for (name, number), event in self.told().items()
            if stored[name][number - 1 : number] != [event]
        ]
