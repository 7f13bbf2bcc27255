"""What this process has acknowledged or returned, to compare a new master with (durability `quorum`).

Sentinels may promote a replica that lacks acknowledged writes. Before a process uses a new master, it compares it with
what it remembers: the replication history and offset that it confirmed last, and if these do not decide it, the newest
event of each match that it appended to or read in the last ten minutes. Matches of which an event is missing are
recorded in the new master (`LOST_KEY`). While that record exists, no process appends to any match, also after restarts,
and the named matches are read as logs with a hole.

A process that ended together with the old master cannot compare anything. The heads that clients keep are evidence
then, as with every other durability.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol

import structlog
from cachetools import TTLCache
from redis.exceptions import ResponseError

from rollbook.match.chain import Entry
from rollbook.storage.port import MATCHES_LOST, AppendUnconfirmed, StoreUnavailable
from rollbook.storage.redis.attached import facts
from rollbook.storage.redis.confirmation import Converse
from rollbook.storage.redis.connection import Command, Unanswered, Unsent
from rollbook.storage.redis.keys import LOST_KEY, PARTITIONS, stream_key

REMEMBERED_SECONDS: Final = 600
MOST_REMEMBERED: Final = 50_000
"""Limit for the matches whose newest event is remembered."""

_AT_ONCE: Final = 500
"""Matches that are compared in one exchange."""

_logger = structlog.get_logger()


class Talking(Protocol):
    """A way to send commands to a server and receive the answers."""

    async def converse(self, commands: Sequence[Command]) -> list[Any]:
        """Send commands together and return their answers in order."""


class Testimony:
    """What this process would notice if a new master lacked it."""

    def __init__(self) -> None:
        """Remember nothing."""
        self.partitions = PARTITIONS
        """The number of partitions of the store."""
        self._newest: TTLCache[str, tuple[int, int]] = TTLCache(MOST_REMEMBERED, REMEMBERED_SECONDS)
        """By match, the sequence and the hash of the newest event that was acknowledged or returned."""
        self._history = ""
        self._offset = 0
        self.lost: frozenset[str] = frozenset()
        """Matches that are recorded in the store as lost."""

    def acknowledge(self, history: str, offset: int) -> None:
        """Remember that everything up to this offset of a replication history has been confirmed."""
        self._history, self._offset = history, offset if history != self._history else max(offset, self._offset)

    def remember(self, match_id: str, sequence: int, event: bytes) -> None:
        """Remember an event that has been acknowledged or returned."""
        known = self._newest.get(match_id)
        if known is None or known[0] <= sequence:
            self._newest[match_id] = sequence, hash(event)

    def remember_read(self, match_id: str, after: int, entries: Sequence[Entry]) -> None:
        """Remember the newest of the entries that were read after a sequence."""
        if entries:
            self.remember(match_id, after + len(entries), entries[-1].event)

    def check_writable(self) -> None:
        """Raise StoreUnavailable while the store has a record of lost matches."""
        if self.lost:
            raise StoreUnavailable(
                f"A new master of the store lacks events of {len(self.lost)} matches that were acknowledged:"
                " `rollbook admin lost` names them, `rollbook admin accept-loss` ends them and goes on.",
                MATCHES_LOST,
            )

    def check_acknowledged(self) -> None:
        """Raise AppendUnconfirmed if the store has a record of lost matches by now."""
        if self.lost:
            raise AppendUnconfirmed("A new master of the store lacks acknowledged events.", MATCHES_LOST)

    async def learn_losses(self, count: int, converse: Converse) -> None:
        """Read the names of lost matches if their number has changed."""
        if count != len(self.lost):
            (names,) = await converse([("HKEYS", LOST_KEY)])
            self.lost = frozenset(name.decode(errors="replace") for name in names)

    async def examine(self, reads: Talking, appends: Talking) -> None:
        """Compare a new master, and record in it what it lacks; raises StoreUnavailable if it does not answer."""
        try:
            (said,) = await reads.converse([("INFO", "replication")])
            if isinstance(said, ResponseError):
                raise StoreUnavailable(f"INFO was refused ({said})")
            known = facts(said)
            if known.get("role") != "master":
                raise StoreUnavailable("the server that the Sentinels name is not a master yet")
            if self._has_all(known):
                return
            if missing := await self._find_missing(reads):
                _logger.error("a new master lacks events that were acknowledged", matches=len(missing))
                pairs = [part for match_id, sequence in missing.items() for part in (match_id, sequence)]
                (stored,) = await appends.converse([("HSET", LOST_KEY, *pairs)])
                if isinstance(stored, ResponseError):
                    # Without enough replicas yet the new master refuses to record it; it is compared again.
                    raise StoreUnavailable(f"the new master cannot record what it lacks ({stored})")
        except (Unsent, Unanswered) as silence:
            raise StoreUnavailable(f"the new master does not answer ({silence})") from silence

    def _has_all(self, known: dict[str, str]) -> bool:
        """Whether the replication histories show that the master has everything up to the confirmed offset."""
        if not self._history:
            return not self._newest
        if known.get("master_replid") == self._history:
            return int(known.get("master_repl_offset", "0")) >= self._offset
        # The second offset is the first that is not of the earlier history.
        return known.get("master_replid2") == self._history and self._offset < int(known["second_repl_offset"])

    async def _find_missing(self, reads: Talking) -> dict[str, int]:
        """The matches of which the master lacks the newest remembered event, with its sequence."""
        missing = dict[str, int]()
        remembered = list(self._newest.items())
        for first in range(0, len(remembered), _AT_ONCE):
            part = remembered[first : first + _AT_ONCE]
            keys = [(stream_key(match_id, self.partitions), sequence) for match_id, (sequence, _) in part]
            questions = [
                command
                for key, sequence in keys
                for command in (("XRANGE", key, f"{sequence}-0", f"{sequence}-0"), ("TTL", key))
            ]
            answers = await reads.converse(questions)
            for (match_id, (sequence, event)), entries, lifetime in zip(part, answers[::2], answers[1::2], strict=True):
                if isinstance(entries, Exception) or not _has(entries, event, lifetime):
                    missing[match_id] = sequence
        return missing


def _has(entries: Sequence[Any], event: int, lifetime: int) -> bool:
    """Whether a stream has the event, or has been trimmed because its match is in the archive: only then it expires."""
    if not entries:
        return lifetime >= 0
    fields = entries[0][1]
    return hash(dict(zip(fields[::2], fields[1::2], strict=True)).get(b"e", b"")) == event
