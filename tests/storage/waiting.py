"""Wait for entries of matches as feeds do: by announcements and by reading."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from rollbook.match.chain import Entry
from rollbook.storage.port import Announcement, EventLog


async def wait(log: EventLog, after: Mapping[str, int], timeout_seconds: float) -> dict[str, list[Entry]]:
    """Return the entries after the given sequences, for matches that have any; empty after the time-out."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout_seconds
    news = asyncio.Event()

    def hear(said: Announcement) -> None:
        if said.head > after.get(said.match_id, said.head):
            news.set()

    listening: asyncio.Task[None] | None = None
    try:
        while True:
            news.clear()
            found = await log.behind(after)
            left = deadline - loop.time()
            if found or left <= 0:
                return found
            if listening is None or listening.done():
                listening = asyncio.create_task(log.listen(hear, news.set))
            hearing = asyncio.create_task(news.wait())
            await asyncio.wait({listening, hearing}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            hearing.cancel()
    finally:
        if listening is not None:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
