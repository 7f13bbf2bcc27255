"""Limits on matches, seats, bots and guests, counted in the store for all processes together.

A match is reserved in a book before it is opened or a seat is taken, so that everything appended is counted even if a
process dies in between. Subjects have books, and so have addresses, as a subject costs nothing where guests are served.
The end of a match does not release the reservation. A full book is compared with the lobby: reservations are released
for matches that no longer count, and for commands that failed longer ago than any command can take. The cost grows with
the length of the book, and only callers at a limit pay it.

The last fifth of all matches, bots and guests is kept for newcomers: subjects and addresses that have few of them.

The book of all matches is too long for a comparison by callers: the process that sweeps releases finished matches, and
compares the whole book periodically.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Final, TypeAlias

from rollbook.identity.tokens import HOUSE as HOUSE_SUB
from rollbook.identity.tokens import Subject
from rollbook.match.commands import Declined
from rollbook.server.access.house_bots import HouseBot
from rollbook.server.access.limits import limited_address
from rollbook.server.access.players import Players
from rollbook.server.configuration.limit_table import Limits
from rollbook.server.failures import RequestReused
from rollbook.server.lobby.listed_match import ListedMatch
from rollbook.server.lobby.lobby import StoredLobby
from rollbook.server.refusals import Refusal
from rollbook.storage.port import Full, Quota, QuotaBooks, Reserved, SharedClock, StoreUnavailable, TokenBuckets
from rollbook.v1.match_pb2 import MATCH_STATE_GETTING_READY, MATCH_STATE_OPEN

EVERYBODY: Final = "everybody"
"""The holder of the book of all matches."""

MATCHES: Final = "matches"
OPENED: Final = "matches_per_subject"
OPENED_THERE: Final = "matches_per_address"
OPEN: Final = "open_matches_per_subject"
OPEN_THERE: Final = "open_matches_per_address"
SEATS: Final = "seats_per_subject"
WAITING: Final = "waiting_seats_per_subject"
WAITING_THERE: Final = "waiting_seats_per_address"

HOUSE: Final = "house"
"""The holder of the book of seats of invited bots."""
HOUSE_SEATS: Final = "house_seats"
HOUSE_OF_SUBJECT: Final = "house_seats_per_subject"
HOUSE_THERE: Final = "house_seats_per_address"

GUESTS: Final = "guests_per_hour"
GUESTS_THERE: Final = "guests_per_address_per_hour"

FEW: Final[Mapping[str, int]] = {OPENED: 2, OPENED_THERE: 20, HOUSE_OF_SUBJECT: 1, HOUSE_THERE: 5}
"""How many places a newcomer may have in these books, with the one in question."""

FEW_GUESTS: Final = 20
"""How many new guests an hour a newcomer's address may have."""

_NO_END: Final = 1 << 31
_HOUR_MS: Final = 3_600_000

Counts: TypeAlias = Callable[[ListedMatch, bytes], bool]
"""Whether a match counts, by its lobby entry, for the player with this reference."""


def last_fifth(most: int) -> int:
    """How many of `most` places are kept for newcomers.

    >>> last_fifth(10_000), last_fifth(4)
    (2000, 0)
    """
    return most // 5


def _is_opened(listed: ListedMatch, player: bytes) -> bool:
    return not listed.is_over and listed.opener == player


def _is_open(listed: ListedMatch, player: bytes) -> bool:
    return listed.summary.state == MATCH_STATE_OPEN and listed.opener == player


def _is_seated(listed: ListedMatch, player: bytes) -> bool:
    return not listed.is_over and player in listed.players


def _waits(listed: ListedMatch, player: bytes) -> bool:
    return listed.summary.state in {MATCH_STATE_OPEN, MATCH_STATE_GETTING_READY} and player in listed.players


_COUNTS: Final[Mapping[str, Counts]] = {
    OPENED: _is_opened,
    OPENED_THERE: lambda listed, _: not listed.is_over,
    OPEN: _is_open,
    OPEN_THERE: lambda listed, _: listed.summary.state == MATCH_STATE_OPEN,
    SEATS: _is_seated,
    WAITING: _waits,
    WAITING_THERE: _waits,
    HOUSE_SEATS: _is_seated,
    HOUSE_OF_SUBJECT: _is_seated,
    HOUSE_THERE: _is_seated,
}

_OF_MATCHES: Final = frozenset({OPENED, OPENED_THERE, OPEN, OPEN_THERE})
"""Books of opened matches; the others have seats."""

_WHY: Final = {
    MATCHES: "too many matches are open or running",
    OPENED: "this subject has opened too many matches that are not over",
    OPENED_THERE: "this address has opened too many matches that are not over",
    OPEN: "this subject has opened too many matches that still have free seats",
    OPEN_THERE: "this address has opened too many matches that still have free seats",
    SEATS: "this subject sits in too many matches that are not over",
    WAITING: "this subject sits in too many matches that have not started",
    WAITING_THERE: "this address has too many seats in matches that have not started",
    HOUSE_SEATS: "the bots of the house sit in as many matches as they may",
    HOUSE_OF_SUBJECT: "this subject has added too many bots to matches that are not over",
    HOUSE_THERE: "this address has added too many bots to matches that are not over",
}


@dataclass(frozen=True, slots=True)
class _Claim:
    """A place that a command needs in some books of one holder."""

    holder: str
    books: tuple[str, ...]
    place: str
    """A match, or for a seat that is not the caller's only one, match and player: a bot's subject or a reference."""


class Quotas:
    """Limits matches, seats and bots."""

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
        claims = self._claims(caller, match_id, (OPENED, OPEN), (OPENED_THERE, OPEN_THERE))
        await self._reserve(caller, [*claims, _Claim(EVERYBODY, (MATCHES,), match_id)])

    @asynccontextmanager
    async def seat(self, caller: Subject, match_id: str) -> AsyncIterator[None]:
        """Reserve a seat that the caller takes within this context; raises Refusal at a limit."""
        player = self._players.reference(caller, match_id).hex()
        claims = self._claims(caller, match_id, (SEATS, WAITING), (WAITING_THERE,), f"{match_id}/{player}")
        async with self._held(caller, claims):
            yield

    @asynccontextmanager
    async def house_seat(self, caller: Subject, bot: HouseBot, match_id: str) -> AsyncIterator[None]:
        """Reserve a seat that a bot takes within this context at the caller's request; raises Refusal at a limit."""
        place = f"{match_id}/{bot.sub}"
        claims = self._claims(caller, place, (HOUSE_OF_SUBJECT,), (HOUSE_THERE,))
        async with self._held(caller, [*claims, _Claim(HOUSE, (HOUSE_SEATS,), place)]):
            yield

    @asynccontextmanager
    async def house_seat_of(self, holders: Sequence[str], bot: HouseBot, match_id: str) -> AsyncIterator[None]:
        """Reserve a seat for a bot that the service seats for these people; raises Refusal if each has too many."""
        place, refusal = f"{match_id}/{bot.sub}", self._refusal(HOUSE_OF_SUBJECT)
        async with AsyncExitStack() as stack:
            for holder in holders:
                claims = [_Claim(holder, (HOUSE_OF_SUBJECT,), place), _Claim(HOUSE, (HOUSE_SEATS,), place)]
                try:
                    await stack.enter_async_context(self._held(bot.subject, claims))
                except Refusal as refused:
                    refusal = refused
                else:
                    break
            else:
                raise refusal
            yield

    async def house_seats(self, now_ms: int) -> list[tuple[str, HouseBot]]:
        """The seats of invited bots; releases the reservations of seats that no longer count."""
        places, lobby = await self._places(HOUSE, HOUSE_SEATS)
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

    async def opened_by(self, holder: str) -> list[ListedMatch]:
        """The matches, not over, in the book of matches that this subject or address (by its pseudonym) has opened."""
        found: dict[str, ListedMatch] = {}
        for book in (OPENED, OPENED_THERE):
            _, lobby = await self._places(holder, book)
            found |= {match_id: listed for match_id, listed in lobby.items() if not listed.is_over}
        return sorted(found.values(), key=lambda listed: listed.place, reverse=True)

    async def free(self, match_ids: Sequence[str]) -> None:
        """Release the reservations of finished matches."""
        await self._books.free(EVERYBODY, MATCHES, match_ids)

    async def recount(self) -> None:
        """Compare the book of all matches with the lobby."""
        now_ms = await self._clock.now_ms()
        places = await self._books.list_reserved(EVERYBODY, MATCHES)
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

    def _claims(
        self, caller: Subject, place: str, of_subject: tuple[str, ...], of_address: tuple[str, ...], there: str = ""
    ) -> list[_Claim]:
        """The places in the books of the caller's subject and address; the house has no limit where matches wait."""
        if caller.is_house:
            of_subject, of_address = of_subject[:1], ()
        claims = [_Claim(self._players.pseudonym(caller.key), of_subject, place)]
        if of_address and (address := limited_address()):
            claims.append(_Claim(self._players.pseudonym(address), of_address, there or place))
        return claims

    @asynccontextmanager
    async def _held(self, caller: Subject, claims: Sequence[_Claim]) -> AsyncIterator[None]:
        """Reserve the places of a seat that is taken within this context."""
        held = await self._reserve(caller, claims)
        try:
            yield
        except (Declined, Refusal, RequestReused):
            # Nothing was appended. After any other failure the outcome is unknown, so the reservation stays for a
            # while.
            with suppress(StoreUnavailable):
                await self._release(held)
            raise
        with suppress(StoreUnavailable):
            for claim, reserved in held:
                await self._books.settle(claim.holder, claim.books, claim.place, reserved.until_ms)

    async def _reserve(self, caller: Subject, claims: Sequence[_Claim]) -> list[tuple[_Claim, Reserved]]:
        """Reserve all of these places, or none if a book is full."""
        held: list[tuple[_Claim, Reserved]] = []
        for claim in claims:
            try:
                if claim.holder in {EVERYBODY, HOUSE}:
                    reserved = await self._reserve_of_all(caller, claim, claims)
                else:
                    reserved = await self._reserve_one(caller, claim)
            except Refusal:
                await self._release(held)
                raise
            held.append((claim, reserved))
        return held

    async def _release(self, held: Sequence[tuple[_Claim, Reserved]]) -> None:
        for claim, reserved in held:
            if reserved.is_new:
                await self._books.release(claim.holder, claim.books, {claim.place: reserved.until_ms})

    async def _reserve_one(self, caller: Subject, claim: _Claim) -> Reserved:
        """Reserve a place in each of these books; a full book is compared with the lobby first."""
        quotas = [Quota(book, getattr(self._limits, book)) for book in claim.books]
        compared: set[str] = set()
        while True:
            result = await self._books.reserve(claim.holder, claim.place, quotas)
            if isinstance(result, Reserved):
                return result
            _, released = await self._count(caller, claim.holder, result)
            if result.book in compared or not released:
                raise self._refusal(result.book)
            compared.add(result.book)

    async def _reserve_of_all(self, caller: Subject, claim: _Claim, claims: Sequence[_Claim]) -> Reserved:
        """Reserve one of all places; of the last fifth only for a newcomer."""
        (book,) = claim.books
        most = getattr(self._limits, book)
        last = last_fifth(most)

        async def reserve(places: int) -> Reserved | Full:
            return await self._books.reserve(claim.holder, claim.place, [Quota(book, places)])

        result = await reserve(most - last)
        if isinstance(result, Full) and claim.holder == HOUSE:
            await self.house_seats(result.now_ms)
            result = await reserve(most - last)
        if isinstance(result, Full) and last and await self._is_newcomer(caller, claims, result.now_ms):
            result = await reserve(most)
        if isinstance(result, Full):
            raise self._refusal(book)
        return result

    async def _is_newcomer(self, caller: Subject, claims: Sequence[_Claim], now_ms: int) -> bool:
        """Whether subject and address have few places, including the ones reserved for this command."""
        for claim in claims:
            for book in claim.books:
                if book in FEW and (await self._count(caller, claim.holder, Full(book, now_ms)))[0] > FEW[book]:
                    return False
        return True

    async def _count(self, caller: Subject, holder: str, full: Full) -> tuple[int, int]:
        """Release the reservations that no longer count; returns how many are left, and how many were released."""
        places, lobby = await self._places(holder, full.book)
        stale = {
            place: until_ms
            for place, until_ms in places.items()
            if not self._counts(caller, full, place, lobby.get(place.partition("/")[0]), until_ms)
        }
        if stale:
            await self._books.release(holder, [full.book], stale)
        return len(places) - len(stale), len(stale)

    async def _places(self, holder: str, book: str) -> tuple[dict[str, int], dict[str, ListedMatch]]:
        """The places of a book, and the lobby entries of their matches."""
        places = await self._books.list_reserved(holder, book)
        return places, await self._lobby.entries(sorted({place.partition("/")[0] for place in places}))

    def _counts(self, caller: Subject, full: Full, place: str, listed: ListedMatch | None, until_ms: int) -> bool:
        if listed is not None and _COUNTS[full.book](listed, self._player(caller, place)):
            return True
        # The command that reserved this place may still be running, if its match does not exist yet, or if the place
        # is a seat of a match that is still open.
        may_come = listed is None or (full.book not in _OF_MATCHES and listed.summary.state == MATCH_STATE_OPEN)
        return may_come and until_ms >= full.now_ms

    def _player(self, caller: Subject, place: str) -> bytes:
        """The reference of the player whose place this is."""
        match_id, _, who = place.partition("/")
        if who.startswith(HOUSE_SUB):
            return self._players.reference(HouseBot.of(who).subject, match_id)
        return bytes.fromhex(who) if who else self._players.reference(caller, match_id)

    def _refusal(self, book: str) -> Refusal:
        why, facts = _WHY[book], {"limit": getattr(self._limits, book), "of": book}
        if book in _OF_MATCHES or book == MATCHES:
            return Refusal("TOO_MANY_MATCHES", why, facts)
        if book in {SEATS, WAITING, WAITING_THERE}:
            return Refusal("TOO_MANY_SEATS", why, facts)
        return Refusal("TOO_MANY_BOTS", why, facts)


class GuestQuota:
    """Limits new guests per address and in total, with buckets that refill within an hour."""

    def __init__(self, buckets: TokenBuckets, players: Players, limits: Limits) -> None:
        self._buckets = buckets
        self._players = players
        self._limits = limits

    async def count(self, address: str) -> None:
        """Count a new guest from this address; raises Refusal at a limit."""
        there = self._players.pseudonym(address)
        await self._draw(f"guests:{there}", GUESTS_THERE, self._limits.guests_per_address_per_hour)
        is_newcomer = not await self._buckets.draw(f"newcomers:{there}", FEW_GUESTS, _HOUR_MS)
        last = last_fifth(self._limits.guests_per_hour)
        try:
            await self._draw("guests", GUESTS, self._limits.guests_per_hour - last)
        except Refusal:
            if not is_newcomer or not last or await self._buckets.draw("last guests", last, _HOUR_MS):
                raise

    async def _draw(self, bucket: str, limit: str, most: int) -> None:
        wait_ms = await self._buckets.draw(bucket, most, _HOUR_MS)
        if wait_ms:
            facts = {"retry_after_ms": wait_ms, "limit": getattr(self._limits, limit), "of": limit}
            raise Refusal("TOO_MANY_GUESTS", "too many guests have signed in", facts)
