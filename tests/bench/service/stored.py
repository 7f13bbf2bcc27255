"""Group commit at fsync beside a bare pipeline of the same script, and Redis' memory for an event."""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from redis.asyncio import Redis

from rollbook.match.chain import Entry
from rollbook.storage.embedded.server import find_server
from rollbook.storage.port import Appended
from rollbook.storage.redis.keys import lobby_key, partition_of, stream_key
from rollbook.storage.redis.log import RedisLog
from rollbook.storage.redis.masters import _SCRIPT
from tests.bench.measure import Measure, Row, Run
from tests.bench.service.size import Size
from tests.bench.service.stage import played_on, stage
from tests.storage.servers import running

MOST_BYTES_AN_EVENT = 160


class Stored:
    """A durable server, our log on it, and the same script over a bare pipeline."""

    def __init__(self, run: Run, size: Size) -> None:
        self._run = run
        self._size = size
        self._heads: dict[str, int] = {}
        self._entry = Entry(b"e" * 120)

    async def begin(self, stack: AsyncExitStack) -> None:
        """Start the bench's own server."""
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        server = stack.enter_context(running(find_server(), Path(folder)))
        self._log = await RedisLog.connect(server.url)
        stack.push_async_callback(self._log.close)
        self._redis: Any = Redis(port=server.port, protocol=2)
        stack.push_async_callback(self._redis.aclose)

    def measures(self) -> list[list[Measure]]:
        """The groups of measures that run side by side."""
        run = self._run
        name = f"group commit of {self._size.committed_matches} matches"
        return [
            [
                Measure("bare pipeline of the script, fsync", "appends/s", lambda: run(self.pipelined())),
                Measure(name, "appends/s", lambda: run(self.together()), 0.6),
            ],
            [
                Measure("one append at a time, fsync", "appends/s", lambda: run(self.alone())),
                Measure(name, "appends/s", lambda: run(self.together()), 5.0),
            ],
        ]

    async def _append(self, match_id: str, times: int) -> None:
        for _ in range(times):
            head = self._heads.get(match_id, 0)
            behind = self._entry.event if head else None
            result = await self._log.append(match_id, head, [self._entry], behind=behind)
            assert isinstance(result, Appended)
            self._heads[match_id] = result.head

    async def together(self) -> int:
        """Append to many matches concurrently, one append at a time in each."""
        matches, each = self._size.committed_matches, self._size.appends_each
        await asyncio.gather(*[self._append(f"together-{number}", each) for number in range(matches)])
        return matches * each

    async def alone(self) -> int:
        """Append to one match."""
        await self._append("alone", self._size.appends_alone)
        return self._size.appends_alone

    async def pipelined(self) -> int:
        """Run the script for as many matches in one pipeline, one pipeline after the other."""
        matches, each = self._size.committed_matches, self._size.appends_each
        digest = hashlib.sha1(_SCRIPT, usedforsecurity=False).hexdigest()
        await self._redis.script_load(_SCRIPT)
        for _ in range(each):
            pipeline = self._redis.pipeline(transaction=False)
            for number in range(matches):
                match_id = f"pipelined-{number}"
                head = self._heads.get(match_id, 0)
                behind = self._entry.event if head else b""
                # The first append checks in the lobby whether the match exists.
                keys = [stream_key(match_id), *([] if head else [lobby_key(partition_of(match_id))])]
                arguments = (b"%d" % head, b"0", match_id.encode(), b"", behind, b"0", self._entry.event, b"")
                pipeline.evalsha(digest, len(keys), *keys, *arguments)
                self._heads[match_id] = head + 1
            answers = await pipeline.execute()
            assert all(outcome == 0 for outcome, _ in answers)
        return matches * each

    async def weighed(self) -> list[Row]:
        """Return bytes per event of matches of Can't Stop: of all their keys, and by the growth of the server."""
        before = (await self._redis.info("memory"))["used_memory"]
        match_ids = []
        async with stage(self._log).serving() as world:
            for _ in range(self._size.weighed_matches):
                match_id, people = await world.started()
                match_ids.append(match_id)
                await played_on(world, match_id, people, self._size.weighed_choices)
        grown = (await self._redis.info("memory"))["used_memory"] - before
        keys = [stream_key(match_id) for match_id in match_ids]
        events = sum([await self._redis.xlen(key) for key in keys])
        keys += [key for partition in range(256) if await self._redis.exists(key := lobby_key(partition))]
        used = sum([await self._redis.memory_usage(key, samples=0) for key in keys])
        return [
            Row(
                f"Redis memory an event, {how}; ratio to {MOST_BYTES_AN_EVENT}",
                "bytes",
                (bytes_each,),
                bytes_each / MOST_BYTES_AN_EVENT,
                1.0,
                at_most=True,
            )
            for how, bytes_each in (("all keys", used / events), ("used_memory", grown / events))
        ]
