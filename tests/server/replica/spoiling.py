"""A theatre over a store of each kind, with damage to the store behind the service's back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
import redis.asyncio

from rollbook.match.chain import Entry
from rollbook.match.ledger import Ledger
from rollbook.storage.archive.log import ArchivedLog
from rollbook.storage.port import AppendResult, StoreUnavailable
from rollbook.storage.redis.keys import stream_key
from rollbook.storage.redis.log import RedisLog
from rollbook.v1.table_pb2 import Position, SignedHead
from tests.server.feeds.watching import Theatre
from tests.server.rpc.talking import PATIENCE_SECONDS, Refused
from tests.storage.servers import Server


class SetLog(RedisLog):
    """A store whose clock tests can set forward."""

    ahead_ms = 0

    async def append(self, match_id: str, expected: int, entries: Sequence[Entry], **how: Any) -> AppendResult:
        """Append with the due time compared to the shifted clock."""
        not_before_ms = how.pop("not_before_ms", None)
        due_ms = None if not_before_ms is None else not_before_ms - self.ahead_ms
        return await super().append(match_id, expected, entries, not_before_ms=due_ms, **how)

    async def now_ms(self) -> int:
        """The shifted time in milliseconds."""
        return await super().now_ms() + self.ahead_ms


class Spoiler(Theatre):
    """A world whose logs tests can cut, delete and damage."""

    client: Any = None
    """A separate client of the store; None for a store in memory."""

    server: Server | None = None

    async def restart_store(self) -> None:
        """Kill the store, and restart it once the service has failed to reach it."""
        assert self.server is not None
        self.server.kill()
        with pytest.raises(StoreUnavailable):
            await self.store.now_ms()
        await asyncio.to_thread(self.server.start_again)

    async def sweep_on(self, seconds: int) -> None:
        """Let this many seconds pass on the store's clock, with a sweep in each, until the time of grace is over."""
        sweeper = self.service.sweeper()
        for _ in range(seconds):
            await sweeper.sweep()
            self.clock.ms += 1_000
            if isinstance(self.store, SetLog):
                self.store.ahead_ms += 1_000
        await sweeper.sweep()

    async def cut(self, match_id: str, keep: int) -> None:
        """Keep only the first events, as a restored backup does."""
        if self.client is None:
            del self.log._streams[match_id].entries[keep:]
            return
        key = stream_key(match_id)
        left = await self.client.xrange(key, count=keep)
        await self.client.delete(key)
        for identity, fields in left:
            await self.client.xadd(key, fields, id=identity)

    async def delete(self, match_id: str) -> None:
        """Delete the whole log."""
        if self.client is None:
            del self.log._streams[match_id]
        else:
            await self.client.delete(stream_key(match_id))

    async def dig(self, match_id: str, sequence: int) -> None:
        """Remove one event from the log; not possible for a store in memory."""
        assert 1 == await self.client.xdel(stream_key(match_id), f"{sequence}-0")

    @asynccontextmanager
    async def restarted(self) -> AsyncIterator[Spoiler]:
        """Another process of the service over the same store, without any memory."""
        self.service = self.process()
        await self.service.clock.compare()
        before = self.channel
        async with self.serving(self.service):
            yield self
        self.channel = before

    async def folded(self, match_id: str) -> Ledger:
        """The ledger folded from the stored log."""
        return Ledger.fold(match_id, await self.log.read(match_id, 0, 100_000))

    @property
    def lost_tails(self) -> float:
        """The number of lost tails that this process has counted."""
        return self.service.metrics.registry.get_sample_value("rollbook_lost_tails_total") or 0


def kept(head: SignedHead) -> Position:
    """The position with which a client shows a head that it kept."""
    return Position(sequence=head.sequence, link=head.link, key_id=head.key_id, signature=head.signature)


def said(told: Refused) -> tuple[str, str, dict[str, str], str, bytes]:
    """All parts of a refusal."""
    return told.code.name, told.reason, told.facts, told.message, told.detail.SerializeToString(deterministic=True)


@asynccontextmanager
async def spoiled(server: Server | None, **how: Any) -> AsyncIterator[Spoiler]:
    """A world in memory, or on an emptied server."""
    if server is None:
        async with Spoiler(**how).serving() as world:
            assert isinstance(world, Spoiler)
            yield world
        return
    client: Any
    async with redis.asyncio.Redis(port=server.port, protocol=2) as client:
        await client.flushall()
        log = await SetLog.connect(server.url)
        try:
            async with Spoiler(log=ArchivedLog(log, None), **how).serving() as world:
                assert isinstance(world, Spoiler)
                world.client, world.server = client, server
                await world.service.clock.compare()
                yield world
        finally:
            await log.close()


def run(server: Server | None, scenario: Callable[[Spoiler], Awaitable[None]], **how: Any) -> None:
    """Run the scenario in such a world."""

    async def main() -> None:
        async with asyncio.timeout(PATIENCE_SECONDS), spoiled(server, **how) as world:
            await scenario(world)

    asyncio.run(main())
