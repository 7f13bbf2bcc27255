"""The port of presence: which seats of a match have a feed open, in any process."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol


class PresenceStore(Protocol):
    """Who is present, in a store; an entry lapses if its process does not renew it."""

    async def update(self, match_id: str, process: str, seats: Collection[int], keep_ms: int) -> set[int]:
        """Replace the seats of a process, until `keep_ms` from now; returns the present seats of all processes.

        A change of the present seats is announced to all listeners, as an append with head 0.
        """
