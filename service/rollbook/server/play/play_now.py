"""PlayNow: finds a table where a person waits, or opens one."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from rollbook.identity.tokens import Role, Subject
from rollbook.match.events import Terms
from rollbook.rules.catalogue import AnyGame, current
from rollbook.rules.refusals import Invalid, Reason
from rollbook.server.access.players import Players
from rollbook.server.configuration.limit_table import Limits
from rollbook.server.failures import RequestReused
from rollbook.server.lobby.listed_match import ListedMatch
from rollbook.server.lobby.lobby import StoredLobby
from rollbook.server.lobby.match_access import check_request_id, require
from rollbook.server.lobby.pools import PaceTerms
from rollbook.server.play.opener import Opener
from rollbook.server.play.pool_seats import PoolSeats
from rollbook.server.refusals import Refusal
from rollbook.storage.pools import Claim, Holder, Pool
from rollbook.storage.port import EventLog, TokenBuckets
from rollbook.v1 import match_pb2 as proto

SEARCHES: Final = 5
"""Tables that one call tries; each may be gone when the call looks at it."""

_LOOKS: Final = 20
"""How often a caller looks for event 1 of a table that another caller opens."""

_MINUTE_MS: Final = 60_000


@dataclass(frozen=True, slots=True)
class _Search:
    """A valid request."""

    caller: Subject
    holder: Holder
    request_id: str
    match_id: str
    """The match that this request opens if there is no other table."""
    game: AnyGame
    pace: PaceTerms


class PlayNow:
    """Finds tables for callers."""

    def __init__(  # noqa: PLR0913, PLR0917 - the parts of a search
        self,
        seats: PoolSeats,
        opener: Opener,
        log: EventLog,
        buckets: TokenBuckets,
        lobby: StoredLobby,
        players: Players,
        limits: Limits,
    ) -> None:
        self._log = log
        self._buckets = buckets
        self._lobby = lobby
        self._players = players
        self._opener = opener
        self._seats = seats
        self._limits = limits

    async def find(self, caller: Subject, request: proto.PlayNowRequest, address: str) -> proto.PlayNowResponse:
        """Claim a seat; `address` is empty if the caller's address is not limited."""
        search = self._read(caller, request)
        await self._count(caller, address)
        pool = self._seats.periods.pool(search.game.name, search.game.version, search.game.seats[0], search.pace)
        if await self._log.head(search.match_id):
            return await self._opened_before(search, pool)
        if paused_ms := await self._seats.store.paused_ms(search.holder.name):
            why = "you were not ready when a table that was found for you began"
            raise Refusal("PLAY_NOW_PAUSED", why, {"retry_after_ms": paused_ms})
        for _ in range(SEARCHES):
            claim = await self._seats.store.claim(pool, search.holder, search.match_id)
            if claim.match_id == search.match_id:
                return await self._open(search, pool)
            listed = await self._entry(claim.match_id)
            if listed is not None and listed.summary.state == proto.MATCH_STATE_OPEN:
                return _response(claim, listed.summary.bots_at_ms, opened=False)
            await self._seats.store.drop(pool, claim.match_id)
        raise Refusal("CONTENDED", "the tables that were found were gone: the same request may be repeated")

    def _read(self, caller: Subject, request: proto.PlayNowRequest) -> _Search:
        require(caller, Role.PLAYER)
        check_request_id(request.request_id)
        game = current().get(request.game)
        if game is None:
            raise Invalid(Reason.GAME_UNKNOWN, "no game has this name", allowed=tuple(current()))
        holder = Holder(self._players.pseudonym(caller.key), request.people_only, caller.is_house)
        match_id = self._players.opens(caller, request.request_id)
        periods = self._seats.periods
        pace = periods.slow if request.pace == proto.PACE_SLOW else periods.live
        return _Search(caller, holder, request.request_id, match_id, game, pace)

    async def _count(self, caller: Subject, address: str) -> None:
        """Count the call for its subject and address, in all processes; raises Refusal at a limit."""
        limits = self._limits
        buckets = [(caller.key, limits.play_now_per_minute)]
        buckets += [(address, limits.play_now_per_address_per_minute)] if address else []
        for who, most in buckets:
            if wait_ms := await self._buckets.draw(f"now:{self._players.pseudonym(who)}", most, _MINUTE_MS):
                raise Refusal("RATE_LIMITED", "too many calls of PlayNow", {"retry_after_ms": wait_ms})

    async def _open(self, search: _Search, pool: Pool) -> proto.PlayNowResponse:
        """Open the table that the pool has added; if that is refused, the pool drops it."""
        pace = search.pace
        bots_at_ms = self._seats.bots_at_ms(people_only=search.holder.people_only)
        terms = Terms(pace.turn, pace.reserve, pace.ready, open_seconds=pace.open)
        try:
            await self._opener.open_table(search.caller, search.request_id, search.game, terms, bots_at_ms)
        except (Refusal, RequestReused):
            await self._seats.store.drop(pool, search.match_id)
            raise
        return await self._put_back(search, pool, bots_at_ms)

    async def _opened_before(self, search: _Search, pool: Pool) -> proto.PlayNowResponse:
        """The match that this request opened earlier."""
        listed = await self._lobby.entry(search.match_id)
        if listed is None:
            return _response(Claim(search.match_id, 0), 0, opened=True)
        summary = listed.summary
        if (summary.game, summary.turn_seconds) != (search.game.name, search.pace.turn):
            raise RequestReused
        if summary.state != proto.MATCH_STATE_OPEN:
            return _response(Claim(search.match_id, 0), 0, opened=True)
        return await self._put_back(search, pool, summary.bots_at_ms)

    async def _put_back(self, search: _Search, pool: Pool, bots_at_ms: int) -> proto.PlayNowResponse:
        """Claim a seat at the caller's own table; another caller may have dropped it before it was open."""
        hold = await self._seats.store.hold(pool, search.holder, search.match_id)
        return _response(Claim(search.match_id, hold.until_ms), bots_at_ms, opened=True)

    async def _entry(self, match_id: str) -> ListedMatch | None:
        """The lobby entry of a table; None if its opener has not opened it within a second."""
        for _ in range(_LOOKS):
            if (listed := await self._lobby.entry(match_id)) is not None:
                return listed
            await asyncio.sleep(self._seats.periods.opener / 1_000 / _LOOKS)
        return None


def _response(claim: Claim, bots_at_ms: int, *, opened: bool) -> proto.PlayNowResponse:
    return proto.PlayNowResponse(
        match_id=claim.match_id, opened=opened, claim_until_ms=claim.until_ms, bots_at_ms=bots_at_ms
    )
