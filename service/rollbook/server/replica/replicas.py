"""The replicas of a process, one per match; unused ones are cached."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final

from cachetools import LRUCache

from rollbook.match.ledger import Ledger
from rollbook.server.replica.lost_logs import LostTails
from rollbook.server.replica.replica import Replica
from rollbook.storage.port import EventLog, LobbyStore

MOST_IDLE: Final = 2_000
"""Cache size: unused replicas; an evicted match is read again at its next use."""


@dataclass(slots=True)
class _Used:
    """A context manager that counts the users of a replica."""

    replica: Replica
    let_go: Callable[[Replica], None]
    users: int = 0

    def __enter__(self) -> Replica:
        self.users += 1
        return self.replica

    def __exit__(self, *_failure: object) -> None:
        self.users -= 1
        if not self.users:
            self.let_go(self.replica)


class Replicas:
    """The replicas of all matches in use."""

    def __init__(self, log: EventLog, lobby: LobbyStore, lost: LostTails, *, most_idle: int = MOST_IDLE) -> None:
        self._log = log
        self._lobby = lobby
        self._lost = lost
        self._used: dict[str, _Used] = {}
        self._idle: LRUCache[str, Replica] = LRUCache(most_idle)

    def use(self, match_id: str) -> AbstractContextManager[Replica]:
        """The replica of a match, which is not evicted within the context; a failed replica is replaced."""
        used = self._used.get(match_id)
        if used is None or used.replica.failure is not None:
            replica = self._idle.pop(match_id, None) or Replica(match_id, self._log, self._lobby, self._lost)
            used = self._used[match_id] = _Used(replica, self._let_go)
        return used

    def known_ledger(self, match_id: str) -> Ledger | None:
        """The cached ledger, which may be outdated; None if there is none. Do not modify it."""
        used = self._used.get(match_id)
        replica = self._idle.get(match_id) if used is None else used.replica
        return None if replica is None or replica.failure is not None else replica.known

    def is_doubtful(self, match_id: str) -> bool:
        """Whether this process has noticed that the match's log is lost."""
        return self._lost.has_noticed(match_id)

    async def ledger(self, match_id: str) -> Ledger:
        """The current ledger of a match; do not modify it."""
        with self.use(match_id) as replica:
            return await replica.caught_up()

    def _let_go(self, replica: Replica) -> None:
        used = self._used.get(replica.match_id)
        if used is not None and used.replica is replica:
            del self._used[replica.match_id]
            if replica.failure is None and replica.known is not None:
                self._idle[replica.match_id] = replica
