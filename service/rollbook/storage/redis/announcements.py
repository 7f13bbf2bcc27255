"""What is said of appends, so that whoever follows many matches need not ask for each of them.

The script that appends publishes which match has gone on, and to where. Nothing is kept of that: whoever is not
connected hears nothing, and a cluster passes it on as it comes. So it is never believed, and only says where to read.
One connection hears for everybody in a process, and only as long as somebody listens.
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

_SAID: Final = re.compile(rb"([0-9]{1,20}) ([01]) ([!-~]{1,200})")
"""The sequence of the last entry, whether the lobby has changed, and the match."""

Heard = Callable[[Announcement], None]
Began = Callable[[], None]


class Announcements:
    """What the processes of a store tell each other, as this one hears it."""

    def __init__(self, servers: Servers) -> None:
        """Hear it from one of these servers."""
        self._servers = servers
        self._listeners: list[tuple[Heard, Began]] = []
        self._hearing: asyncio.Task[None] | None = None
        self._hears = False
        self._appending: dict[str, int] = {}
        """Matches that are being appended to by this process, and how often."""
        self._held: dict[str, Announcement] = {}
        """What was said of them meanwhile."""
        self._turns = count()

    def appends(self, match_id: str) -> None:
        """Say nothing of the match until this is `appended`: it may be what whoever appends learns by the answer."""
        self._appending[match_id] = self._appending.get(match_id, 0) + 1

    def appended(self, match_id: str) -> None:
        """Whoever appends has an answer, or will not have one."""
        self._appending[match_id] -= 1
        if not self._appending[match_id]:
            del self._appending[match_id]
            held = self._held.pop(match_id, None)
            if held is not None:
                # Whoever appends has taken the answer by then.
                asyncio.get_running_loop().call_soon(self._tell, held)

    async def listen(self, heard: Heard, began: Began) -> None:
        """Tell all of it from `began` on, until the connection ends; StoreUnavailable if none comes about."""
        listener = heard, began
        self._listeners.append(listener)
        try:
            if self._hearing is None or self._hearing.done():
                self._hearing = asyncio.create_task(self._hear())
            elif self._hears:
                began()
            hearing = self._hearing
            await asyncio.wait({hearing})
            if not hearing.cancelled():
                hearing.result()
        finally:
            self._listeners.remove(listener)
            if not self._listeners:
                await self.close()

    async def close(self) -> None:
        """Hang up."""
        hearing, self._hearing = self._hearing, None
        if hearing is not None:
            hearing.cancel()
            await asyncio.wait({hearing})

    async def _hear(self) -> None:
        every = await self._servers.every()
        if not every:
            raise StoreUnavailable("The store has no servers")
        # Another one each time: in a cluster any of them hears what all say.
        server = every[next(self._turns) % len(every)]
        try:
            await server.news.subscribe(ANNOUNCEMENTS, self._begin, self._take)
        except (Unsent, Unanswered) as failure:
            self._servers.doubt()
            if not self._hears:
                raise StoreUnavailable(f"The store is not heard: {failure}") from failure
        finally:
            self._hears = False

    def _begin(self) -> None:
        self._hears = True
        for _, began in tuple(self._listeners):
            began()

    def _take(self, message: bytes) -> None:
        said = _SAID.fullmatch(message)
        if said is None:
            return
        match_id = said[3].decode("ascii")
        announcement = Announcement(match_id, int(said[1]), said[2] == b"1")
        if match_id not in self._appending:
            self._tell(announcement)
            return
        held = self._held.get(match_id, announcement)
        head, is_lifecycle = max(held.head, announcement.head), held.is_lifecycle or announcement.is_lifecycle
        self._held[match_id] = Announcement(match_id, head, is_lifecycle)

    def _tell(self, announcement: Announcement) -> None:
        for heard, _ in tuple(self._listeners):
            heard(announcement)
