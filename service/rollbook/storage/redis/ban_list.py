"""Who is kept out of all services of a store, and until when: a short list, which every process reads again and again.

The list has a version, so that reading it again costs next to nothing. What a ban says is for the service to know; here
it is a text with a time, by the store's clock, after which it goes.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from rollbook.storage.redis.keys import BANS_KEY
from rollbook.storage.redis.log import RedisLog

_VERSION: Final = b"version"
_CHANGE: Final = files("rollbook.storage.redis").joinpath("ban_list.lua").read_bytes()
_TOO_MANY: Final = -1

_READ: Final = b"""
if (redis.call('HGET', KEYS[1], 'version') or '') == ARGV[1] then
    return false
end
return redis.call('HGETALL', KEYS[1])
"""


@dataclass(frozen=True, slots=True)
class Listing:
    """The list as it was read."""

    version: str
    texts: dict[str, tuple[int, str]]
    """By id until when a ban holds, in Unix milliseconds, and what it says."""


class BanList:
    """The list of a store."""

    def __init__(self, log: RedisLog) -> None:
        """Keep it in the store of this log."""
        self._dispatch = log.dispatch

    async def read(self, known: str) -> Listing | None:
        """The list; nothing if it is still the version that is known."""
        said = await self._dispatch.ask(BANS_KEY, "EVAL", _READ, 1, BANS_KEY, known, appends=True)
        if said is None:
            return None
        fields = dict(zip(said[::2], said[1::2], strict=True))
        version = fields.pop(_VERSION, b"").decode()
        texts = {}
        for ban_id, said_of_it in fields.items():
            until, _, text = said_of_it.decode(errors="replace").partition(" ")
            if until.isdecimal():
                texts[ban_id.decode(errors="replace")] = int(until), text
        return Listing(version, texts)

    async def put(self, ban_id: str, text: str, until_ms: int, most: int) -> bool:
        """Put one there, in place of one with the same id; whether there was room for it."""
        _, count = await self._change(ban_id, text, until_ms, most)
        return count != _TOO_MANY

    async def remove(self, ban_id: str) -> bool:
        """Take one out; whether it was there."""
        was_there, _ = await self._change(ban_id, "", 0, 0)
        return bool(was_there)

    async def _change(self, ban_id: str, text: str, until_ms: int, most: int) -> tuple[int, int]:
        command = ("EVAL", _CHANGE, 1, BANS_KEY, ban_id, text, until_ms, most)
        was_there, count = await self._dispatch.ask(BANS_KEY, *command, appends=True)
        return int(was_there), int(count)
