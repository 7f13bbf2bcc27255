"""A roll call: something that every process over a store has to do, and which of them have done it.

A call is a number, higher than the last. Processes answer again and again with the last call they have obeyed, and
learn of the newest; one that is not heard of for a while is silent, and most likely gone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rollbook.storage.redis.keys import ROLL_KEY
from rollbook.storage.redis.log import RedisLog

SILENT_MS: Final = 15_000
"""Whoever is not heard of for so long is silent."""

GONE_MS: Final = 3_600_000
"""Whoever is silent for so long is not remembered."""

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
    """Who has not answered a call."""

    missing: frozenset[str]
    """Processes that were heard of, and have not obeyed it yet."""
    silent: frozenset[str]
    """Those that have not obeyed it either, and were not heard of for a while."""


class RollCall:
    """The roll of a store."""

    def __init__(self, log: RedisLog) -> None:
        """Keep it in the store of this log."""
        self._dispatch = log.dispatch

    async def answer(self, process: str, done: int) -> int:
        """Say that a process is there and has obeyed this call; the newest one."""
        field = _PROCESS + process.encode()
        return int(await self._dispatch.ask(ROLL_KEY, "EVAL", _ANSWER, 1, ROLL_KEY, field, done, appends=True))

    async def leave(self, process: str) -> None:
        """Say that a process ends."""
        await self._dispatch.ask(ROLL_KEY, "HDEL", ROLL_KEY, _PROCESS + process.encode(), appends=True)

    async def call(self) -> int:
        """Call everybody; the number of the call."""
        return int(await self._dispatch.ask(ROLL_KEY, "EVAL", _CALL_OUT, 1, ROLL_KEY, appends=True))

    async def roll(self, call: int) -> Roll:
        """Who has not obeyed this call."""
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
        """Note that work begins which has to be finished; whether some was begun before and not finished."""
        found = await self._dispatch.ask(ROLL_KEY, "HGET", ROLL_KEY, _UNFINISHED, appends=True)
        await self._dispatch.ask(ROLL_KEY, "HSET", ROLL_KEY, _UNFINISHED, 1, appends=True)
        return found is not None

    async def finish(self) -> None:
        """Note that nothing is left to finish."""
        await self._dispatch.ask(ROLL_KEY, "HDEL", ROLL_KEY, _UNFINISHED, appends=True)
