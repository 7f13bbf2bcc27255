"""A log in Redis (6.2 or later) or Valkey: one stream a match, and one script that appends to it.

A stream's entries have the ids `1-0`, `2-0`, `3-0` …, so that an id is a sequence and two writers cannot both have it.
Fields are `e`, the event, and `p`, its private part, if it has one.

What an append may claim: `Appended` is durable, `Conflict` and `TooEarly` wrote nothing, and so did StoreUnavailable.
Everything else is AppendUnconfirmed. Nothing is sent twice behind the caller's back, except after a refusal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Self

from redis.exceptions import AskError, ClusterDownError, MovedError, ResponseError, TryAgainError

from rollbook.match.chain import Entry
from rollbook.storage.data_format import BEFORE_RELEASE, FORMAT, refusal
from rollbook.storage.limits import KEEP_SECONDS, check_append
from rollbook.storage.port import Appended, AppendResult, Conflict, Hole, LobbyEntry, StoreUnavailable, TooEarly
from rollbook.storage.redis.address import Kind, parse
from rollbook.storage.redis.connection import Command, Durability, Unanswered, Unsent, Wire
from rollbook.storage.redis.keys import (
    ARCHIVE_KEY,
    BEAT_KEY,
    FORMAT_KEY,
    KEYS_KEY,
    LACKING_KEY,
    PARTITIONS,
    PARTITIONS_KEY,
    SWEEPER_KEY,
    alive_key,
    lobby_key,
    partition_of,
    stream_key,
)
from rollbook.storage.redis.masters import ConnectionSettings, Server, Servers, servers
from rollbook.storage.redis.tails import Tails

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

_RELIST: Final = b"""
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then
    return 0
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
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

_CAUSES: Final = {
    "OOM": "the store is out of memory",
    "NOREPLICAS": "the store has too few replicas",
    "CLUSTERDOWN": "the store's cluster is down",
    "MISCONF": "the store cannot write to its disk",
    "READONLY": "the store takes no writes",
    "NOPERM": "the store does not let the service do this",
}
"""What clients are told of a refusal, by its code."""

_MOVING: Final = (AskError, TryAgainError)

_MOST_REDIRECTIONS: Final = 5
_READ_ATTEMPTS: Final = 4
_PAUSE_SECONDS: Final = 0.05
"""Before asking a second time, doubled every time."""

_MOST_ENTRIES_A_MATCH: Final = 500
"""How many entries of one match a wait brings; the rest comes with the next."""


class RedisLog:
    """Keeps every match in a stream."""

    def __init__(self, servers: Servers, *, partitions: int, cluster: bool) -> None:
        """Use `RedisLog.connect`, which looks at what it connects to."""
        self._servers = servers
        self._partitions = partitions
        self._tails = Tails(self._look, self._partition, by_bucket=cluster)
        self._appending = 0
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._closed = False

    @classmethod
    async def connect(
        cls,
        url: str,
        durability: Durability = "fsync",
        *,
        partitions: int = PARTITIONS,
        append_seconds: float = 5.0,
    ) -> Self:
        """Connect to the store at a URL (see `address`), or raise StoreUnavailable with what is amiss.

        `append_seconds` is how long an append waits for an answer before its outcome is unknown.
        """
        address = parse(url)
        if durability not in ("fsync", "relaxed"):
            raise ValueError(f"durability is 'fsync' or 'relaxed', not {durability!r}")
        found = servers(ConnectionSettings(address, durability, append_seconds))
        log = cls(found, partitions=partitions, cluster=address.kind is Kind.CLUSTER)
        try:
            await found.begin()
            for server in await found.every():
                await server.appends.prove()
            await log._settle_format()
            await log._settle_partitions()
        except BaseException:
            await log.close()
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
        """Append behind the entry numbered `expected` (0: neither log nor lobby have it), all or nothing, durably."""
        check_append(match_id, expected, entries)
        self._check_open()
        keys = [stream_key(match_id, self._partitions)]
        if lobby is not None or not expected:
            keys.append(lobby_key(self._partition(match_id)))
        summary = b"" if lobby is None else lobby.summary
        arguments = [b"%d" % expected, b"%d" % (not_before_ms or 0), match_id.encode(), summary, behind or b""]
        arguments.append(b"%d" % (in_place_of or 0))
        for entry in entries:
            arguments += (entry.event, entry.private)
        self._appending += 1
        self._quiet.clear()
        try:
            outcome, number = await self._run(keys, arguments)
        finally:
            self._appending -= 1
            if not self._appending:
                self._quiet.set()
        if outcome == _APPENDED:
            return Appended(number)
        return Conflict(number) if outcome == _CONFLICT else TooEarly(number)

    async def read(self, match_id: str, after: int = 0, limit: int = 1_000) -> list[Entry]:
        """The entries behind `after`, at most so many, in order; none if there are none."""
        if limit <= 0:
            return []
        key = stream_key(match_id, self._partitions)
        answer = await self.ask(key, "XRANGE", key, f"{after + 1}-0", "+", "COUNT", limit)
        return _entries(match_id, after, answer)

    async def head(self, match_id: str) -> int:
        """The sequence of the last entry; 0 if the match does not exist."""
        key = stream_key(match_id, self._partitions)
        try:
            facts = await self.ask(key, "XINFO", "STREAM", key)
        except StoreUnavailable as failure:
            if isinstance(failure.__cause__, ResponseError) and "no such key" in str(failure.__cause__):
                return 0
            raise
        return _sequence(dict(zip(facts[::2], facts[1::2], strict=True))[b"last-generated-id"])

    async def wait(self, after: Mapping[str, int], timeout_seconds: float) -> dict[str, list[Entry]]:
        """Entries behind the given sequences, of the matches that have any; none of them after the time-out."""
        self._check_open()
        return await self._tails.wait(after, timeout_seconds)

    async def lobby(self) -> dict[str, bytes]:
        """The summaries of all matches that the lobby lists."""
        keys = [lobby_key(partition) for partition in range(self._partitions)]
        answers = await self._ask_all([(key, ("HGETALL", key)) for key in keys])
        return {
            match_id.decode(errors="replace"): summary
            for answer in answers
            for match_id, summary in zip(answer[::2], answer[1::2], strict=True)
        }

    async def summary(self, match_id: str) -> bytes | None:
        """What the lobby says of one match; nothing if it does not list it."""
        key = lobby_key(self._partition(match_id))
        summary: bytes | None = await self.ask(key, "HGET", key, match_id)
        return summary

    async def now_ms(self) -> int:
        """The clock of the server that has the first partition: in a cluster, one clock for all replicas too."""
        seconds, microseconds = await self.ask(lobby_key(0), "TIME")
        return int(seconds) * 1_000 + int(microseconds) // 1_000

    async def beat(self, now_ms: int) -> int | None:
        """Say that a service is alive now, and learn when one last said so."""
        before_ms = await self.ask(BEAT_KEY, "SET", BEAT_KEY, now_ms, "GET", appends=True)
        return None if before_ms is None else int(before_ms)

    async def prove(self) -> None:
        """Write on every master, or raise StoreUnavailable with what is amiss."""
        by_server = await self._by_server((number, lobby_key(number)) for number in range(self._partitions))
        try:
            answers = await asyncio.gather(*[server.beat(alive_key(numbers[0])) for server, numbers in by_server])
        except (Unsent, Unanswered) as silence:
            self._servers.doubt()
            raise StoreUnavailable(f"The store does not answer: {silence}") from silence
        for answer in answers:
            # What is being moved is refused where it was, and that server is well.
            if isinstance(answer, ResponseError) and (
                isinstance(answer, MovedError) or not isinstance(answer, _MOVING)
            ):
                self._servers.doubt()
                raise _refused(answer) from answer

    async def lease(self, holder: str, lease_ms: int) -> bool:
        """Whether this holder sweeps, for so long from now on by the store's clock."""
        command = ("EVAL", _LEASE, 1, SWEEPER_KEY, holder, lease_ms)
        return bool(await self.ask(SWEEPER_KEY, *command, appends=True))

    async def keys(self, said: str, instead_of: str = "") -> str:
        """What the store says of its services' keys: this, if it has said nothing yet, or what is given up for it."""
        command = ("EVAL", _KEYS, 1, KEYS_KEY, said, instead_of)
        return str(await self.ask(KEYS_KEY, *command, appends=True), "utf-8")

    async def trim(self, match_id: str, keep_seconds: int = KEEP_SECONDS) -> None:
        """Let go of the entries of an archived match; its head stays that long, so that a stale append is refused."""
        key = stream_key(match_id, self._partitions)
        await self.ask(key, "XTRIM", key, "MAXLEN", 0)
        await self.ask(key, "EXPIRE", key, keep_seconds)

    async def unlist(self, match_id: str) -> None:
        """Take a match out of the lobby."""
        key = lobby_key(self._partition(match_id))
        await self.ask(key, "HDEL", key, match_id)

    async def relist(self, match_id: str, instead_of: bytes, summary: bytes) -> bool:
        """Let the lobby say something else of a match; whether it still said what this is put in the place of."""
        key = lobby_key(self._partition(match_id))
        return bool(await self.ask(key, "EVAL", _RELIST, 1, key, match_id, instead_of, summary, appends=True))

    async def archive_mark(self, claim: str = "") -> str:
        """The mark of the archive that this store's matches go to: the one that is claimed, if there was none."""
        if claim:
            await self.ask(ARCHIVE_KEY, "SET", ARCHIVE_KEY, claim, "NX", appends=True)
        found = await self.ask(ARCHIVE_KEY, "GET", ARCHIVE_KEY, appends=True)
        return "" if found is None else str(found, "utf-8", "replace")

    async def lack_archive(self, seconds: int) -> None:
        """Say for so long that a service runs here which does not have the archive."""
        await self.ask(LACKING_KEY, "SET", LACKING_KEY, 1, "EX", seconds)

    async def archive_is_lacked(self) -> bool:
        """Whether some service said so."""
        return bool(await self.ask(LACKING_KEY, "EXISTS", LACKING_KEY))

    async def close(self) -> None:
        """Let go of connections; appends under way finish first."""
        self._closed = True
        await self._quiet.wait()
        await self._tails.close()
        await self._servers.close()

    @property
    def servers(self) -> Servers:
        """The servers that keep it, for whoever looks after their files."""
        return self._servers

    def _partition(self, match_id: str) -> int:
        return partition_of(match_id, self._partitions)

    def _check_open(self) -> None:
        if self._closed:
            raise StoreUnavailable("this log has been closed")

    async def _run(self, keys: Sequence[bytes], arguments: Sequence[bytes]) -> list[int]:
        """The script's answer, from whichever server has the keys; a redirection has written nothing."""
        server = await self._servers.of(keys[0])
        asking = False
        refusal: ResponseError | None = None
        for attempt in range(_MOST_REDIRECTIONS):
            try:
                answer: list[int] = await server.appends.run(keys, arguments, asking=asking)
            except AskError as redirection:
                await _pause(attempt - 1)
                server = await self._servers.redirected(redirection)
                asking = not isinstance(redirection, MovedError)
                refusal = redirection
            except ResponseError as failure:
                self._doubt_after(failure)
                raise _refused(failure) from failure
            except Exception:
                self._servers.doubt()
                raise
            else:
                return answer
        self._servers.doubt()
        raise StoreUnavailable(f"The cluster sends on and on: {refusal}") from refusal

    async def _settle_format(self) -> None:
        if await self.ask(PARTITIONS_KEY, "GET", PARTITIONS_KEY, appends=True) is None:
            # Only where nobody has begun; before the partitions, so that whoever finds those finds a format.
            await self.ask(FORMAT_KEY, "SET", FORMAT_KEY, FORMAT, "NX", appends=True)
        found = await self.ask(FORMAT_KEY, "GET", FORMAT_KEY, appends=True)
        word = BEFORE_RELEASE if found is None else found.decode(errors="replace")
        if (why := refusal("The store", word)) is not None:
            raise StoreUnavailable(why)

    async def _settle_partitions(self) -> None:
        await self.ask(PARTITIONS_KEY, "SET", PARTITIONS_KEY, self._partitions, "NX", appends=True)
        found = await self.ask(PARTITIONS_KEY, "GET", PARTITIONS_KEY, appends=True)
        if found != b"%d" % self._partitions:
            raise StoreUnavailable(
                f"The store was begun with {found.decode(errors='replace')} partitions, and this service counts on"
                f" {self._partitions}: it would look for matches in the wrong places. Start it with the store's number."
            )

    async def _look(self, after: Mapping[str, int], hold_seconds: float) -> dict[str, list[Entry]]:
        """One read of several matches, held back until there is something."""
        names = {stream_key(match_id, self._partitions): match_id for match_id in after}
        # A server holds back for ever what it shall hold back for 0 ms.
        hold = ("BLOCK", max(1, int(hold_seconds * 1_000))) if hold_seconds > 0 else ()
        ids = [f"{sequence}-0" for sequence in after.values()]
        command = ("XREAD", "COUNT", _MOST_ENTRIES_A_MATCH, *hold, "STREAMS", *names, *ids)
        answer = await self.ask(next(iter(names)), *command, held=bool(hold))
        return {names[key]: _whole(names[key], after[names[key]], entries) for key, entries in answer or ()}

    async def ask(self, key: bytes, *command: bytes | str | int, held: bool = False, appends: bool = False) -> Any:
        """The answer to a command that may be sent twice, from the server that has the key."""
        (answer,) = await self._ask_all([(key, command)], held=held, appends=appends)
        return answer

    async def _ask_all(
        self, commands: Sequence[tuple[bytes, Command]], *, held: bool = False, appends: bool = False
    ) -> list[Any]:
        """The answers to commands that may be sent twice, each from the server that has its key."""
        answers: dict[int, Any] = {}
        failure: Exception = AssertionError("nothing has been asked yet")
        for attempt in range(_READ_ATTEMPTS):
            left = [number for number in range(len(commands)) if number not in answers]
            if not left:
                break
            await _pause(attempt - 1)
            self._check_open()
            try:
                by_server = await self._by_server((number, commands[number][0]) for number in left)
            except StoreUnavailable as unreachable:
                failure = unreachable
                continue
            for server, numbers in by_server:
                wire = _wire(server, held=held, appends=appends)
                try:
                    heard = await wire.converse([commands[number][1] for number in numbers])
                except (Unsent, Unanswered) as silence:
                    self._servers.doubt()
                    failure = silence
                    continue
                for number, answer in zip(numbers, heard, strict=True):
                    try:
                        answers[number] = await self._follow(answer, commands[number][1], held=held, appends=appends)
                    except (AskError, TryAgainError, ClusterDownError, Unsent, Unanswered) as refusal:
                        self._doubt_after(refusal)
                        failure = refusal
        if len(answers) < len(commands):
            if isinstance(failure, ResponseError):
                raise _refused(failure) from failure
            raise StoreUnavailable(f"The store does not answer: {failure}") from failure
        return [answers[number] for number in range(len(commands))]

    async def _by_server(self, keys: Iterable[tuple[int, bytes]]) -> list[tuple[Server, list[int]]]:
        found: dict[int, tuple[Server, list[int]]] = {}
        for number, key in keys:
            server = await self._servers.of(key)
            found.setdefault(id(server), (server, []))[1].append(number)
        return list(found.values())

    async def _follow(self, answer: Any, command: Command, *, held: bool, appends: bool) -> Any:
        """An answer as it is, or where it sends on, the answer from there."""
        if isinstance(answer, AskError):
            server = await self._servers.redirected(answer)
            asking: list[Command] = [] if isinstance(answer, MovedError) else [("ASKING",)]
            *_, answer = await _wire(server, held=held, appends=appends).converse([*asking, command])
        if isinstance(answer, AskError | TryAgainError | ClusterDownError):
            raise answer
        if isinstance(answer, ResponseError):
            raise _refused(answer) from answer
        return answer

    def _doubt_after(self, failure: Exception) -> None:
        if not isinstance(failure, TryAgainError):
            self._servers.doubt()


def _wire(server: Server, *, held: bool, appends: bool) -> Wire:
    if appends:
        return server.appends.wire
    return server.tails if held else server.reads


def _refused(refusal: ResponseError) -> StoreUnavailable:
    code = getattr(refusal, "status_code", None) or str(refusal).partition(" ")[0]
    return StoreUnavailable(f"The store refused: {refusal}", _CAUSES.get(code, "the store refuses"))


async def _pause(times: int) -> None:
    if times >= 0:
        await asyncio.sleep(_PAUSE_SECONDS * 2**times)


def _sequence(identity: bytes) -> int:
    return int(identity.partition(b"-")[0])


def _entries(match_id: str, after: int, answer: Iterable[tuple[bytes, Sequence[bytes]]]) -> list[Entry]:
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
        return _entries(match_id, after, answer)
    except Hole:
        return []
