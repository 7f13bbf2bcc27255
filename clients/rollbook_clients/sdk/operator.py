"""What an operator asks of a service: who is kept out, how it fares, and the end of matches. It takes such a token.

from rollbook_clients.sdk import connect
from rollbook_clients.sdk.operator import Operator

async with connect("localhost:50051", token=token) as table:
    operator = Operator(table)
    ban = await operator.ban(BanTarget(address="192.0.2.7"), seconds=3_600)
    print((await operator.state()).store_is_up)
    await operator.lift(ban.ban_id)
"""

from __future__ import annotations

from uuid import uuid4

from rollbook.v1.admin_pb2 import (
    Ban,
    BanRequest,
    BanTarget,
    GetStateRequest,
    GetStateResponse,
    LiftBanRequest,
    ListBansRequest,
    ListBansResponse,
)
from rollbook.v1.match_pb2 import (
    AbortMatchRequest,
    AbortMatchResponse,
    GetMatchRequest,
    GetMatchResponse,
    ListMatchesRequest,
    ListMatchesResponse,
)
from rollbook_clients.sdk.table import Table


class Operator:
    """A service, as its operator sees it."""

    def __init__(self, table: Table) -> None:
        """Ask at this table, whose token has to be an operator's."""
        self._caller = table.caller

    async def matches(self, request: ListMatchesRequest) -> ListMatchesResponse:
        """A page of matches."""
        return await self._caller.call(lambda line: line.matches.ListMatches, request)

    async def match(self, match_id: str) -> GetMatchResponse:
        """A match as it is now."""
        return await self._caller.call(lambda line: line.matches.GetMatch, GetMatchRequest(match_id=match_id))

    async def abort(self, match_id: str, request_id: str = "") -> AbortMatchResponse:
        """End a match without a result; of one that is lost, what is left of it."""
        request = AbortMatchRequest(match_id=match_id, request_id=request_id or str(uuid4()))
        return await self._caller.call(lambda line: line.matches.AbortMatch, request)

    async def ban(self, target: BanTarget, seconds: int, why: str = "") -> Ban:
        """Keep somebody out for so long."""
        request = BanRequest(target=target, seconds=seconds, why=why)
        return (await self._caller.call(lambda line: line.admin.Ban, request)).ban

    async def lift(self, ban_id: str) -> bool:
        """Let somebody in again; whether the ban was in force."""
        return (await self._caller.call(lambda line: line.admin.LiftBan, LiftBanRequest(ban_id=ban_id))).lifted

    async def bans(self, page_size: int = 0, page_token: str = "") -> ListBansResponse:
        """A page of the bans in force."""
        request = ListBansRequest(page_size=page_size, page_token=page_token)
        return await self._caller.call(lambda line: line.admin.ListBans, request)

    async def state(self) -> GetStateResponse:
        """How the service fares."""
        return await self._caller.call(lambda line: line.admin.GetState, GetStateRequest())
