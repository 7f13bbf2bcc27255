"""The replicas of a process, one for each match; those that nobody uses are kept for as long as there is room."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final

from cachetools import LRUCache

from rollbook.match.ledger import Ledger
from rollbook.server.replica.lost_logs import LostTails
from rollbook.server.replica.replica import Replica
from rollbook.storage.port import Log

MOST_IDLE: Final = 2_000
"""Matches kept folded although nobody uses them; others are read again when somebody asks."""


@dataclass(slots=True)
class _Used:
    """A replica, and by how many it is used: one more for as long as this is entered."""

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
    """Every match that somebody here asks for, once."""

    def __init__(self, log: Log, lost: LostTails, *, most_idle: int = MOST_IDLE) -> None:
        """Serve the matches of this log."""
        self._log = log
        self._lost = lost
        self._used: dict[str, _Used] = {}
        self._idle: LRUCache[str, Replica] = LRUCache(most_idle)

    def use(self, match_id: str) -> AbstractContextManager[Replica]:
        """The replica of a match, which nobody lets go of meanwhile; one that has failed is replaced."""
        used = self._used.get(match_id)
        if used is None or used.replica.failure is not None:
            replica = self._idle.pop(match_id, None) or Replica(match_id, self._log, self._lost)
            used = self._used[match_id] = _Used(replica, self._let_go)
        return used

    def known(self, match_id: str) -> Ledger | None:
        """The match as this process has it, if it does; others may have appended since. Read it, do not change it."""
        used = self._used.get(match_id)
        replica = self._idle.get(match_id) if used is None else used.replica
        return None if replica is None or replica.failure is not None else replica.known

    def is_doubtful(self, match_id: str) -> bool:
        """Whether this process has noticed that the log of a match is lost."""
        return self._lost.has_noticed(match_id)

    async def ledger(self, match_id: str) -> Ledger:
        """The match as it is now; read it, and do not change it."""
        with self.use(match_id) as replica:
            return await replica.caught_up()

    def _let_go(self, replica: Replica) -> None:
        used = self._used.get(replica.match_id)
        if used is not None and used.replica is replica:
            del self._used[replica.match_id]
            if replica.failure is None and replica.known is not None:
                self._idle[replica.match_id] = replica
