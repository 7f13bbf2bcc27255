"""A list in the store that every process reads again once a second, such as that of the bans.

While the store is unavailable, the last list that was read applies.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Protocol

from rollbook.server.loops import BackgroundLoop
from rollbook.storage.port import StoreUnavailable
from rollbook.storage.redis.ban_list import Listing

LOOK_SECONDS: Final = 1.0
"""Between two reads of the list: well below the two seconds within which a change takes effect."""


class ListStore(Protocol):
    """The stored list."""

    async def read(self, known: str) -> Listing | None:
        """The list; None if it still has the version `known`."""

    async def put(self, ban_id: str, text: str, until_ms: int, most: int) -> bool:
        """Store an entry; returns False if there are `most` already."""

    async def remove(self, ban_id: str) -> bool:
        """Remove an entry; returns whether it was there."""


class FollowedList(ABC):
    """The list as last read by this process."""

    def __init__(self, name: str, store: ListStore, failed: Callable[[str], None]) -> None:
        """`failed` is called with the name whenever a read fails."""
        self._store = store
        self._version = ""
        self.changed: Callable[[], None] = lambda: None
        """Called after every change of the list."""
        self.loop = BackgroundLoop(name, self.look, failed, LOOK_SECONDS)

    async def start(self) -> None:
        """Read the list once, then again every LOOK_SECONDS."""
        with suppress(StoreUnavailable):
            await self.look()
        self.loop.start()

    async def look(self) -> None:
        """Read the list if it has changed."""
        listing = await self._store.read(self._version)
        if listing is not None:
            self._take(listing)
            self._version = listing.version
            self.changed()

    @abstractmethod
    def _take(self, listing: Listing) -> None:
        """Apply a list that was read."""
