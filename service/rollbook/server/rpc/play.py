"""Play: a stream on which a client has several choices in flight, each for a position that it predicts.

Choices are handled one after the other, so gRPC's flow-control window limits how many a client can have in flight.
Refusals that concern the stream itself are raised and end it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass
from typing import Final

import grpc

from rollbook.identity.refusals import TokenReason, TokenRefused
from rollbook.identity.tokens import Subject
from rollbook.match.chain import Position
from rollbook.match.commands import Declined
from rollbook.server.access.limits import take
from rollbook.server.failures import MatchUnknown
from rollbook.server.lobby.match_access import Sight, Sights, check_request_id
from rollbook.server.out.projection import Heads, made_message
from rollbook.server.play.commands import Commands, position_of
from rollbook.server.play.matches import Answer
from rollbook.server.refusals import Refusal, refusal_of
from rollbook.server.rpc.errors import play_refusal
from rollbook.server.rpc.location import Asked, Locator
from rollbook.v1 import match_pb2 as proto

LONGEST_REQUEST_ID: Final = 64
_ENDS_THE_STREAM: Final = {
    grpc.StatusCode.UNAUTHENTICATED,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.DATA_LOSS,
}


@dataclass(frozen=True, slots=True)
class Plays:
    """Opens streams of choices."""

    sights: Sights
    commands: Commands
    heads: Heads
    locator: Locator
    count_refusal: Callable[[str], None]

    async def play(
        self, caller: Subject, requests: AsyncIterator[proto.PlayRequest], has_expired: Callable[[], bool]
    ) -> AsyncGenerator[proto.PlayResponse, None]:
        """Answer every request in order, while the caller's token is valid and the caller is not banned."""
        stream = PlayStream(self, caller, has_expired)
        async for request in requests:
            yield await stream.answer(request)


class PlayStream:
    """The state of one stream: its match, the number of refusals sent, and the position after its last choice."""

    def __init__(self, plays: Plays, caller: Subject, has_expired: Callable[[], bool]) -> None:
        self._with = plays
        self._caller = caller
        self._has_expired = has_expired
        self._match_id = ""
        self._refusals = 0
        self._leads_to: Position | None = None
        """The position after the last choice; None before the first choice and after a refusal."""

    async def answer(self, request: proto.PlayRequest) -> proto.PlayResponse:
        """Answer one request; raises what ends the stream."""
        if self._has_expired():
            raise TokenRefused(TokenReason.EXPIRED, "the token has expired")
        if not self._match_id:
            await self._begin(request)
        request_id = request.request_id[:LONGEST_REQUEST_ID]
        try:
            sight, answer = await self._choose(request)
        except Exception as error:  # noqa: BLE001 - `_refusal` raises anything else again
            refusal = await self._refusal(error, request)
            self._leads_to = None
            self._with.count_refusal(refusal.reason)
            if refusal.reason != "SKIPPED":
                self._refusals += 1
            return proto.PlayResponse(request_id=request_id, refused=play_refusal(refusal))
        self._leads_to = answer.leads_to
        head = None if request.outcomes_only else self._with.heads.of(answer.ledger, answer.leads_to)
        made = made_message(answer.made, sight.perspective_on(answer.ledger), head)
        return proto.PlayResponse(request_id=request_id, made=made)

    async def _begin(self, request: proto.PlayRequest) -> None:
        if not request.match_id:
            raise Refusal("OTHER_MATCH_IN_PLAY", "the first request of a stream names its match")
        try:
            await self._with.sights.now(self._caller, request.match_id)
        except MatchUnknown as error:
            raise await self._with.locator.locate(
                Asked(self._caller, request.match_id, request.position), error
            ) from error
        self._match_id = request.match_id

    async def _choose(self, request: proto.PlayRequest) -> tuple[Sight, Answer]:
        if request.match_id not in {"", self._match_id}:
            raise Refusal("OTHER_MATCH_IN_PLAY", "a stream is for one match")
        if request.refusals_seen > self._refusals:
            facts = {"refusals": self._refusals}
            raise Refusal("REFUSALS_SEEN_WRONG", "more refusals were seen than this stream has sent", facts)
        if request.refusals_seen < self._refusals:
            raise Refusal("SKIPPED", "a choice before this one was refused, so this one was not looked at")
        check_request_id(request.request_id)
        take()
        sight = await self._with.sights.known_sight(self._caller, self._match_id)
        return sight, await self._with.commands.choose(sight, request, self._position(request))

    def _position(self, request: proto.PlayRequest) -> Position | Declined:
        """The position to answer; the link may be omitted if the position follows from the previous choice."""
        leads_to = self._leads_to
        if leads_to is None or not request.HasField("position") or request.position.link:
            return position_of(request)
        foreseen = request.position.sequence == leads_to.sequence
        return leads_to if foreseen else Position(request.position.sequence, b"")

    async def _refusal(self, error: Exception, request: proto.PlayRequest) -> Refusal:
        asked = Asked(self._caller, self._match_id, request.position, request_id=request.request_id)
        error = await self._with.locator.locate(asked, error)
        refusal = refusal_of(error)
        if refusal is None or refusal.code in _ENDS_THE_STREAM:
            raise error
        return refusal
