"""Limits on matches, seats and guests, counted in the store for all processes together.

A match is reserved in a book before it is opened or a seat is taken, so that everything appended is counted even if a
process dies in between. The end of a match does not release the reservation. A full book is compared with the lobby:
reservations are released for matches that no longer count, and for commands that failed longer ago than any command can
take. The cost grows with the length of the book, and only callers at a limit pay it.

The book of all matches is too long for that: the process that sweeps releases finished matches, and compares the whole
book periodically.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final, TypeAlias

from rollbook.identity.tokens import Subject
from rollbook.match.commands import Declined
from rollbook.server.access.house_bots import HouseBot
from rollbook.server.access.players import Players
from rollbook.server.configuration.settings import Limits
from rollbook.server.failures import RequestReused
from rollbook.server.lobby.lobby import ListedMatch, StoredLobby
from rollbook.server.refusals import Refusal
from rollbook.storage.port import Full, Quota, QuotaBooks, Reserved, SharedClock, StoreUnavailable, TokenBuckets
from rollbook.v1.match_pb2 import MATCH_STATE_GETTING_READY, MATCH_STATE_OPEN

EVERYBODY: Final = "everybody"
"""The holder of the book of all matches."""

MATCHES: Final = "matches"
OPENED: Final = "matches_per_subject"
OPEN: Final = "open_matches_per_subject"
SEATS: Final = "seats_per_subject"
WAITING: Final = "waiting_seats_per_subject"

HOUSE: Final = "house"
"""The holder of the book of seats of invited bots."""
HOUSE_SEATS: Final = "house_seats"

_NO_END: Final = 1 << 31
_HOUR_MS: Final = 3_600_000

Counts: TypeAlias = Callable[[ListedMatch, bytes], bool]
"""Whether a match counts, by its lobby entry, for the player with this reference."""


def _is_opened(listed: ListedMatch, player: bytes) -> bool:
    return not listed.is_over and listed.opener == player


def _is_open(listed: ListedMatch, player: bytes) -> bool:
    return listed.summary.state == MATCH_STATE_OPEN and listed.opener == player


def _is_seated(listed: ListedMatch, player: bytes) -> bool:
    return not listed.is_over and player in listed.players


def _waits(listed: ListedMatch, player: bytes) -> bool:
    return listed.summary.state in {MATCH_STATE_OPEN, MATCH_STATE_GETTING_READY} and player in listed.players


_COUNTS: Final[Mapping[str, Counts]] = {OPENED: _is_opened, OPEN: _is_open, SEATS: _is_seated, WAITING: _waits}

_WHY: Final = {
    MATCHES: "too many matches are open or running",
    OPENED: "this subject has opened too many matches that are not over",
    OPEN: "this subject has opened too many matches that still have free seats",
    SEATS: "this subject sits in too many matches that are not over",
    WAITING: "this subject sits in too many matches that have not started",
}


class Quotas:
    """Limits matches and seats."""

    def __init__(
        self, books: QuotaBooks, clock: SharedClock, lobby: StoredLobby, players: Players, limits: Limits
    ) -> None:
        self._books = books
        self._clock = clock
        self._lobby = lobby
        self._players = players
        self._limits = limits

    async def reserve_match(self, caller: Subject, match_id: str) -> None:
        """Reserve a match that the caller is about to open; raises Refusal at a limit."""
        books = [OPENED] if caller.is_house else [OPENED, OPEN]
        mine = await self._reserve(caller, match_id, books)
        result = await self._books.reserve(EVERYBODY, match_id, [self._quota(MATCHES)])
        if isinstance(result, Full):
            if mine.is_new:
                await self._books.release(self._holder(caller), books, {match_id: mine.until_ms})
            raise self._refusal(MATCHES)

    @asynccontextmanager
    async def seat(self, caller: Subject, match_id: str) -> AsyncIterator[None]:
        """Reserve a seat that the caller takes within this context; raises Refusal at a limit."""
        books = [SEATS] if caller.is_house else [SEATS, WAITING]
        mine = await self._reserve(caller, match_id, books)
        try:
            yield
        except (Declined, Refusal):
            # Nothing was appended. After any other failure the outcome is unknown, so the reservation stays for a
            # while.
            if mine.is_new:
                with suppress(StoreUnavailable):
                    await self._books.release(self._holder(caller), books, {match_id: mine.until_ms})
            raise
        with suppress(StoreUnavailable):
            await self._books.settle(self._holder(caller), books, match_id, mine.until_ms)

    @asynccontextmanager
    async def house_seat(self, bot: HouseBot, match_id: str) -> AsyncIterator[None]:
        """Reserve a seat that a bot of the house takes within this context; raises Refusal at the limit."""
        place, quota = f"{match_id}/{bot.sub}", self._quota(HOUSE_SEATS)
        result = await self._books.reserve(HOUSE, place, [quota])
        if isinstance(result, Full):
            await self.house_seats(result.now_ms)
            result = await self._books.reserve(HOUSE, place, [quota])
        if isinstance(result, Full):
            why = "the bots of the house sit in as many matches as they may"
            raise Refusal("TOO_MANY_BOTS", why, {"limit": quota.most, "of": HOUSE_SEATS})
        try:
            yield
        except (Declined, Refusal, RequestReused):
            if result.is_new:
                with suppress(StoreUnavailable):
                    await self._books.release(HOUSE, [HOUSE_SEATS], {place: result.until_ms})
            raise
        with suppress(StoreUnavailable):
            await self._books.settle(HOUSE, [HOUSE_SEATS], place, result.until_ms)

    async def house_seats(self, now_ms: int) -> list[tuple[str, HouseBot]]:
        """The seats of invited bots; releases the reservations of seats that no longer count."""
        places = await self._books.reserved(HOUSE, HOUSE_SEATS)
        lobby = await self._lobby.entries(sorted({place.partition("/")[0] for place in places}))
        seats, stale = [], {}
        for place, until_ms in places.items():
            match_id, _, sub = place.partition("/")
            bot, listed = HouseBot.of(sub), lobby.get(match_id)
            if listed is not None and _is_seated(listed, self._players.reference(bot.subject, match_id)):
                seats.append((match_id, bot))
            elif until_ms < now_ms or (listed is not None and listed.summary.state != MATCH_STATE_OPEN):
                stale[place] = until_ms
        if stale:
            await self._books.release(HOUSE, [HOUSE_SEATS], stale)
        return seats

    async def free(self, match_ids: Sequence[str]) -> None:
        """Release the reservations of finished matches."""
        await self._books.free(EVERYBODY, MATCHES, match_ids)

    async def recount(self) -> None:
        """Compare the book of all matches with the lobby."""
        now_ms = await self._clock.now_ms()
        places = await self._books.reserved(EVERYBODY, MATCHES)
        left = dict(places)
        async for part in self._lobby.parts():
            for listed in part:
                match_id = listed.summary.match_id
                if not listed.is_over:
                    left.pop(match_id, None)
                if not listed.is_over and match_id not in places:
                    # Missing after a failover, or in a store of a version that did not count matches.
                    await self._books.reserve(EVERYBODY, match_id, [Quota(MATCHES, _NO_END)])
                elif listed.is_over and match_id in left:
                    left[match_id] = 0
        # Matches that the lobby does not list may be opened at this moment.
        over = [match_id for match_id, until_ms in left.items() if until_ms == 0]
        stale = {match_id: until_ms for match_id, until_ms in left.items() if until_ms and until_ms < now_ms}
        await self.free(over)
        if stale:
            await self._books.release(EVERYBODY, [MATCHES], stale)

    async def _reserve(self, caller: Subject, match_id: str, books: list[str]) -> Reserved:
        """Reserve a place in each of these books; a full book is compared with the lobby first."""
        holder, quotas = self._holder(caller), [self._quota(book) for book in books]
        compared: set[str] = set()
        while True:
            result = await self._books.reserve(holder, match_id, quotas)
            if isinstance(result, Reserved):
                return result
            if result.book in compared or not await self._tidy(caller, holder, result):
                raise self._refusal(result.book)
            compared.add(result.book)

    async def _tidy(self, caller: Subject, holder: str, full: Full) -> bool:
        """Release the reservations of matches that no longer count; returns whether there were any."""
        places = await self._books.reserved(holder, full.book)
        lobby = await self._lobby.entries(list(places))
        stale = {
            match_id: until_ms
            for match_id, until_ms in places.items()
            if not self._counts(caller, full, match_id, lobby.get(match_id), until_ms)
        }
        if stale:
            await self._books.release(holder, [full.book], stale)
        return bool(stale)

    def _counts(self, caller: Subject, full: Full, match_id: str, listed: ListedMatch | None, until_ms: int) -> bool:
        if listed is not None and _COUNTS[full.book](listed, self._players.reference(caller, match_id)):
            return True
        # The command may be under way if the match does not exist yet or has a free seat.
        may_come = listed is None or (full.book in {SEATS, WAITING} and listed.summary.state == MATCH_STATE_OPEN)
        return may_come and until_ms >= full.now_ms

    def _holder(self, caller: Subject) -> str:
        return self._players.pseudonym(caller.key)

    def _quota(self, book: str) -> Quota:
        return Quota(book, getattr(self._limits, book))

    def _refusal(self, book: str) -> Refusal:
        facts = {"limit": getattr(self._limits, book), "of": book}
        if book in {SEATS, WAITING}:
            return Refusal("TOO_MANY_SEATS", _WHY[book], facts)
        return Refusal("TOO_MANY_MATCHES", _WHY[book], facts)


class GuestQuota:
    """Limits new guests per address and in total, with buckets that refill within an hour."""

    def __init__(self, buckets: TokenBuckets, players: Players, limits: Limits) -> None:
        self._buckets = buckets
        self._players = players
        self._of_address = limits.guests_per_address_per_hour
        self._of_all = limits.guests_per_hour

    async def count(self, address: str) -> None:
        """Count a new guest from this address; raises Refusal at a limit."""
        of_address = f"guests:{self._players.pseudonym(address)}"
        for bucket, most in ((of_address, self._of_address), ("guests", self._of_all)):
            wait_ms = await self._buckets.draw(bucket, most, _HOUR_MS)
            if wait_ms:
                raise Refusal("TOO_MANY_GUESTS", "too many guests have signed in", {"retry_after_ms": wait_ms})
