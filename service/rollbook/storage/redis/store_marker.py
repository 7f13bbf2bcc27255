"""A marker on every master, by which processes notice that a store has lost all its data, such as by FLUSHALL.

Each partition has a marker (on a single master only partition 0): a word and ids of the store, the newest first.

    new ID         the markers of a new store are being written
    kept ID OLD …  the store is the one with this id; the loss of those with the other ids was accepted
    lost ID        the store with this id was expected here; no process uses the store until the loss is accepted

A process that finds no marker, or ids without its own, writes `lost`, so that all processes and later starts see it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from typing import Final

import structlog

from rollbook.storage.port import STORE_REPLACED, StoreUnavailable
from rollbook.storage.redis.dispatch import Dispatch
from rollbook.storage.redis.keys import marker_key

_ID_BYTES: Final = 8

_COMPARE: Final = b"""
-- KEYS[1] the marker; ARGV the expected id, and the word to write if there is no marker (empty: it is lost)
local found = redis.call('GET', KEYS[1])
if not found and ARGV[2] ~= '' then
    found = ARGV[2] .. ' ' .. ARGV[1]
    redis.call('SET', KEYS[1], found)
    return found
end
if found then
    if string.sub(found, 1, 5) == 'lost ' then
        return found
    end
    if string.find(found .. ' ', ' ' .. ARGV[1] .. ' ', 1, true) then
        return found
    end
end
redis.call('SET', KEYS[1], 'lost ' .. ARGV[1])
return 'lost ' .. ARGV[1]
"""

_ACCEPT: Final = b"""
-- KEYS[1] the marker; ARGV the new id, and the caller's id. Keeps the newest seven of the ids that were replaced.
local ids = {'kept', ARGV[1], ARGV[2]}
for id in string.gmatch(redis.call('GET', KEYS[1]) or '', ' (%x+)') do
    if id ~= ARGV[2] and #ids < 9 then
        table.insert(ids, id)
    end
end
redis.call('SET', KEYS[1], table.concat(ids, ' '))
"""

_logger = structlog.get_logger()

Keep = Callable[[str], None]


class Marker:
    """The markers of a store, and the id that this process expects in them."""

    def __init__(self, dispatch: Dispatch, partitions: int, *, cluster: bool) -> None:
        """Expect nothing until `settle`."""
        self._dispatch = dispatch
        self._partitions = range(partitions if cluster else 1)
        self._id = ""
        self._keep: Keep = lambda _id: None

    async def settle(self, noted: str, keep: Keep) -> None:
        """Expect the noted id, or if it is empty that of the store, which gets one if it is new.

        `keep` is called with the id to note for the next start, now and whenever a loss has been accepted.
        """
        self._keep = keep
        word, newest = _read(await self._compare(0, noted, "") if noted else await self._begin())
        self._id = noted or newest
        for partition in self._partitions[1:]:
            await self._compare(partition, self._id, "kept" if word == "new" else "")
        if word == "new":
            await self._dispatch.ask(marker_key(0), "SET", marker_key(0), f"kept {self._id}", appends=True)
        keep(self._id)

    async def _begin(self) -> str:
        """The first marker of the store, written now if there is none."""
        key = marker_key(0)
        await self._dispatch.ask(key, "SET", key, f"new {secrets.token_hex(_ID_BYTES)}", "NX", appends=True)
        found: bytes = await self._dispatch.ask(key, "GET", key, appends=True)
        return found.decode(errors="replace")

    async def check(self) -> None:
        """Compare the markers of all partitions; raises StoreUnavailable if one is not as expected."""
        commands = [(marker_key(partition), ("GET", marker_key(partition))) for partition in self._partitions]
        found = await self._dispatch.ask_all(commands, appends=True)
        await self.compare(dict(zip(self._partitions, found, strict=True)))

    async def compare(self, found: Mapping[int, bytes | None]) -> None:
        """Compare markers that were read, by partition; raises StoreUnavailable if one is not as expected.

        Until all are as expected again, the store is used for nothing else.
        """
        if not self._id:
            return
        said = []
        for partition, marker in found.items():
            word, *ids = (marker or b"").decode(errors="replace").split() or [""]
            if word not in {"new", "kept"} or self._id not in ids:
                word, *ids = (await self._compare(partition, self._id, "")).split()
            said.append((word, ids[0]))
        if "lost" in {word for word, _ in said}:
            self._dispatch.is_replaced = True
            raise StoreUnavailable(
                f"The store lacks the marker {self._id}: it was emptied, or another store answers at its address."
                " Restore it from a backup, or accept the loss with `rollbook admin accept-loss`.",
                STORE_REPLACED,
            )
        newest = {newest for _, newest in said}
        if newest != {self._id} and len(newest) == 1:
            self._id = newest.pop()
            _logger.warning("the loss of the store was accepted", marker=self._id)
            self._keep(self._id)
        self._dispatch.is_replaced = False

    async def accept(self) -> bool:
        """Accept the loss of the store, for all processes; returns whether it was lost."""
        if not self._dispatch.is_replaced:
            return False
        fresh = secrets.token_hex(_ID_BYTES)
        for partition in self._partitions:
            key = marker_key(partition)
            await self._dispatch.ask(key, "EVAL", _ACCEPT, 1, key, fresh, self._id, appends=True)
        await self.check()
        return True

    async def _compare(self, partition: int, expected: str, write: str) -> str:
        key = marker_key(partition)
        found: bytes = await self._dispatch.ask(key, "EVAL", _COMPARE, 1, key, expected, write, appends=True)
        return found.decode(errors="replace")


def _read(marker: str) -> tuple[str, str]:
    """The word and the newest id of a marker."""
    word, newest, *_ = marker.split()
    return word, newest
