"""The feeds of seats that are open in this process: while one is open, its player is present.

A background loop records new and ended feeds at once, and all feeds periodically: in the store's list of present seats,
and for open tables of PlayNow in their pool. A process that dies stops renewing, and its entries lapse.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

from rollbook.match.ledger import Ledger
from rollbook.server.access.limits import no_budget
from rollbook.server.access.players import Players
from rollbook.server.lobby.match_access import Sight
from rollbook.server.lobby.pools import Periods, is_open
from rollbook.server.loops import BackgroundLoop
from rollbook.server.replica.replicas import Replicas
from rollbook.storage.pools import Holder, PoolStore
from rollbook.storage.port import StoreUnavailable
from rollbook.storage.presence import PresenceStore

KEPT_PERIODS: Final = 3.5
"""After so many periods without renewal an entry lapses."""

_SECOND_MS: Final = 1_000


@dataclass(slots=True)
class _Watched:
    """A match with feeds of seats in this process."""

    in_pool: bool
    feeds: Counter[tuple[int, Holder]] = field(default_factory=Counter)
    """The number of open feeds by seat and holder."""
    here: frozenset[int] = frozenset()
    """The present seats of all processes."""


class SeatFeeds:
    """Records which seats have feeds open, and knows those of other processes."""

    def __init__(  # noqa: PLR0913, PLR0917 - where presence is recorded, and what about
        self,
        presence: PresenceStore | None,
        pools: PoolStore | None,
        periods: Periods,
        replicas: Replicas,
        players: Players,
        failed: Callable[[str], None],
    ) -> None:
        """`failed` is called with the name of the loop when it fails; without a store nothing is recorded."""
        self._presence = presence
        self._pools = pools
        self._periods = periods
        self._replicas = replicas
        self._players = players
        self._process = secrets.token_hex(4)
        self._watched: dict[str, _Watched] = {}
        self._fresh: set[str] = set()
        """Matches whose present seats may have changed since the last round."""
        self._all_at = 0.0
        """When all matches are due, by the loop's clock."""
        self._news = asyncio.Event()
        self._loop = BackgroundLoop("seat feeds", self._record, failed, 0)
        self._task: asyncio.Task[None] | None = None
        self.changed: Callable[[str], None] = lambda _match_id: None
        """Called with a match whose present seats have changed."""

    @contextmanager
    def of(self, sight: Sight) -> Iterator[None]:
        """Count a feed of the caller's seat within this context; bots of the house need none."""
        seat, match_id = sight.ledger.seat_of(sight.player), sight.match_id
        if self._presence is None or seat is None or sight.caller.is_house or sight.ledger.match.sealed is not None:
            yield
            return
        place = seat, Holder(self._players.pseudonym(sight.caller.key))
        watched = self._watched.setdefault(match_id, _Watched(sight.metadata.in_pool))
        watched.feeds[place] += 1
        self.refresh(match_id)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._loop.run(lambda: self._watched), context=no_budget())
        try:
            yield
        finally:
            watched.feeds[place] -= 1
            if not watched.feeds[place]:
                del watched.feeds[place]
            self.refresh(match_id)

    def refresh(self, match_id: str) -> None:
        """Look at the match's present seats at once."""
        if match_id in self._watched:
            self._fresh.add(match_id)
            self._news.set()

    def here(self, ledger: Ledger) -> tuple[bool, ...]:
        """By seat, whether its player or a bot of the house is present; empty if that is unknown."""
        watched = self._watched.get(ledger.opened.match_id)
        if watched is None or not watched.here:
            return ()
        return tuple(house or seat in watched.here for seat, house in enumerate(ledger.house))

    async def close(self) -> None:
        """Stop recording; the seats of this process are no longer present."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._presence is not None:
            with suppress(StoreUnavailable):
                for match_id in self._watched:
                    await self._presence.update(match_id, self._process, (), self._keep_ms)

    @property
    def _keep_ms(self) -> int:
        return round(self._periods.touch * KEPT_PERIODS)

    async def _record(self) -> None:
        now, pause = asyncio.get_running_loop().time(), self._periods.touch / _SECOND_MS
        due, self._fresh = self._fresh, set()
        if now >= self._all_at:
            due, self._all_at = set(self._watched), now + pause
        self._news.clear()
        try:
            while due:
                await self._record_match(min(due))
                due.remove(min(due))
        finally:
            self._fresh |= due
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0, self._all_at - asyncio.get_running_loop().time())):
                await self._news.wait()

    async def _record_match(self, match_id: str) -> None:
        watched = self._watched.get(match_id)
        if watched is None or self._presence is None:
            return
        seats = {seat for seat, _ in watched.feeds}
        here = frozenset(await self._presence.update(match_id, self._process, seats, self._keep_ms))
        if here != watched.here:
            watched.here = here
            self.changed(match_id)
        if watched.in_pool and self._pools is not None and watched.feeds:
            ledger = await self._replicas.ledger(match_id)
            watched.in_pool = is_open(ledger)
            if watched.in_pool:
                holders = [holder for _, holder in watched.feeds]
                await self._pools.sit(self._periods.pool_of(ledger), holders, match_id)
        if not watched.feeds and self._watched.get(match_id) is watched:
            del self._watched[match_id]
