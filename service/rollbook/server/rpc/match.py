"""The MatchService: every call finds out who calls and what they may see; a refusal says where the match stands."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

from rollbook.identity.names import player_name
from rollbook.identity.tokens import Role
from rollbook.server import listing
from rollbook.server.access import require
from rollbook.server.out.answers import located, match_message
from rollbook.server.play import commands, opening
from rollbook.server.play.stream import play
from rollbook.server.rpc.errors import Context, Refusal
from rollbook.server.service import Service, Sight, check_request_id
from rollbook.v1 import match_pb2 as proto
from rollbook.v1.match_pb2_grpc import MatchServiceServicer


class MatchService(MatchServiceServicer):
    """Matches and what is done in them. What a handler raises is for `refusing.Refusing` to tell."""

    def __init__(self, service: Service) -> None:
        """Serve these matches."""
        self._service = service

    async def ListGames(  # noqa: N802 - named by the contract
        self, request: proto.ListGamesRequest, context: Context
    ) -> proto.ListGamesResponse:
        """Say what can be played."""
        del request, context
        return listing.games()

    async def OpenMatch(  # noqa: N802 - named by the contract
        self, request: proto.OpenMatchRequest, context: Context
    ) -> proto.OpenMatchResponse:
        """Open a match."""
        return await opening.open_match(self._service, self._service.caller(context), request)

    async def TakeSeat(  # noqa: N802 - named by the contract
        self, request: proto.TakeSeatRequest, context: Context
    ) -> proto.TakeSeatResponse:
        """Sit down."""
        caller = self._service.caller(context)
        require(caller, Role.PLAYER)
        code = request.invitation_code
        sight = await self._service.now(caller, request.match_id, code, request.request_id)
        async with self._telling_where(sight, request, code):
            name = player_name(request.name) if request.name else caller.name
            await self._check_invited(sight, request)
            made, taken, closed = await commands.take_seat(self._service, sight, request, name)
            return proto.TakeSeatResponse(made=made, seat=taken.seat, closed_seats=closed)

    async def Ready(  # noqa: N802 - named by the contract
        self, request: proto.ReadyRequest, context: Context
    ) -> proto.ReadyResponse:
        """Get ready."""
        caller = self._service.caller(context)
        sight = await self._service.now(caller, request.match_id, request_id=request.request_id)
        async with self._telling_where(sight, request):
            return proto.ReadyResponse(made=await commands.ready(self._service, sight, request))

    async def LeaveSeat(  # noqa: N802 - named by the contract
        self, request: proto.LeaveSeatRequest, context: Context
    ) -> proto.LeaveSeatResponse:
        """Get up again."""
        caller = self._service.caller(context)
        sight = await self._service.now(caller, request.match_id, request_id=request.request_id)
        async with self._telling_where(sight, request):
            return proto.LeaveSeatResponse(made=await commands.leave_seat(self._service, sight, request))

    async def GetMatch(  # noqa: N802 - named by the contract
        self, request: proto.GetMatchRequest, context: Context
    ) -> proto.GetMatchResponse:
        """Look at a match."""
        caller = self._service.caller(context)
        sight = await self._service.sight(caller, request.match_id, request.invitation_code)
        return await match_message(self._service, sight)

    async def ListMatches(  # noqa: N802 - named by the contract
        self, request: proto.ListMatchesRequest, context: Context
    ) -> proto.ListMatchesResponse:
        """List matches."""
        return await listing.matches(self._service, self._service.caller(context), request)

    async def Choose(  # noqa: N802 - named by the contract
        self, request: proto.ChooseRequest, context: Context
    ) -> proto.ChooseResponse:
        """Choose for the own seat."""
        caller = self._service.caller(context)
        sight = await self._service.known(caller, request.match_id, request.request_id)
        async with self._telling_where(sight, request):
            position = commands.position_of(request)
            made, _ = await commands.choose(self._service, sight, request, position)
            return proto.ChooseResponse(made=made)

    async def Resign(  # noqa: N802 - named by the contract
        self, request: proto.ResignRequest, context: Context
    ) -> proto.ResignResponse:
        """Give up."""
        caller = self._service.caller(context)
        sight = await self._service.now(caller, request.match_id, request_id=request.request_id)
        async with self._telling_where(sight, request):
            return proto.ResignResponse(made=await commands.resign(self._service, sight, request))

    async def AbortMatch(  # noqa: N802 - named by the contract
        self, request: proto.AbortMatchRequest, context: Context
    ) -> proto.AbortMatchResponse:
        """End a match without a result."""
        caller = self._service.caller(context)
        require(caller, Role.OPERATOR)
        sight = await self._service.now(caller, request.match_id, request_id=request.request_id)
        async with self._telling_where(sight, request):
            return proto.AbortMatchResponse(made=await commands.abort(self._service, sight, request))

    async def Play(  # noqa: N802 - named by the contract
        self, request_iterator: AsyncIterator[proto.PlayRequest], context: Context
    ) -> AsyncIterator[proto.PlayResponse]:
        """Choose again and again in one match."""
        caller = self._service.caller(context)
        self._service.plays.take(caller.key)
        try:
            async with aclosing(play(self._service, caller, request_iterator)) as answers:
                async for answer in answers:
                    yield answer
        finally:
            self._service.plays.give_back(caller.key)

    @asynccontextmanager
    async def _telling_where(self, sight: Sight, request: Any, invitation_code: str = "") -> AsyncIterator[None]:
        """A refusal gets to know where the match of a command stands."""
        try:
            check_request_id(request.request_id)
            yield
        except Exception as error:
            raise await located(
                self._service,
                sight.caller,
                request.match_id,
                error,
                request.position,
                invitation_code,
                request.request_id,
            ) from error

    async def _check_invited(self, sight: Sight, request: proto.TakeSeatRequest) -> None:
        """Refuse whoever may see the match without being invited to it, and more seats than one subject may hold."""
        service, match_id, caller, player = self._service, request.match_id, sight.caller, sight.player
        repeats = service.command(caller, player, request.request_id).request in sight.ledger.requests
        if repeats or player in sight.ledger.players:
            return
        if sight.ledger.opened.terms.is_private and not service.is_invited(match_id, request.invitation_code):
            raise Refusal("INVITATION_WRONG", "a seat of a private match is taken with its invitation code")
        limit = service.limits.seats_per_subject
        listed = await service.lobby.listed()
        held = sum(service.player(caller, match.summary.match_id) in match.players for match in listed)
        if held >= limit:
            raise Refusal("TOO_MANY_SEATS", "this subject sits in too many matches that are not over", {"limit": limit})
