"""Calls for operators: bans, the state of the service, and aborting matches. They need an operator's token.

from rollbook_clients.sdk import connect
from rollbook_clients.sdk.operator import Operator

async with connect("localhost:50051", token=token) as table:
    operator = Operator(table)
    ban = await operator.ban(BanTarget(address="192.0.2.7"), seconds=3_600)
    print((await operator.state()).store_is_up)
    await operator.lift(ban.ban_id)
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

from rollbook.v1.admin_pb2 import (
    AcceptLossRequest,
    Ban,
    BanRequest,
    BanTarget,
    GetStateRequest,
    GetStateResponse,
    LiftBanRequest,
    ListBansRequest,
    ListBansResponse,
    ListOpenedRequest,
    RevokeTokenRequest,
)
from rollbook.v1.match_pb2 import (
    AbortMatchRequest,
    AbortMatchResponse,
    GetMatchRequest,
    GetMatchResponse,
    ListMatchesRequest,
    ListMatchesResponse,
    MatchSummary,
)
from rollbook_clients.sdk.table import Table


class Operator:
    """A service with the calls for its operator."""

    def __init__(self, table: Table) -> None:
        """`table` must have an operator's token."""
        self._caller = table.caller

    async def matches(self, request: ListMatchesRequest) -> ListMatchesResponse:
        """A page of the list of matches."""
        return await self._caller.call(lambda line: line.matches.ListMatches, request)

    async def match(self, match_id: str) -> GetMatchResponse:
        """The current state of a match."""
        return await self._caller.call(lambda line: line.matches.GetMatch, GetMatchRequest(match_id=match_id))

    async def abort(self, match_id: str, request_id: str = "") -> AbortMatchResponse:
        """Abort a match; if its log is lost, remove the rest of it."""
        request = AbortMatchRequest(match_id=match_id, request_id=request_id or str(uuid4()))
        return await self._caller.call(lambda line: line.matches.AbortMatch, request)

    async def opened_by(self, target: BanTarget) -> Sequence[MatchSummary]:
        """The matches, not over, that a subject or an address has opened."""
        request = ListOpenedRequest(target=target)
        return (await self._caller.call(lambda line: line.admin.ListOpened, request)).matches

    async def ban(self, target: BanTarget, seconds: int, why: str = "") -> Ban:
        """Ban a subject, an address or a player for this number of seconds.

        The open tables of a banned subject are withdrawn, and its seats resigned.
        """
        request = BanRequest(target=target, seconds=seconds, why=why)
        return (await self._caller.call(lambda line: line.admin.Ban, request)).ban

    async def lift(self, ban_id: str) -> bool:
        """Lift a ban; returns whether it was in force."""
        return (await self._caller.call(lambda line: line.admin.LiftBan, LiftBanRequest(ban_id=ban_id))).lifted

    async def bans(self, page_size: int = 0, page_token: str = "") -> ListBansResponse:
        """A page of the bans that are in force."""
        request = ListBansRequest(page_size=page_size, page_token=page_token)
        return await self._caller.call(lambda line: line.admin.ListBans, request)

    async def revoke_token(self, jti: str, issuer: str = "") -> bool:
        """Revoke the token with this id; returns whether it was not revoked before."""
        request = RevokeTokenRequest(jti=jti, issuer=issuer)
        return (await self._caller.call(lambda line: line.admin.RevokeToken, request)).is_new

    async def accept_loss(self) -> Sequence[str] | None:
        """Accept that the store has lost data; returns the matches that were ended, None if nothing was lost."""
        answer = await self._caller.call(lambda line: line.admin.AcceptLoss, AcceptLossRequest())
        return tuple(answer.ended) if answer.accepted else None

    async def state(self) -> GetStateResponse:
        """The state of the service."""
        return await self._caller.call(lambda line: line.admin.GetState, GetStateRequest())
