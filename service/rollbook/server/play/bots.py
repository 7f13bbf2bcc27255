"""Seats bots of the house at the table when a player asks, and notifies the house."""

from __future__ import annotations

from collections.abc import Iterator

from rollbook.identity.references import request_hash
from rollbook.match.commands import Declined, Why
from rollbook.match.ledger import Ledger
from rollbook.server.access.house_bots import STRATEGIES, STRATEGY, HouseBot, Invite, bots_of
from rollbook.server.access.players import Players
from rollbook.server.failures import RequestReused
from rollbook.server.lobby.listed_match import MatchMetadata
from rollbook.server.lobby.match_access import Sight
from rollbook.server.lobby.pools import people_at
from rollbook.server.lobby.rematches import Rematches
from rollbook.server.play.commands import Commands
from rollbook.server.play.matches import Answer
from rollbook.server.play.pool_seats import PoolSeats
from rollbook.server.play.quotas import Quotas
from rollbook.server.refusals import Refusal
from rollbook.storage.pools import Holder
from rollbook.v1 import match_pb2 as proto


class Bots:
    """Seats bots of the house."""

    def __init__(  # noqa: PLR0913, PLR0917 - what decides whether a bot may sit down
        self,
        commands: Commands,
        players: Players,
        quotas: Quotas,
        rematches: Rematches,
        pool_seats: PoolSeats,
        invite: Invite | None,
    ) -> None:
        """`invite` notifies the house of a seat; None: there are no bots."""
        self._rematches = rematches
        self._pool_seats = pool_seats
        self._commands = commands
        self._players = players
        self._quotas = quotas
        self._invite = invite

    async def add(self, sight: Sight, request: proto.AddBotRequest) -> Answer:
        """Seat a bot; repeating the request has no further effect."""
        if self._invite is None:
            raise Refusal("NO_HOUSE", "this service has no bots; `rollbook bot` brings one of your own")
        strategy = request.strategy or STRATEGY
        if strategy not in STRATEGIES:
            why = f"the bots of the house play by {', '.join(STRATEGIES)}"
            raise Refusal("STRATEGY_UNKNOWN", why, {"allowed": STRATEGIES})
        origin = self._players.origin(sight.caller, sight.match_id, request.request_id, now_ms=0)
        self._commands.check_opener(sight, origin)
        if sight.ledger.made_by(origin.request) is None and not sight.ledger.has_person:
            raise Refusal("PERSON_NEEDED", "a bot sits down where a player sits already: take a seat first")
        kept = await self._rematches.kept(sight.metadata, sight.match_id)
        failure: Exception = Refusal("TOO_MANY_BOTS", "all bots of this strength sit here already")
        for bot in self._candidates(sight, request, strategy):
            try:
                async with (
                    self._quotas.house_seat(sight.caller, bot, sight.match_id),
                    self._pool_seats.taking(sight.ledger, sight.metadata, self._holder(bot)),
                ):
                    answer = await self._commands.seat_bot(sight, request, bot, kept)
            except RequestReused as reused:
                # This request may have seated another bot.
                failure = reused
            except Declined as declined:
                if declined.reason is not Why.ALREADY_SEATED:
                    raise
                failure = declined
            else:
                self._invite(sight.match_id, bot)
                return answer
        raise failure

    async def fill_seats(self, ledger: Ledger, metadata: MatchMetadata) -> None:
        """Seat bots on the free seats of a table of PlayNow, unless they are busy or a seat is kept for a person."""
        seated = self._names_at(ledger)
        free = ledger.match.taken.count(False)
        people = [metadata.holders.get(player, "") for player in people_at(ledger)]
        for bot in [bot for bot in bots_of(STRATEGY) if bot.name not in seated][:free]:
            try:
                async with (
                    self._quotas.house_seat_of(people, bot, ledger.opened.match_id),
                    self._pool_seats.taking(ledger, metadata, self._holder(bot)),
                ):
                    ledger = (await self._commands.fill_seat(ledger, bot)).ledger
            except (Refusal, Declined):
                return
            if self._invite is not None:
                self._invite(ledger.opened.match_id, bot)

    async def invite_again(self, now_ms: int) -> None:
        """Notify the house of all seats of its bots, as it may have been restarted."""
        if self._invite is not None:
            for match_id, bot in await self._quotas.house_seats(now_ms):
                self._invite(match_id, bot)

    def _candidates(self, sight: Sight, request: proto.AddBotRequest, strategy: str) -> Iterator[HouseBot]:
        """Bots that may take the seat: those whose name is free, or all if the request is a repeated one."""
        ledger = sight.ledger
        if ledger.made_by(request_hash(sight.caller.key, request.request_id)) is not None:
            yield from bots_of(strategy)
            return
        seated = self._names_at(ledger)
        yield from (bot for bot in bots_of(strategy) if bot.name not in seated)

    def _names_at(self, ledger: Ledger) -> set[str]:
        """The names of the bots at a table."""
        every = (bot for strategy in STRATEGIES for bot in bots_of(strategy))
        match_id = ledger.opened.match_id
        return {bot.name for bot in every if self._players.reference(bot.subject, match_id) in ledger.players}

    def _holder(self, bot: HouseBot) -> Holder:
        return Holder(self._players.pseudonym(bot.subject.key), is_house=True)
