"""A roll call: a task for every process over a store, and the record of which processes have done it.

A call is a number, higher than the last. Every process regularly reports the last call that it has completed, and
receives the newest. A process without a report for a while counts as silent, and has most likely ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rollbook.storage.redis.keys import ROLL_KEY
from rollbook.storage.redis.log import RedisLog

SILENT_MS: Final = 15_000
"""A process without a report for this long is silent."""

GONE_MS: Final = 3_600_000
"""A process without a report for this long is forgotten."""

_UNFINISHED: Final = b"unfinished"
_PROCESS: Final = b"process:"

_ANSWER: Final = b"""
local now = redis.call('TIME')
local now_ms = tonumber(now[1]) * 1000 + math.floor(tonumber(now[2]) / 1000)
redis.call('HSET', KEYS[1], ARGV[1], string.format('%s %.0f', ARGV[2], now_ms))
return redis.call('HGET', KEYS[1], 'call') or '0'
"""

_CALL_OUT: Final = b"""
local now = redis.call('TIME')
local last = tonumber(redis.call('HGET', KEYS[1], 'call') or '0')
-- By the clock, so that a store which was put back does not call what was obeyed already.
local call = string.format('%.0f', math.max(last + 1, tonumber(now[1]) * 1000))
redis.call('HSET', KEYS[1], 'call', call)
return call
"""


@dataclass(frozen=True, slots=True)
class Roll:
    """The processes that have not completed a call."""

    missing: frozenset[str]
    """Processes that have reported recently without having completed it."""
    silent: frozenset[str]
    """Processes that have not completed it and are silent."""


class RollCall:
    """Issues calls and records the answers in a store."""

    def __init__(self, log: RedisLog) -> None:
        """Use the store of this log."""
        self._dispatch = log.dispatch

    async def answer(self, process: str, done: int) -> int:
        """Report that a process runs and has completed the call `done`; returns the newest call."""
        field = _PROCESS + process.encode()
        return int(await self._dispatch.ask(ROLL_KEY, "EVAL", _ANSWER, 1, ROLL_KEY, field, done, appends=True))

    async def leave(self, process: str) -> None:
        """Remove a process that ends."""
        await self._dispatch.ask(ROLL_KEY, "HDEL", ROLL_KEY, _PROCESS + process.encode(), appends=True)

    async def call(self) -> int:
        """Issue a call; returns its number."""
        return int(await self._dispatch.ask(ROLL_KEY, "EVAL", _CALL_OUT, 1, ROLL_KEY, appends=True))

    async def roll(self, call: int) -> Roll:
        """The processes that have not completed this call."""
        seconds, microseconds = await self._dispatch.ask(ROLL_KEY, "TIME")
        now_ms = int(seconds) * 1_000 + int(microseconds) // 1_000
        stored = await self._dispatch.ask(ROLL_KEY, "HGETALL", ROLL_KEY, appends=True)
        missing, silent = set[str](), set[str]()
        for field, said in zip(stored[::2], stored[1::2], strict=True):
            if not field.startswith(_PROCESS):
                continue
            done, seen_ms = map(int, said.split())
            process = field.removeprefix(_PROCESS).decode(errors="replace")
            if now_ms - seen_ms > GONE_MS:
                await self.leave(process)
            elif done < call:
                (silent if now_ms - seen_ms > SILENT_MS else missing).add(process)
        return Roll(frozenset(missing), frozenset(silent))

    async def begin(self) -> bool:
        """Record that a task begins; returns whether an earlier one was left unfinished."""
        found = await self._dispatch.ask(ROLL_KEY, "HGET", ROLL_KEY, _UNFINISHED, appends=True)
        await self._dispatch.ask(ROLL_KEY, "HSET", ROLL_KEY, _UNFINISHED, 1, appends=True)
        return found is not None

    async def finish(self) -> None:
        """Record that the task is finished."""
        await self._dispatch.ask(ROLL_KEY, "HDEL", ROLL_KEY, _UNFINISHED, appends=True)
