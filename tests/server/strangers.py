"""Clients that use only the contract, and continue when the service dies."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import grpc

from rollbook.match.chain import entropy_commitment, link
from rollbook.match.codec.messages import write_choice
from rollbook.match.codec.stubs import game_in
from rollbook.match.codec.views import read_legal
from rollbook.v1 import feed_pb2, feed_pb2_grpc, identity_pb2, identity_pb2_grpc, match_pb2, match_pb2_grpc
from rollbook.v1.events_pb2 import Event
from rollbook.v1.feed_pb2 import MatchFrame
from rollbook.v1.games_pb2 import Choice, LegalChoices, Options
from rollbook.v1.table_pb2 import Position

Answer = TypeVar("Answer")

AGAIN = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED}
CALL_SECONDS = 10.0
PAUSE_SECONDS = 0.05


class Line:
    """A connection that is restored whenever it breaks."""

    def __init__(self, address: str) -> None:
        """Call this address."""
        self.channel = grpc.aio.insecure_channel(
            address,
            options=[
                ("grpc.use_local_subchannel_pool", 1),
                ("grpc.initial_reconnect_backoff_ms", 50),
                ("grpc.max_reconnect_backoff_ms", 200),
            ],
        )
        channel: Any = self.channel
        self.matches: Any = match_pb2_grpc.MatchServiceStub(channel)
        self.feeds: Any = feed_pb2_grpc.FeedServiceStub(channel)
        self.identity: Any = identity_pb2_grpc.IdentityServiceStub(channel)

    async def settled(self, call: Callable[[], Awaitable[Answer]]) -> Answer:
        """Call until there is an answer."""
        while True:
            try:
                return await call()
            except grpc.aio.AioRpcError as error:
                if error.code() not in AGAIN:
                    raise
                await asyncio.sleep(PAUSE_SECONDS)


@dataclass
class Stranger:
    """A guest with a connection, and all events delivered or acknowledged to it, by sequence."""

    line: Line
    name: str
    rng: random.Random
    entropy: bytes = b""
    token: str = ""
    told: dict[int, bytes] = field(default_factory=dict)
    acknowledged: dict[int, bytes] = field(default_factory=dict)
    ended: MatchFrame.Ended | None = None
    revealed: dict[int, Any] = field(default_factory=dict)
    seat: int = -1
    broken: int = 0

    async def sign_in(self) -> None:
        """Get a token."""
        request = identity_pb2.SignInRequest(name=self.name)
        answer = await self.line.settled(lambda: self.line.identity.SignIn(request, timeout=CALL_SECONDS))
        self.token = answer.token

    @property
    def metadata(self) -> list[tuple[str, str]]:
        """The call metadata with the token."""
        return [("authorization", f"Bearer {self.token}")]

    async def call(self, method: str, request: Any) -> Any:
        """Call with the same request id until there is an answer; note the acknowledged events."""
        stub = getattr(self.line.matches, method)
        answer = await self.line.settled(lambda: stub(request, metadata=self.metadata, timeout=CALL_SECONDS))
        for event in answer.made.events:
            self.note(self.acknowledged, event.event)
        return answer

    def note(self, where: dict[int, bytes], data: bytes) -> None:
        """Note an event; an earlier one of the same sequence must be equal."""
        number = Event.FromString(data).sequence
        assert where.setdefault(number, data) == data

    async def open(self, seats: int, **game: Any) -> str:
        """Open a match and return its id."""
        request = match_pb2.OpenMatchRequest(request_id=self.request_id(), seats=seats, options=Options(**game))
        return str((await self.call("OpenMatch", request)).match_id)

    async def sit(self, match_id: str) -> None:
        """Take the first free seat."""
        commitment = entropy_commitment(self.entropy) if self.entropy else b""
        request = match_pb2.TakeSeatRequest(
            request_id=self.request_id(), match_id=match_id, entropy_commitment=commitment, name=self.name
        )
        self.seat = (await self.call("TakeSeat", request)).seat

    async def ready(self, match_id: str, closing_link: bytes) -> None:
        """Reveal the entropy."""
        request = match_pb2.ReadyRequest(
            request_id=self.request_id(), match_id=match_id, closing_link=closing_link, entropy=self.entropy
        )
        await self.call("Ready", request)

    def request_id(self) -> str:
        """A new request id."""
        return f"request-{self.rng.randbytes(12).hex()}"

    async def watch(self, match_id: str, *, play: bool) -> None:
        """Follow the match to its end, reconnecting as needed; with `play` choose whenever it is this seat's turn."""
        position: Position | None = None
        while self.ended is None:
            request = feed_pb2.WatchMatchRequest(match_id=match_id, position=position)
            try:
                async for frame in self.line.feeds.WatchMatch(request, metadata=self.metadata):
                    position = self.take(frame, position)
                    if play and frame.WhichOneof("frame") == "events" and frame.events.HasField("legal"):
                        assert position is not None
                        await self.choose(match_id, position, frame.events.legal)
            except grpc.aio.AioRpcError as error:
                if error.code() not in AGAIN:
                    raise
                self.broken += 1
                await asyncio.sleep(PAUSE_SECONDS)

    def take(self, frame: MatchFrame, position: Position | None) -> Position | None:
        """Note the events of a frame, check that they follow each other, and return the position after them."""
        kind = frame.WhichOneof("frame")
        if kind == "confirmed":
            return position or frame.confirmed.position
        if kind == "events":
            assert position is not None
            for event in frame.events.events:
                read = Event.FromString(event.event)
                assert (position.sequence + 1, position.link) == (read.sequence, read.previous)
                assert read.sequence not in self.told
                self.told[read.sequence] = event.event
                position = Position(sequence=read.sequence, link=link(event.event))
        elif kind == "revealed":
            self.revealed = {outcome.sequence: outcome.hidden for outcome in frame.revealed.outcomes}
        elif kind == "ended" and frame.ended.reason == feed_pb2.END_REASON_MATCH_OVER:
            self.ended = frame.ended
        return position

    async def choose(self, match_id: str, position: Position, legal: LegalChoices) -> None:
        """Make a random legal choice at this position."""
        choice = any_choice(legal, self.rng)
        request = match_pb2.ChooseRequest(
            request_id=self.request_id(), match_id=match_id, position=position, choice=choice
        )
        await self.call("Choose", request)


def any_choice(legal: LegalChoices, rng: random.Random) -> Choice:
    """A random legal choice, from the message alone."""
    game = game_in(legal)
    assert game is not None
    return write_choice(game, read_legal(game, legal).sample(rng.randrange))
