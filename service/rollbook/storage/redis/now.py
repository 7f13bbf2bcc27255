"""The pools of PlayNow in Redis: a hash of tables for each pool, and one script for every step."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import Any, Final

from rollbook.storage.pools import MOST_TABLES, Claim, Hold, Holder, Pool, TablePlace
from rollbook.storage.redis.keys import partition_of
from rollbook.storage.redis.log import RedisLog

_NOW: Final = files("rollbook.storage.redis").joinpath("now.lua").read_bytes()

_PAUSE: Final = b"""
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local times = tonumber(redis.call('GET', KEYS[1]) or '0')
local pause = math.min(ARGV[1] * 2 ^ math.min(times, 20), tonumber(ARGV[2]))
redis.call('SET', KEYS[1], times + 1, 'PX', ARGV[3])
redis.call('SET', KEYS[2], string.format('%.0f', now + pause), 'PX', string.format('%.0f', pause))
return 0
"""

_PAUSED: Final = b"""
local time = redis.call('TIME')
return tonumber(redis.call('GET', KEYS[1]) or '0') - tonumber(time[1]) * 1000 - math.floor(tonumber(time[2]) / 1000)
"""

_PEOPLE_ONLY: Final = "p"
_HOUSE: Final = "h"


class RedisPools:
    """The pools of a store."""

    def __init__(self, log: RedisLog) -> None:
        """Use the store of this log."""
        self._dispatch = log.dispatch
        self._partitions = log.parts

    async def claim(self, pool: Pool, holder: Holder, match_id: str) -> Claim:
        """Claim a seat: at the holder's table, else at the oldest table with people, else at a new one."""
        found, until_ms = await self._step("claim", pool, match_id, holder)
        return Claim(found.decode(), until_ms)

    async def hold(self, pool: Pool, holder: Holder, match_id: str) -> Hold:
        """Claim a seat at this table, or extend the claim."""
        wait_ms, until_ms, people_only = await self._step("hold", pool, match_id, holder)
        return Hold(wait_ms, until_ms, bool(people_only))

    async def sit(self, pool: Pool, holders: Sequence[Holder], match_id: str) -> None:
        """Record that these holders sit at a table and were seen."""
        await self._step("sit", pool, match_id, *holders)

    async def leave(self, pool: Pool, holder: str, match_id: str) -> tuple[int, bool]:
        """Remove a holder's place, and a table without people."""
        people, people_only = await self._step("leave", pool, match_id, Holder(holder))
        return people, bool(people_only)

    async def places(self, pool: Pool, match_id: str) -> list[TablePlace]:
        """All places at a table."""
        said = await self._step("places", pool, match_id)
        fields = zip(said[::4], said[1::4], said[2::4], said[3::4], strict=True)
        return [
            TablePlace(Holder(name.decode(), kind == b"p", kind == b"h"), until_ms, seen_ms)
            for name, until_ms, seen_ms, kind in fields
        ]

    async def drop(self, pool: Pool, match_id: str) -> None:
        """Remove a table."""
        await self._step("drop", pool, match_id)

    async def pause(self, holder: str, first_ms: int, most_ms: int, forgive_ms: int) -> None:
        """Refuse a holder for a time that doubles with each call."""
        keys = self._key("now-pauses", holder), self._key("now-paused", holder)
        await self._dispatch.ask(keys[0], "EVAL", _PAUSE, 2, *keys, first_ms, most_ms, forgive_ms, appends=True)

    async def paused_ms(self, holder: str) -> int:
        """For how many more milliseconds a holder is refused."""
        key = self._key("now-paused", holder)
        return max(0, int(await self._dispatch.ask(key, "EVAL", _PAUSED, 1, key, appends=True)))

    async def _step(self, step: str, pool: Pool, match_id: str, *holders: Holder) -> Any:
        key = self._key("now", pool.name)
        said = [part for holder in holders for part in (holder.name, _kind(holder))]
        times = pool.seats, pool.claim_ms, pool.seen_ms, pool.keep_ms, MOST_TABLES
        return await self._dispatch.ask(key, "EVAL", _NOW, 1, key, step, match_id, *times, *said, appends=True)

    def _key(self, what: str, name: str) -> bytes:
        return b"{p%d}:%b:%b" % (partition_of(name, self._partitions), what.encode(), name.encode())


def _kind(holder: Holder) -> str:
    return _HOUSE if holder.is_house else _PEOPLE_ONLY if holder.people_only else ""
