"""The MatchService: each call identifies its caller and what the caller may see; refusals carry the position."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass

from rollbook.identity.names import ReservedNames, player_name
from rollbook.identity.tokens import Role, Subject
from rollbook.match.fold import Misplaced
from rollbook.rules.game import Watcher
from rollbook.server.access.limits import LIFE_POINTS, OPEN_POINTS, Held
from rollbook.server.access.players import Players
from rollbook.server.failures import TailLost
from rollbook.server.lobby.match_access import Acted, Callers, Context, Sight, Sights, check_request_id, require
from rollbook.server.lobby.match_listing import Lists, games, points_of
from rollbook.server.lobby.rematches import Kept, Rematches
from rollbook.server.out.projection import Heads, look_message, made_message
from rollbook.server.play.bots import Bots
from rollbook.server.play.commands import Commands, Placed, position_of, seat_taken
from rollbook.server.play.matches import Answer
from rollbook.server.play.opener import Opener
from rollbook.server.play.play_now import PlayNow
from rollbook.server.play.pool_seats import PoolSeats
from rollbook.server.play.quotas import Quotas
from rollbook.server.refusals import Refusal
from rollbook.server.rpc.location import Asked, Locator
from rollbook.server.rpc.play import Plays
from rollbook.storage.pools import Holder
from rollbook.storage.port import Hole, SharedClock
from rollbook.v1 import match_pb2 as proto
from rollbook.v1.match_pb2_grpc import MatchServiceServicer


@dataclass(frozen=True, slots=True)
class Seats:
    """Decides who may take a seat, under which name, and how many seats."""

    players: Players
    rematches: Rematches
    quotas: Quotas
    reserved: ReservedNames
    pool_seats: PoolSeats

    def name(self, caller: Subject, chosen: str) -> str:
        """The name of a caller at a table: the chosen one, else that of its token; raises NameRefused."""
        return player_name(chosen, caller.name, self.reserved) if chosen else caller.name

    @asynccontextmanager
    async def allow(self, sight: Sight, request: proto.TakeSeatRequest) -> AsyncIterator[tuple[Kept, int | None]]:
        """Refuse a caller without an invitation to the match, with too many seats, or without a claim where needed.

        Yields the seats that are kept for others, and when bots join from now on; None: that does not change.
        """
        ledger, caller = sight.ledger, sight.caller
        origin = self.players.origin(caller, sight.match_id, request.request_id, now_ms=0)
        if ledger.made_by(origin.request) is not None or sight.player in ledger.players:
            yield Kept(), None
            return
        kept = await self._check_invited(sight, request.invitation_code)
        holder = Holder(self.players.pseudonym(caller.key), is_house=caller.is_house)
        async with (
            self.quotas.seat(caller, sight.match_id),
            self.pool_seats.taking(sight.ledger, sight.metadata, holder) as bots_at_ms,
        ):
            yield kept, bots_at_ms

    @asynccontextmanager
    async def left(self, sight: Sight, player: bytes) -> AsyncIterator[int | None]:
        """Give a player's seat at a table of PlayNow back within this context; yields as `allowed` does."""
        holder = sight.metadata.holders.get(player)
        if not holder or player not in sight.ledger.players:
            yield None
            return
        async with self.pool_seats.leaving(sight.ledger, sight.metadata, holder) as bots_at_ms:
            yield bots_at_ms

    async def _check_invited(self, sight: Sight, code: str) -> Kept:
        """Refuse a caller without an invitation; returns the seats that a rematch keeps for others."""
        if await self.rematches.expects(sight.caller, sight.metadata):
            return Kept()
        if sight.ledger.opened.terms.is_private and not self.players.is_invited(sight.match_id, code):
            raise Refusal("INVITATION_WRONG", "a seat of a private match is taken with its invitation code")
        return await self.rematches.kept(sight.metadata, sight.match_id)


class MatchServicer(MatchServiceServicer):
    """Matches and commands. `layers.Refusing` turns exceptions of handlers into refusals."""

    def __init__(  # noqa: PLR0913 - a part for each kind of call
        self,
        *,
        clock: SharedClock,
        callers: Callers,
        sights: Sights,
        seats: Seats,
        opener: Opener,
        commands: Commands,
        bots: Bots,
        play_now: PlayNow,
        plays: Plays,
        plays_held: Held,
        lists: Lists,
        players: Players,
        heads: Heads,
        locator: Locator,
        acted: Acted,
    ) -> None:
        """Serve these matches; `acted` is called with every act of an operator."""
        self._clock = clock
        self._callers = callers
        self._sights = sights
        self._seats = seats
        self._opener = opener
        self._commands = commands
        self._bots = bots
        self._play_now = play_now
        self._plays = plays
        self._plays_held = plays_held
        self._lists = lists
        self._players = players
        self._heads = heads
        self._locator = locator
        self._acted = acted

    async def ListGames(  # noqa: N802 - named by the contract
        self, request: proto.ListGamesRequest, context: Context
    ) -> proto.ListGamesResponse:
        """List the games that can be played."""
        del request
        self._callers.anybody(context)
        return games()

    async def OpenMatch(  # noqa: N802 - named by the contract
        self, request: proto.OpenMatchRequest, context: Context
    ) -> proto.OpenMatchResponse:
        """Open a match."""
        caller = self._callers.of(context, OPEN_POINTS)
        answer = await self._opener.open(caller, request)
        opened = answer.ledger.opened
        code = self._players.invitation_code(opened.match_id) if opened.terms.is_private else ""
        # Event 1 has no seated players, and its hidden part is never revealed.
        made = made_message(answer.made, Watcher.PUBLIC, self._heads.of(answer.ledger, answer.leads_to))
        return proto.OpenMatchResponse(made=made, match_id=opened.match_id, invitation_code=code)

    async def PlayNow(  # noqa: N802 - named by the contract
        self, request: proto.PlayNowRequest, context: Context
    ) -> proto.PlayNowResponse:
        """Find a table, or open one."""
        caller = self._callers.of(context, OPEN_POINTS)
        return await self._play_now.find(caller, request, self._callers.limited_address(caller, context))

    async def TakeSeat(  # noqa: N802 - named by the contract
        self, request: proto.TakeSeatRequest, context: Context
    ) -> proto.TakeSeatResponse:
        """Take a seat."""
        caller = self._callers.of(context, OPEN_POINTS)
        require(caller, Role.PLAYER)
        code = request.invitation_code
        async with self._locate_refusals(caller, request, code):
            sight = await self._sights.now(caller, request.match_id, code, request.request_id)
            name = self._seats.name(caller, request.name)
            async with self._seats.allow(sight, request) as (kept, bots_at_ms):
                answer = await self._commands.take_seat(sight, request, name, kept, bots_at_ms)
            seat, closed = seat_taken(answer)
            return proto.TakeSeatResponse(made=self._made_message(sight, answer), seat=seat, closed_seats=closed)

    async def Ready(  # noqa: N802 - named by the contract
        self, request: proto.ReadyRequest, context: Context
    ) -> proto.ReadyResponse:
        """Report ready."""
        caller = self._callers.of(context, LIFE_POINTS)
        async with self._locate_refusals(caller, request):
            sight = await self._sights.now(caller, request.match_id, request_id=request.request_id)
            return proto.ReadyResponse(made=self._made_message(sight, await self._commands.ready(sight, request)))

    async def LeaveSeat(  # noqa: N802 - named by the contract
        self, request: proto.LeaveSeatRequest, context: Context
    ) -> proto.LeaveSeatResponse:
        """Leave a seat."""
        caller = self._callers.of(context, LIFE_POINTS)
        async with self._locate_refusals(caller, request):
            sight = await self._sights.now(caller, request.match_id, request_id=request.request_id)
            async with self._seats.left(sight, sight.player) as bots_at_ms:
                answer = await self._commands.leave_seat(sight, request, bots_at_ms)
            return proto.LeaveSeatResponse(made=self._made_message(sight, answer))

    async def AddBot(  # noqa: N802 - named by the contract
        self, request: proto.AddBotRequest, context: Context
    ) -> proto.AddBotResponse:
        """Seat a bot of the house."""
        caller = self._callers.of(context, OPEN_POINTS)
        require(caller, Role.PLAYER)
        sight = await self._sights.now(caller, request.match_id, request_id=request.request_id)
        async with self._locate_refusals(caller, request):
            answer = await self._bots.add(sight, request)
            seat, closed = seat_taken(answer)
            return proto.AddBotResponse(made=self._made_message(sight, answer), seat=seat, closed_seats=closed)

    async def DeclineRematch(  # noqa: N802 - named by the contract
        self, request: proto.DeclineRematchRequest, context: Context
    ) -> proto.DeclineRematchResponse:
        """Decline a rematch that asks the caller."""
        caller = self._callers.of(context, LIFE_POINTS)
        check_request_id(request.request_id)
        sight = await self._sights.now(caller, request.match_id)
        await self._seats.rematches.decline(caller, sight.metadata, sight.match_id)
        return proto.DeclineRematchResponse()

    async def FreeSeat(  # noqa: N802 - named by the contract
        self, request: proto.FreeSeatRequest, context: Context
    ) -> proto.FreeSeatResponse:
        """Free a seat that another player took."""
        caller = self._callers.of(context, LIFE_POINTS)
        sight = await self._sights.now(caller, request.match_id, request_id=request.request_id)
        async with self._locate_refusals(caller, request):
            answer = await self._commands.free_seat(sight, request)
            async with self._seats.left(sight, sight.ledger.players[request.seat]):
                return proto.FreeSeatResponse(made=self._made_message(sight, answer))

    async def GetMatch(  # noqa: N802 - named by the contract
        self, request: proto.GetMatchRequest, context: Context
    ) -> proto.GetMatchResponse:
        """Return the match as the caller sees it."""
        caller = self._callers.of(context)
        sight = await self._sights.looked_at(caller, request.match_id, request.invitation_code)
        ledger, terms = sight.ledger, sight.ledger.opened.terms
        now_ms = await self._clock.now_ms() if terms.turn_seconds else 0
        if sight.perspective is Watcher.PUBLIC and ledger.match.sealed is None:
            now_ms -= terms.spectator_delay_seconds * 1_000
        answer = look_message(ledger, sight.perspective, sight.summary, self._heads.of(ledger), now_ms)
        if sight.is_opener and not ledger.match.closed:
            answer.is_opener = True
            if terms.is_private:
                answer.invitation_code = self._players.invitation_code(sight.match_id)
        return answer

    async def ListMatches(  # noqa: N802 - named by the contract
        self, request: proto.ListMatchesRequest, context: Context
    ) -> proto.ListMatchesResponse:
        """List matches."""
        return await self._lists.matches(self._callers.of(context, points_of(request)), request)

    async def Choose(  # noqa: N802 - named by the contract
        self, request: proto.ChooseRequest, context: Context
    ) -> proto.ChooseResponse:
        """Choose for the caller's seat."""
        caller = self._callers.of(context)
        async with self._locate_refusals(caller, request):
            sight = await self._sights.known_sight(caller, request.match_id)
            answer = await self._commands.choose(sight, request, position_of(request))
            return proto.ChooseResponse(made=self._made_message(sight, answer))

    async def Resign(  # noqa: N802 - named by the contract
        self, request: proto.ResignRequest, context: Context
    ) -> proto.ResignResponse:
        """Resign."""
        caller = self._callers.of(context, LIFE_POINTS)
        async with self._locate_refusals(caller, request):
            sight = await self._sights.now(caller, request.match_id, request_id=request.request_id)
            return proto.ResignResponse(made=self._made_message(sight, await self._commands.resign(sight, request)))

    async def AbortMatch(  # noqa: N802 - named by the contract
        self, request: proto.AbortMatchRequest, context: Context
    ) -> proto.AbortMatchResponse:
        """End a match without a result."""
        caller = self._callers.of(context, LIFE_POINTS)
        try:
            async with self._locate_refusals(caller, request):
                sight = await self._sights.now(caller, request.match_id, request_id=request.request_id)
                made = self._made_message(sight, await self._commands.abort(sight, request))
                if caller.role is Role.OPERATOR:
                    self._acted(caller, "aborted a match", match=request.match_id, request=request.request_id)
                return proto.AbortMatchResponse(made=made)
        except (TailLost, Hole, Misplaced):
            if caller.role is not Role.OPERATOR:
                raise
            answer = await self._commands.end_lost(caller, request)
        what = "dropped a match of which nothing is stored" if answer is None else "ended a match that is lost"
        self._acted(caller, what, match=request.match_id, request=request.request_id)
        if answer is None:
            return proto.AbortMatchResponse(is_gone=True)
        head = self._heads.of(answer.ledger, answer.leads_to)
        return proto.AbortMatchResponse(made=made_message(answer.made, Watcher.PUBLIC, head))

    async def Play(  # noqa: N802 - named by the contract
        self, request_iterator: AsyncIterator[proto.PlayRequest], context: Context
    ) -> AsyncIterator[proto.PlayResponse]:
        """Make several choices in one match on one stream."""
        caller = self._callers.of(context)
        with self._plays_held.by(caller.key):
            has_expired = self._callers.expiry(caller, context)
            async with aclosing(self._plays.play(caller, request_iterator, has_expired)) as answers:
                async for answer in answers:
                    yield answer

    def _made_message(self, sight: Sight, answer: Answer) -> proto.EventsMade:
        head = self._heads.of(answer.ledger, answer.leads_to)
        return made_message(answer.made, sight.perspective_on(answer.ledger), head)

    @asynccontextmanager
    async def _locate_refusals(self, caller: Subject, request: Placed, code: str = "") -> AsyncIterator[None]:
        """Add the match's position to refusals raised within the context."""
        try:
            yield
        except Exception as error:
            asked = Asked(caller, request.match_id, request.position, code, request.request_id)
            raise await self._locator.locate(asked, error) from error
