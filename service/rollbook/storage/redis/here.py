"""Presence in Redis: a sorted set for each match, and one script that changes it."""

from __future__ import annotations

from collections.abc import Collection
from importlib.resources import files
from typing import Final

from rollbook.storage.redis.keys import partition_of
from rollbook.storage.redis.log import RedisLog

_HERE: Final = files("rollbook.storage.redis").joinpath("here.lua").read_bytes()


class RedisPresence:
    """The present seats of all matches of a store."""

    def __init__(self, log: RedisLog) -> None:
        """Use the store of this log."""
        self._dispatch = log.dispatch
        self._partitions = log.parts

    async def update(self, match_id: str, process: str, seats: Collection[int], keep_ms: int) -> set[int]:
        """Replace the seats of a process; returns the present seats of all processes."""
        key = b"{p%d}:here:%b" % (partition_of(match_id, self._partitions), match_id.encode())
        arguments: list[bytes | str | int] = [key, match_id, process, keep_ms, *sorted(seats)]
        return set(map(int, await self._dispatch.ask(key, "EVAL", _HERE, 1, *arguments, appends=True)))
