"""Offers of a rematch, as the players of a match that is over receive and answer them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from rollbook.v1.feed_pb2 import MatchFrame
from rollbook.v1.match_pb2 import MATCH_STATE_OPEN, DeclineRematchRequest, MatchState
from rollbook_clients.sdk.frames import Confirmed, Rematch
from rollbook_clients.sdk.guests import Caller
from rollbook_clients.sdk.refusals import Refused
from rollbook_clients.sdk.watch import Watch

if TYPE_CHECKING:
    from rollbook_clients.sdk.match import Match

LINGER_SECONDS: Final = 600
"""How long a watch goes on after the end of its match, for news of the rematch."""

Answer = MatchFrame.Rematch.Answer


@dataclass(frozen=True, slots=True)
class Offer:
    """A rematch that a player has opened, and what the others have answered so far."""

    match: Match
    """The rematch."""
    answers: tuple[Answer.ValueType, ...]
    """By seat of the match before; `ANSWER_ASKED` means that the player has not answered yet."""
    own: int
    """This client's seat in the match before."""
    kept_until_ms: int
    """Until when seats are kept for those who are asked, in Unix milliseconds by the store's clock."""
    state: MatchState.ValueType
    """The state of the rematch."""
    caller: Caller

    @property
    def asks_you(self) -> bool:
        """Whether the rematch waits for this client's answer."""
        return self.state == MATCH_STATE_OPEN and self.answers[self.own] == MatchFrame.Rematch.ANSWER_ASKED

    async def accept(self, name: str | None = None) -> Match:
        """Take a seat in the rematch, and return it; has no further effect if this client sits there."""
        try:
            await self.match.join(name=name)
        except Refused as refused:
            if refused.reason != "ALREADY_SEATED":
                raise
        return self.match

    async def decline(self) -> None:
        """Decline: the other players learn it, and the seat is free for others."""
        request = DeclineRematchRequest(request_id=str(uuid4()), match_id=self.match.id)
        await self.caller.call(lambda line: line.matches.DeclineRematch, request)


async def offers(caller: Caller, watch: Watch, another: Callable[[str, str], Match]) -> AsyncGenerator[Offer, None]:
    """Yield the rematch that a lingering watch finds, at once and whenever it changes; `another` creates a match."""
    own, found = -1, dict[str, "Match"]()
    async with aclosing(watch.frames()) as frames:
        async for frame in frames:
            if isinstance(frame, Confirmed) and frame.perspective.HasField("seat"):
                own = frame.perspective.seat
            if isinstance(frame, Rematch):
                said = frame.message
                match = found.get(said.match_id) or found.setdefault(said.match_id, another(said.match_id, ""))
                yield Offer(match, tuple(said.answers), own, said.kept_until_ms, said.state, caller)
