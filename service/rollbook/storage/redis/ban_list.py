"""Short lists of a store that all processes read regularly: of bans, and of revoked tokens.

The list has a version, so that reading an unchanged list costs almost nothing. The service interprets a ban's text; the
store only removes it after its time, by the store's clock.
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
    """The ban list at the time of reading."""

    version: str
    texts: dict[str, tuple[int, str]]
    """The expiry in Unix milliseconds and the text of each ban, by id."""


class BanList:
    """Reads and changes one of these lists."""

    def __init__(self, log: RedisLog, key: bytes = BANS_KEY) -> None:
        """Use the store of this log."""
        self._dispatch = log.dispatch
        self._key = key

    async def read(self, known: str) -> Listing | None:
        """The ban list; None if its version is still `known`."""
        said = await self._dispatch.ask(self._key, "EVAL", _READ, 1, self._key, known, appends=True)
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
        """Add a ban, or replace the one with this id; returns False if the list already has `most`."""
        _, count = await self._change(ban_id, text, until_ms, most)
        return count != _TOO_MANY

    async def remove(self, ban_id: str) -> bool:
        """Remove a ban; returns whether it existed."""
        was_there, _ = await self._change(ban_id, "", 0, 0)
        return bool(was_there)

    async def _change(self, ban_id: str, text: str, until_ms: int, most: int) -> tuple[int, int]:
        command = ("EVAL", _CHANGE, 1, self._key, ban_id, text, until_ms, most)
        was_there, count = await self._dispatch.ask(self._key, *command, appends=True)
        return int(was_there), int(count)
