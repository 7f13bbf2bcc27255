"""The ends of many matches, read together: one command names as many as one server may be asked for at once."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from rollbook.match.chain import Entry
from rollbook.storage.port import MOST_BEHIND, Hole
from rollbook.storage.redis.connection import Command
from rollbook.storage.redis.dispatch import Dispatch, KeyMisused
from rollbook.storage.redis.keys import partition_of, stream_key

MOST_KEYS: Final = 500
"""How many matches one read names."""

_STREAMS: Final = (b"stream", b"none")


class Tails:
    """Reads what is behind the sequences up to which matches are known."""

    def __init__(self, dispatch: Dispatch, partitions: int, *, by_partition: bool) -> None:
        """Ask here; what one read names may lie in several partitions unless it goes `by_partition`."""
        self._dispatch = dispatch
        self._partitions = partitions
        self._by_partition = by_partition

    async def behind(self, after: Mapping[str, int]) -> dict[str, list[Entry]]:
        """Entries behind the given sequences, of the matches that have any; none of one that has a hole there."""
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
        """The same of matches of which some have a key that is no stream: those come as if they had a hole."""
        kinds = await self._dispatch.ask_all([(key, ("TYPE", key)) for key in group])
        streams = {match_id for match_id, kind in zip(group.values(), kinds, strict=True) if kind in _STREAMS}
        misused: dict[str, list[Entry]] = {match_id: [] for match_id in group.values() if match_id not in streams}
        return misused | await self.behind({match_id: after[match_id] for match_id in streams}) if misused else {}

    def _groups(self, after: Mapping[str, int]) -> list[dict[bytes, str]]:
        """By their keys the matches of each read."""
        groups: dict[int, list[dict[bytes, str]]] = {}
        for match_id in after:
            partition = partition_of(match_id, self._partitions) if self._by_partition else 0
            parts = groups.setdefault(partition, [{}])
            if len(parts[-1]) == MOST_KEYS:
                parts.append({})
            parts[-1][stream_key(match_id, self._partitions)] = match_id
        return [part for parts in groups.values() for part in parts]


def whole_entries(match_id: str, after: int, answer: Iterable[tuple[bytes, Sequence[bytes]]]) -> list[Entry]:
    """Entries as they came, or Hole if one before or between them is missing."""
    entries: list[Entry] = []
    for expected, (identity, fields) in enumerate(answer, after + 1):
        named = dict(zip(fields[::2], fields[1::2], strict=True))
        if identity != b"%d-0" % expected or b"e" not in named:
            raise Hole(match_id, expected - 1)
        entries.append(Entry(named[b"e"], named.get(b"p", b"")))
    return entries


def _whole(match_id: str, after: int, answer: Iterable[tuple[bytes, Sequence[bytes]]]) -> list[Entry]:
    """The same for a read of many matches, which goes on for the others: none of a match that has a hole there."""
    try:
        return whole_entries(match_id, after, answer)
    except Hole:
        return []
