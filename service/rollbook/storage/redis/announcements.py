"""Announcements of appends, so that a process that follows many matches need not poll each of them.

The append script publishes the match and its new head. Announcements are not stored: a disconnected process misses
them, and a cluster delivers them in any order. So they are only a hint where to read. All listeners of a process share
one connection, which exists as long as there are listeners.
"""

import asyncio
import re
from collections.abc import Callable
from itertools import count
from typing import Final

from rollbook.storage.port import Announcement, StoreUnavailable
from rollbook.storage.redis.connection import Unanswered, Unsent
from rollbook.storage.redis.keys import ANNOUNCEMENTS
from rollbook.storage.redis.masters import Servers

_ANNOUNCEMENT: Final = re.compile(rb"([0-9]{1,20}) ([01]) ([!-~]{1,200})")
"""The sequence of the last entry, whether the lobby has changed, and the match id."""

Received = Callable[[Announcement], None]
Began = Callable[[], None]


class Announcements:
    """Receives the announcements of a store and passes them on to the listeners of this process."""

    def __init__(self, servers: Servers) -> None:
        """`servers` names the servers that can be listened to."""
        self._servers = servers
        self._listeners: list[tuple[Received, Began]] = []
        self._receiving: asyncio.Task[None] | None = None
        self._receives = False
        self._appending: dict[str, int] = {}
        """Number of appends under way in this process, by match."""
        self._held: dict[str, Announcement] = {}
        """Announcements held back during these appends."""
        self._turns = count()

    def appends(self, match_id: str) -> None:
        """Hold back announcements of the match until `finish_append`: the append's answer carries the same news."""
        self._appending[match_id] = self._appending.get(match_id, 0) + 1

    def finish_append(self, match_id: str) -> None:
        """The append has been answered or has failed; publish held announcements."""
        self._appending[match_id] -= 1
        if not self._appending[match_id]:
            del self._appending[match_id]
            held = self._held.pop(match_id, None)
            if held is not None:
                # The caller of the append has received its answer by then.
                asyncio.get_running_loop().call_soon(self._publish, held)

    async def listen(self, received: Received, began: Began) -> None:
        """Receive all announcements after `began`, until the connection ends; StoreUnavailable if it cannot be made."""
        listener = received, began
        self._listeners.append(listener)
        try:
            if self._receiving is None or self._receiving.done():
                self._receiving = asyncio.create_task(self._receive())
            elif self._receives:
                began()
            receiving = self._receiving
            await asyncio.wait({receiving})
            if not receiving.cancelled():
                receiving.result()
        finally:
            self._listeners.remove(listener)
            if not self._listeners:
                await self.close()

    async def close(self) -> None:
        """Close the connection."""
        receiving, self._receiving = self._receiving, None
        if receiving is not None:
            receiving.cancel()
            await asyncio.wait({receiving})

    async def _receive(self) -> None:
        every = await self._servers.every()
        if not every:
            raise StoreUnavailable("The store has no servers")
        # A different server each time: in a cluster every server passes on all announcements.
        server = every[next(self._turns) % len(every)]
        try:
            await server.news.subscribe(ANNOUNCEMENTS, self._begin, self._take)
        except (Unsent, Unanswered) as failure:
            self._servers.doubt()
            if not self._receives:
                raise StoreUnavailable(f"No announcements from the store: {failure}") from failure
        finally:
            self._receives = False

    def _begin(self) -> None:
        self._receives = True
        for _, began in tuple(self._listeners):
            began()

    def _take(self, message: bytes) -> None:
        fields = _ANNOUNCEMENT.fullmatch(message)
        if fields is None:
            return
        match_id = fields[3].decode("ascii")
        announcement = Announcement(match_id, int(fields[1]), fields[2] == b"1")
        if match_id not in self._appending:
            self._publish(announcement)
            return
        held = self._held.get(match_id, announcement)
        head, is_lifecycle = max(held.head, announcement.head), held.is_lifecycle or announcement.is_lifecycle
        self._held[match_id] = Announcement(match_id, head, is_lifecycle)

    def _publish(self, announcement: Announcement) -> None:
        for received, _ in tuple(self._listeners):
            received(announcement)
