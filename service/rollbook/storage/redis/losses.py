"""The record in the store of matches of which a new master lacks acknowledged events (`testimony.py`)."""

from __future__ import annotations

from typing import Final

from rollbook.storage.redis.dispatch import Dispatch
from rollbook.storage.redis.keys import ACCEPTED_KEY, LOST_KEY

_ACCEPT: Final = b"""
local lost = redis.call('HGETALL', KEYS[1])
if #lost > 0 then
    redis.call('HSET', KEYS[2], unpack(lost))
    redis.call('DEL', KEYS[1])
end
return redis.call('HKEYS', KEYS[2])
"""


class Losses:
    """Reads the record, and removes what an operator accepts."""

    def __init__(self, dispatch: Dispatch) -> None:
        """Use the store of this dispatch."""
        self._dispatch = dispatch

    async def sequences(self) -> dict[str, int]:
        """The sequence of the newest acknowledged event of each match that lacks some."""
        stored = await self._dispatch.ask(LOST_KEY, "HGETALL", LOST_KEY, appends=True)
        return {name.decode(): int(sequence) for name, sequence in zip(stored[::2], stored[1::2], strict=True)}

    async def accept(self) -> list[str]:
        """Let all processes append again, and return the matches, which the caller has to end.

        Each is returned again until `settle`.
        """
        found = await self._dispatch.ask(LOST_KEY, "EVAL", _ACCEPT, 2, LOST_KEY, ACCEPTED_KEY, appends=True)
        return [name.decode() for name in found]

    async def settle(self, match_id: str) -> None:
        """Record that a match has been ended."""
        await self._dispatch.ask(ACCEPTED_KEY, "HDEL", ACCEPTED_KEY, match_id, appends=True)
