"""A log in Redis (6.2 or later) or Valkey: one stream a match, and one script that appends to it.

A stream's entries have the ids `1-0`, `2-0`, `3-0` …: the id is the sequence, so that two writers cannot both get it.
Fields are `e`, the event, and `p`, its private part, if it has one.

After Appended the entries are durable; after Conflict, TooEarly and StoreUnavailable nothing was written; any other
failure is AppendUnconfirmed. An append is sent again only after a refusal.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from typing import Any, Final, Self, get_args

from rollbook.match.chain import Entry
from rollbook.storage.data_format import BEFORE_RELEASE, FORMAT, refusal
from rollbook.storage.port import (
    KEEP_SECONDS,
    NOT_OURS,
    Announcement,
    Appended,
    AppendResult,
    Conflict,
    Hole,
    LobbyEntry,
    StoreUnavailable,
    TooEarly,
    check_append,
)
from rollbook.storage.redis.address import Kind, parse
from rollbook.storage.redis.announcements import Announcements
from rollbook.storage.redis.dispatch import Dispatch, KeyMisused
from rollbook.storage.redis.durability import Durability, Keeping
from rollbook.storage.redis.keys import (
    ARCHIVE_KEY,
    BEAT_KEY,
    CLUSTER_PARTITIONS,
    FORMAT_KEY,
    KEYS_KEY,
    LACKING_KEY,
    PARTITIONS,
    PARTITIONS_KEY,
    PROCESSES_KEY,
    SWEEPER_KEY,
    lobby_key,
    stream_key,
)
from rollbook.storage.redis.lobby_index import LobbyIndex, index_arguments
from rollbook.storage.redis.losses import Losses
from rollbook.storage.redis.masters import ConnectionSettings, Servers, servers
from rollbook.storage.redis.replication import check_replicated
from rollbook.storage.redis.store_marker import Marker
from rollbook.storage.redis.tails import Tails, whole_entries
from rollbook.storage.redis.testimony import Testimony

_APPENDED: Final = 0
_CONFLICT: Final = 1

_LEASE: Final = b"""
local held_by = redis.call('GET', KEYS[1])
if held_by and held_by ~= ARGV[1] then
    return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
"""

_KEYS: Final = b"""
local found = redis.call('GET', KEYS[1])
if found and found ~= ARGV[2] then
    return found
end
redis.call('SET', KEYS[1], ARGV[1])
return ARGV[1]
"""

_ENTER: Final = files("rollbook.storage.redis").joinpath("enter.lua").read_bytes()

_HIGHEST: Final = 2**64 - 1
"""The highest number in a stream id, and a limit for heads."""


class RedisLog(LobbyIndex):
    """A log that keeps every match in a stream."""

    def __init__(self, servers: Servers, *, partitions: int, cluster: bool, testimony: Testimony | None = None) -> None:
        """Use `RedisLog.connect`, which also checks the store."""
        self._testimony = testimony
        super().__init__(Dispatch(servers), partitions, cluster=cluster)
        self._tails = Tails(self._dispatch, partitions, by_partition=cluster)
        self._announcements = Announcements(servers)
        self.marker = Marker(self._dispatch, partitions, cluster=cluster)
        """By which a service recognises its store; it expects nothing until it is settled."""
        self.losses = Losses(self._dispatch)
        """Matches of which a new master lacks acknowledged events."""

    @classmethod
    async def connect(
        cls,
        url: str,
        durability: Durability = "fsync",
        *,
        replicas: int = 1,
        partitions: int | None = None,
        append_seconds: float = 5.0,
    ) -> Self:
        """Connect to the store at a URL (see `address`); raises StoreUnavailable with the reason if it is unfit.

        `append_seconds` is how long an append waits for an answer before its outcome is unknown. With a replicated
        durability, data is acknowledged and returned only when `replicas` replicas have it, with `quorum` half of them.
        `partitions` is for a new store, and checked in another one; by default a store keeps the number it began with.
        """
        address = parse(url)
        if durability not in get_args(Durability):
            raise ValueError(f"durability is one of {', '.join(get_args(Durability))}, not {durability!r}")
        keeping = Keeping(durability, replicas)
        testimony = Testimony() if durability == "quorum" else None
        if testimony is not None and (address.kind is not Kind.SENTINEL or replicas < 2 or replicas % 2):  # noqa: PLR2004
            raise ValueError("a quorum takes Sentinels, and two replicas, four, or another even number")
        found = servers(ConnectionSettings(address, keeping, append_seconds, testimony))
        is_cluster = address.kind is Kind.CLUSTER
        try:
            await found.begin()
            await check_replicated(found, keeping)
            for server in await found.every():
                await server.appends.prove()
            dispatch = Dispatch(found)
            await _settle_format(dispatch)
            count = await _settle_partitions(dispatch, partitions, CLUSTER_PARTITIONS if is_cluster else PARTITIONS)
            if testimony is not None:
                testimony.partitions = count
            log = cls(found, partitions=count, cluster=is_cluster, testimony=testimony)
            await log._settle_index()
        except BaseException:
            await found.close()
            raise
        return log

    async def append(  # noqa: PLR0913 - everything that is atomic
        self,
        match_id: str,
        expected: int,
        entries: Sequence[Entry],
        *,
        behind: bytes | None = None,
        lobby: LobbyEntry | None = None,
        not_before_ms: int | None = None,
        in_place_of: int | None = None,
    ) -> AppendResult:
        """Append after the entry numbered `expected` (0: the match is new), all or nothing, durably."""
        check_append(match_id, expected, entries)
        if self._testimony is not None:
            self._testimony.check_writable()
        keys = [stream_key(match_id, self._partitions)]
        if lobby is not None or not expected:
            keys.append(lobby_key(self._partition(match_id)))
        summary = b"" if lobby is None else lobby.summary
        arguments = [b"%d" % expected, b"%d" % (not_before_ms or 0), match_id.encode(), summary, behind or b""]
        arguments.append(b"%d" % (in_place_of or 0))
        if lobby is not None:
            partition = self._partition(match_id)
            keys.append(self._rows(partition))
            arguments += index_arguments(self._base(partition), match_id, lobby.row)
        for entry in entries:
            arguments += (entry.event, entry.private)
        self._announcements.appends(match_id)
        try:
            outcome, number = await self._dispatch.append(keys, arguments)
        finally:
            self._announcements.finish_append(match_id)
        if outcome == _APPENDED:
            if self._testimony is not None:
                self._testimony.check_acknowledged()
                self._testimony.remember(match_id, number, entries[-1].event)
            return Appended(number)
        return Conflict(number) if outcome == _CONFLICT else TooEarly(number)

    async def read(self, match_id: str, after: int = 0, limit: int = 1_000) -> list[Entry]:
        """At most `limit` entries after `after`, in order; empty if there are none. Raises Hole if one is missing."""
        if limit <= 0:
            return []
        key = stream_key(match_id, self._partitions)
        # In this order, so that entries appended between the two commands do not look like a hole.
        commands = [("XINFO", "STREAM", key), ("XRANGE", key, f"{after + 1}-0", "+", "COUNT", limit)]
        facts, answer = await self._dispatch.ask_all([(key, command) for command in commands])
        if isinstance(answer, KeyMisused):
            raise Hole(match_id, 0) from answer
        entries = whole_entries(match_id, after, answer)
        if self._testimony is not None and match_id in self._testimony.lost:
            raise Hole(match_id, after + len(entries))
        head = _head(facts)
        if len(entries) < limit and after + len(entries) < head and (entries or not await self._is_trimmed(key)):
            raise Hole(match_id, after + len(entries), head)
        if self._testimony is not None:
            self._testimony.remember_read(match_id, after, entries)
        return entries

    async def head(self, match_id: str) -> int:
        """The sequence of the last entry; 0 if the match does not exist."""
        key = stream_key(match_id, self._partitions)
        (facts,) = await self._dispatch.ask_all([(key, ("XINFO", "STREAM", key))])
        return _head(facts)

    async def behind(self, after: Mapping[str, int]) -> dict[str, list[Entry]]:
        """Up to MOST_BEHIND entries after the given sequence of each match that has new ones."""
        found = await self._tails.behind(after)
        if self._testimony is not None:
            found |= {match_id: [] for match_id in self._testimony.lost & found.keys()}
            for match_id, entries in found.items():
                self._testimony.remember_read(match_id, after[match_id], entries)
        return found

    async def listen(self, heard: Callable[[Announcement], None], began: Callable[[], None]) -> None:
        """Call `heard` for every append by any process after `began`, until the connection ends."""
        self._dispatch.check_open()
        await self._announcements.listen(heard, began)

    async def now_ms(self) -> int:
        """The clock of the server that has partition 0: one clock for all services, also in a cluster."""
        seconds, microseconds = await self._dispatch.ask(lobby_key(0), "TIME")
        return int(seconds) * 1_000 + int(microseconds) // 1_000

    async def beat(self, now_ms: int) -> None:
        """Record that a service is alive at this time."""
        await self._dispatch.ask(BEAT_KEY, "SET", BEAT_KEY, now_ms, appends=True)

    async def last_beat(self) -> int | None:
        """When a service last recorded that it is alive; None if none ever did."""
        beat_ms = await self._dispatch.ask(BEAT_KEY, "GET", BEAT_KEY)
        return None if beat_ms is None else int(beat_ms)

    async def prove(self) -> None:
        """Write on every master, and compare the markers; raises StoreUnavailable with the reason if that fails."""
        await self.marker.compare(await self._dispatch.prove(self._partitions))
        if self._testimony is not None:
            self._testimony.check_writable()

    async def lease(self, holder: str, lease_ms: int) -> bool:
        """Request or renew the sweeper's lease by the store's clock; returns whether this holder has it."""
        command = ("EVAL", _LEASE, 1, SWEEPER_KEY, holder, lease_ms)
        return bool(await self._dispatch.ask(SWEEPER_KEY, *command, appends=True))

    async def keys(self, said: str, instead_of: str = "") -> str:
        """Return the recorded fingerprints of the services' keys, after setting `said` if empty or `instead_of`."""
        command = ("EVAL", _KEYS, 1, KEYS_KEY, said, instead_of)
        return str(await self._dispatch.ask(KEYS_KEY, *command, appends=True), "utf-8", "replace")

    async def enter(self, process: str, said: str, silent_ms: int) -> list[str]:
        """Record a process and its description; returns those that others have recorded in the last `silent_ms`."""
        command = ("EVAL", _ENTER, 1, PROCESSES_KEY, process, said, silent_ms)
        others = await self._dispatch.ask(PROCESSES_KEY, *command, appends=True)
        return [other.decode(errors="replace") for other in others]

    async def leave(self, process: str) -> None:
        """Remove the record of a process that ends."""
        await self._dispatch.ask(PROCESSES_KEY, "HDEL", PROCESSES_KEY, process, appends=True)

    async def trim(self, match_id: str, keep_seconds: int = KEEP_SECONDS) -> None:
        """Remove the entries of an archived match; its head stays for `keep_seconds`, to refuse stale appends."""
        key = stream_key(match_id, self._partitions)
        # In this order: a stream without entries and without an expiry has lost them.
        await self._dispatch.ask(key, "EXPIRE", key, keep_seconds)
        await self._dispatch.ask(key, "XTRIM", key, "MAXLEN", 0)

    async def archive_mark(self, claim: str = "") -> str:
        """The mark of the archive that this store's matches go to; a store without one gets `claim`."""
        if claim:
            await self._dispatch.ask(ARCHIVE_KEY, "SET", ARCHIVE_KEY, claim, "NX", appends=True)
        found = await self._dispatch.ask(ARCHIVE_KEY, "GET", ARCHIVE_KEY, appends=True)
        return "" if found is None else str(found, "utf-8", "replace")

    async def lack_archive(self, seconds: int) -> None:
        """Record for this time that a running service does not have the archive."""
        await self._dispatch.ask(LACKING_KEY, "SET", LACKING_KEY, 1, "EX", seconds)

    async def archive_is_lacked(self) -> bool:
        """Whether a service has recorded that it lacks the archive."""
        return bool(await self._dispatch.ask(LACKING_KEY, "EXISTS", LACKING_KEY))

    async def close(self) -> None:
        """Close all connections after the appends under way have finished."""
        await self._dispatch.finish()
        await self._announcements.close()
        await self._dispatch.close()

    @property
    def dispatch(self) -> Dispatch:
        """Sends commands to the servers, for other data in the store."""
        return self._dispatch

    async def _is_trimmed(self, key: bytes) -> bool:
        """Whether the entries of a stream were archived: only then does its key expire."""
        return int(await self._dispatch.ask(key, "TTL", key)) >= 0


async def _settle_format(dispatch: Dispatch) -> None:
    if await dispatch.ask(PARTITIONS_KEY, "GET", PARTITIONS_KEY, appends=True) is None:
        # Only in a new store; before the partitions, so that a process that finds those also finds a format.
        await dispatch.ask(FORMAT_KEY, "SET", FORMAT_KEY, FORMAT, "NX", appends=True)
    found = await dispatch.ask(FORMAT_KEY, "GET", FORMAT_KEY, appends=True)
    word = BEFORE_RELEASE if found is None else found.decode(errors="replace")
    if (why := refusal("The store", word)) is not None:
        raise StoreUnavailable(why, NOT_OURS)


async def _settle_partitions(dispatch: Dispatch, wanted: int | None, of_new_stores: int) -> int:
    """The number of partitions that the store began with; raises StoreUnavailable if it is not the wanted one."""
    await dispatch.ask(PARTITIONS_KEY, "SET", PARTITIONS_KEY, wanted or of_new_stores, "NX", appends=True)
    found = (await dispatch.ask(PARTITIONS_KEY, "GET", PARTITIONS_KEY, appends=True)).decode(errors="replace")
    possible = (PARTITIONS, CLUSTER_PARTITIONS) if wanted is None else (wanted,)
    if found not in map(str, possible):
        raise StoreUnavailable(
            f"The store was begun with {found} partitions, and this service counts on"
            f" {' or '.join(map(str, possible))}:"
            " it would look for matches in the wrong places. Start it with the store's number.",
            NOT_OURS,
        )
    return int(found)


def _head(facts: Any) -> int:
    """The sequence of the last entry that a stream ever had; 0 if there is no stream."""
    if facts is None or isinstance(facts, KeyMisused):
        return 0
    number, _, rest = dict(zip(facts[::2], facts[1::2], strict=True))[b"last-generated-id"].partition(b"-")
    # The append script makes only ids `N-0`; another one counts as one entry too many.
    return min(int(number) + int(rest != b"0"), _HIGHEST)
