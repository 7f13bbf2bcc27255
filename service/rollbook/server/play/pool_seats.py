"""Keeps the pools of PlayNow in step with the seats of their tables.

A seat is claimed in the pool before it is taken in the log, and given back there before it is left. If the process dies
in between, a claim lapses, and the feed of a seat records it again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from rollbook.identity.references import request_hash
from rollbook.match.commands import Abort, Declined, LeaveSeat, NotDue, Origin
from rollbook.match.ledger import Ledger
from rollbook.server.lobby.beside import Beside
from rollbook.server.lobby.listed_match import MatchMetadata
from rollbook.server.lobby.pools import Periods, is_open, people_at
from rollbook.server.play.matches import Matches
from rollbook.server.refusals import Refusal
from rollbook.server.replica.replicas import Replicas
from rollbook.storage.pools import Holder, PoolStore
from rollbook.storage.port import StoreUnavailable


class PoolSeats:
    """Claims and gives back seats at tables of PlayNow."""

    def __init__(  # noqa: PLR0913 - the pools, the matches, and what decides about bots
        self,
        store: PoolStore | None,
        periods: Periods,
        matches: Matches,
        replicas: Replicas,
        clock_ms: Callable[[], int],
        *,
        has_bots: bool,
    ) -> None:
        """`store` is None in a service without PlayNow."""
        self._store = store
        self.periods = periods
        self._matches = matches
        self._replicas = replicas
        self._clock_ms = clock_ms
        self._has_bots = has_bots

    @property
    def store(self) -> PoolStore:
        """The pools; raises Refusal if this service has none."""
        if self._store is None:
            raise Refusal("STORE_UNAVAILABLE", "this service has no pools for PlayNow")
        return self._store

    def bots_at_ms(self, opened_ms: int | None = None, *, people_only: bool) -> int:
        """When bots take the free seats of a table that was opened at this time, or is opened now; 0: never."""
        opened_ms = self._clock_ms() if opened_ms is None else opened_ms
        return 0 if people_only or not self._has_bots else opened_ms + self.periods.bots

    @asynccontextmanager
    async def taking(self, ledger: Ledger, metadata: MatchMetadata, holder: Holder) -> AsyncIterator[int | None]:
        """Claim a seat that the holder takes within this context; raises Refusal if all free seats are claimed.

        Yields the new value of `bots_at_ms`; None: it does not change.
        """
        match_id = ledger.opened.match_id
        if not metadata.in_pool or not is_open(ledger):
            yield None
            return
        pool = self.periods.pool_of(ledger)
        hold = await self.store.hold(pool, holder, match_id)
        if hold.wait_ms:
            why = "the free seats of this table are kept for others, who are about to sit down"
            raise Refusal("SEATS_KEPT", why, {"retry_after_ms": hold.wait_ms})
        yield 0 if hold.people_only else None
        with suppress(StoreUnavailable):
            if is_open(await self._replicas.ledger(match_id)):
                await self.store.sit(pool, [holder], match_id)
            else:
                await self.store.drop(pool, match_id)

    @asynccontextmanager
    async def leaving(self, ledger: Ledger, metadata: MatchMetadata, holder: str) -> AsyncIterator[int | None]:
        """Give a seat back that the holder leaves within this context; afterwards withdraws a table without people.

        Yields the new value of `bots_at_ms`; None: it does not change.
        """
        match_id = ledger.opened.match_id
        if not metadata.in_pool or not is_open(ledger):
            yield None
            return
        people, people_only = await self.store.leave(self.periods.pool_of(ledger), holder, match_id)
        yield self.bots_at_ms(metadata.opened_ms, people_only=people_only)
        if not people:
            await self.withdraw_empty(match_id)

    async def free_absent(self, ledger: Ledger, metadata: MatchMetadata, player: bytes) -> None:
        """Free the seat of a person who is absent."""
        match_id, holder = ledger.opened.match_id, metadata.holders.get(player, "")
        request = request_hash(player.hex(), f"absent behind event {ledger.head.sequence}")
        command = LeaveSeat(Origin(self._clock_ms(), player, request))
        async with self.leaving(ledger, metadata, holder) as bots_at_ms:
            # Declined if the person, or another sweeping process, was faster.
            with suppress(Declined):
                await self._matches.carry_out(match_id, command, Beside(bots_at_ms=bots_at_ms))

    async def withdraw_empty(self, match_id: str) -> None:
        """End an open table at which no person sits."""
        ledger = await self._replicas.ledger(match_id)
        if is_open(ledger) and not people_at(ledger):
            # Declined if another player takes a seat meanwhile.
            with suppress(Declined, NotDue):
                await self._matches.carry_out(match_id, Abort(Origin(self._clock_ms()), by_opener=True))
