"""Open tables of PlayNow: frees the seats of absent people, withdraws empty tables, and has bots join."""

from __future__ import annotations

from rollbook.match.ledger import Ledger
from rollbook.server.lobby.listed_match import MatchMetadata
from rollbook.server.lobby.lobby import StoredLobby
from rollbook.server.lobby.pools import people_at
from rollbook.server.play.bots import Bots
from rollbook.server.play.pool_seats import PoolSeats
from rollbook.storage.pools import TablePlace


class PoolTables:
    """Examines open tables of PlayNow for the sweeper."""

    def __init__(self, lobby: StoredLobby, seats: PoolSeats, bots: Bots) -> None:
        self._lobby = lobby
        self._seats = seats
        self._bots = bots

    async def look(self, ledger: Ledger, now_ms: int, back_ms: int) -> int:
        """Do what is due at an open table; returns the time of the next look.

        `back_ms` is when the service was last away: people could not be seen before it.
        """
        metadata, periods = await self._lobby.metadata(ledger), self._seats.periods
        match_id = ledger.opened.match_id
        next_ms = now_ms + periods.look
        could_be_seen = periods.is_live(ledger) and now_ms - back_ms > periods.absent
        if could_be_seen and await self._free_seats(ledger, metadata, now_ms):
            return next_ms
        places = await self._seats.store.places(periods.pool_of(ledger), match_id)
        if not people_at(ledger) and not any(_is_person(place) for place in places):
            await self._seats.withdraw_empty(match_id)
        elif metadata.bots_at_ms and now_ms < metadata.bots_at_ms:
            return min(next_ms, metadata.bots_at_ms)
        elif metadata.bots_at_ms and people_at(ledger):
            await self._bots.fill_seats(ledger, metadata)
        return next_ms

    async def pause_absent(self, ledger: Ledger) -> None:
        """After a table was aborted as not ready, refuse PlayNow for a while to the people who were not ready."""
        metadata, periods = await self._lobby.metadata(ledger), self._seats.periods
        if not metadata.in_pool:
            return
        for player, entropy in zip(ledger.players, ledger.match.entropy, strict=True):
            if entropy is None and player in people_at(ledger) and (holder := metadata.holders.get(player)):
                await self._seats.store.pause(holder, periods.pause, periods.longest_pause, periods.forgive)

    async def _free_seats(self, ledger: Ledger, metadata: MatchMetadata, now_ms: int) -> bool:
        """Free the seats of people who were not seen for a while; returns whether there were any."""
        pool, match_id = self._seats.periods.pool_of(ledger), ledger.opened.match_id
        seen = {place.holder.name: place.seen_ms for place in await self._seats.store.places(pool, match_id)}
        absent = [
            player
            for player in people_at(ledger)
            # A table that the pool has lost is judged by its last event.
            if now_ms - seen.get(metadata.holders.get(player, ""), ledger.time_ms) > self._seats.periods.absent
        ]
        for player in absent:
            await self._seats.free_absent(ledger, metadata, player)
        return bool(absent)


def _is_person(place: TablePlace) -> bool:
    return not place.holder.is_house
