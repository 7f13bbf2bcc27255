"""A world with feeds: matches and feeds on one server, and watchers that record their frames."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import grpc

from rollbook.identity.tokens import Role
from rollbook.match.chain import genesis, link
from rollbook.server.app import Parts
from rollbook.server.rpc.feed import FeedServicer
from rollbook.v1 import feed_pb2, feed_pb2_grpc
from rollbook.v1.events_pb2 import Event
from rollbook.v1.feed_pb2 import LobbyFrame, MatchFrame
from rollbook.v1.table_pb2 import Position
from tests.server.rpc.talking import PATIENCE_SECONDS, Person, World


class Theatre(World):
    """A world with feeds."""

    feeds: FeedServicer
    servicer: type[FeedServicer] = FeedServicer

    def serve(self, service: Parts, server: grpc.aio.Server) -> None:
        """Serve feeds as well."""
        super().serve(service, server)
        self.feeds = service.feed_servicer(self.servicer)
        feed_pb2_grpc.add_FeedServiceServicer_to_server(self.feeds, server)

    async def close(self) -> None:
        """Stop following the log."""
        await super().close()
        await self.feeds.close()

    def watch(self, person: Person, match_id: str, **fields: Any) -> Watch:
        """Begin to watch a match."""
        stub: Any = feed_pb2_grpc.FeedServiceStub(self.channel)
        request = feed_pb2.WatchMatchRequest(match_id=match_id, **fields)
        return Watch(stub.WatchMatch(request, metadata=person.metadata))

    def lobby(self, person: Person, game: str = "", *, mine: bool = False) -> Watch:
        """Begin to watch the lobby."""
        stub: Any = feed_pb2_grpc.FeedServiceStub(self.channel)
        return Watch(stub.WatchLobby(feed_pb2.WatchLobbyRequest(game=game, mine=mine), metadata=person.metadata))

    async def stored(self, match_id: str) -> list[bytes]:
        """The stored events of a match."""
        return [entry.event for entry in await self.log.read(match_id, 0, 100_000)]

    async def position(self, match_id: str, sequence: int) -> Position:
        """The position of this sequence in a match's log."""
        if not sequence:
            return Position(sequence=0, link=genesis(match_id))
        return Position(sequence=sequence, link=link((await self.stored(match_id))[sequence - 1]))

    async def abort(self, match_id: str) -> None:
        """Abort a match as an operator."""
        await self.person("operator", Role.OPERATOR).call("AbortMatch", match_id=match_id)


class Watch:
    """A running feed. Heartbeats arrive at any time, so they are kept apart from other frames."""

    def __init__(self, call: Any) -> None:
        """Read from this call."""
        self.call = call
        self.frames: list[Any] = []
        self.beats: list[Any] = []

    async def next(self) -> MatchFrame | LobbyFrame | None:
        """The next frame that is no heartbeat, or None at the end."""
        while True:
            frame: Any = await self.call.read()
            if frame is grpc.aio.EOF:
                return None
            if kind(frame) != "heartbeat":
                self.frames.append(frame)
                return frame  # type: ignore[no-any-return]
            self.beats.append(frame.heartbeat)

    async def beat(self) -> Any:
        """The next frame, which must be a heartbeat."""
        frame = await self.call.read()
        assert "heartbeat" == kind(frame)
        return frame.heartbeat

    async def until(self, wanted: str) -> Any:
        """Read on to a frame of this kind, and return its content."""
        while (frame := await self.next()) is not None:
            if kind(frame) == wanted:
                return getattr(frame, wanted)
        raise AssertionError(f"the feed ended without {wanted}: {self.kinds}")

    async def rest(self) -> list[str]:
        """Read to the end; return the kinds of all frames."""
        while await self.next() is not None:
            pass
        assert grpc.StatusCode.OK == await self.call.code()
        return self.kinds

    @property
    def kinds(self) -> list[str]:
        """The kinds of all frames read so far."""
        return [kind(frame) for frame in self.frames]

    @property
    def told(self) -> list[bytes]:
        """All events read so far."""
        return [event.event for frame in self.frames if kind(frame) == "events" for event in frame.events.events]

    def leave(self) -> None:
        """Cancel the call."""
        self.call.cancel()


def kind(frame: Any) -> str:
    """The kind of a frame."""
    return str(frame.WhichOneof("frame"))


def numbers(events: list[bytes]) -> list[int]:
    """The sequences of these events."""
    return [Event.FromString(event).sequence for event in events]


def run(scenario: Callable[[Theatre], Awaitable[None]], **how: Any) -> None:
    """Run the scenario in a served theatre."""

    async def main() -> None:
        async with asyncio.timeout(PATIENCE_SECONDS), Theatre(**how).serving() as theatre:
            await scenario(theatre)

    asyncio.run(main())
