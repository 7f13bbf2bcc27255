"""Reads the new entries of many matches at once: one command names up to MOST_KEYS matches of one server."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from rollbook.match.chain import Entry
from rollbook.storage.port import MOST_BEHIND, Hole
from rollbook.storage.redis.connection import Command
from rollbook.storage.redis.dispatch import Dispatch, KeyMisused
from rollbook.storage.redis.keys import partition_of, stream_key

MOST_KEYS: Final = 500
"""Maximum number of matches in one read."""

_STREAMS: Final = (b"stream", b"none")


class Tails:
    """Reads the entries after the sequences up to which the caller knows each match."""

    def __init__(self, dispatch: Dispatch, partitions: int, *, by_partition: bool) -> None:
        """One read may name matches of several partitions, except with `by_partition`, as a cluster requires."""
        self._dispatch = dispatch
        self._partitions = partitions
        self._by_partition = by_partition

    async def behind(self, after: Mapping[str, int]) -> dict[str, list[Entry]]:
        """Entries after the given sequence of each match that has any; an empty list if there is a hole among them."""
        groups = self._groups(after)
        commands: list[tuple[bytes, Command]] = []
        for group in groups:
            ids = [f"{after[match_id]}-0" for match_id in group.values()]
            commands.append((next(iter(group)), ("XREAD", "COUNT", MOST_BEHIND, "STREAMS", *group, *ids)))
        found: dict[str, list[Entry]] = {}
        for group, answer in zip(groups, await self._dispatch.ask_all(commands), strict=True):
            if isinstance(answer, KeyMisused):
                found |= await self._behind_misused(after, group)
                continue
            for key, entries in answer or ():
                found[group[key]] = _whole(group[key], after[group[key]], entries)
        return found

    async def _behind_misused(self, after: Mapping[str, int], group: Mapping[bytes, str]) -> dict[str, list[Entry]]:
        """`behind` for a group with keys that are not streams: their matches get an empty list, as for a hole."""
        kinds = await self._dispatch.ask_all([(key, ("TYPE", key)) for key in group])
        streams = {match_id for match_id, kind in zip(group.values(), kinds, strict=True) if kind in _STREAMS}
        misused: dict[str, list[Entry]] = {match_id: [] for match_id in group.values() if match_id not in streams}
        return misused | await self.behind({match_id: after[match_id] for match_id in streams}) if misused else {}

    def _groups(self, after: Mapping[str, int]) -> list[dict[bytes, str]]:
        """The matches of each read, by their stream keys."""
        groups: dict[int, list[dict[bytes, str]]] = {}
        for match_id in after:
            partition = partition_of(match_id, self._partitions) if self._by_partition else 0
            parts = groups.setdefault(partition, [{}])
            if len(parts[-1]) == MOST_KEYS:
                parts.append({})
            parts[-1][stream_key(match_id, self._partitions)] = match_id
        return [part for parts in groups.values() for part in parts]


def whole_entries(match_id: str, after: int, answer: Iterable[tuple[bytes, Sequence[bytes]]]) -> list[Entry]:
    """Convert a server's reply to entries; raises Hole if one before or between them is missing."""
    entries: list[Entry] = []
    for expected, (identity, fields) in enumerate(answer, after + 1):
        named = dict(zip(fields[::2], fields[1::2], strict=True))
        if identity != b"%d-0" % expected or b"e" not in named:
            raise Hole(match_id, expected - 1)
        entries.append(Entry(named[b"e"], named.get(b"p", b"")))
    return entries


def _whole(match_id: str, after: int, answer: Iterable[tuple[bytes, Sequence[bytes]]]) -> list[Entry]:
    """Convert a reply to entries; empty if there is a hole, so that a read of many matches continues."""
    try:
        return whole_entries(match_id, after, answer)
    except Hole:
        return []
