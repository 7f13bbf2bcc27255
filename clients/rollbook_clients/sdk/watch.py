"""Watches a match to its end, across lost connections.

Every new stream continues after the last event received, and every event is checked to follow from the one before. So
the caller gets one sequence of events without gaps and duplicates. Regular ends of a stream are handled here.
"""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing

from rollbook.match.chain import Position, genesis
from rollbook.v1.feed_pb2 import (
    END_REASON_MATCH_OVER,
    END_REASON_PERSPECTIVE_CHANGED,
    END_REASON_TOKEN_EXPIRED,
    EndReason,
    MatchFrame,
    WatchMatchRequest,
)
from rollbook.v1.table_pb2 import Perspective
from rollbook_clients.sdk.connection import Lost
from rollbook_clients.sdk.frames import (
    Away,
    Back,
    Beat,
    CaughtUp,
    Confirmed,
    Ended,
    Events,
    FellBehind,
    Frame,
    Rematch,
    Revealed,
    read_position,
)
from rollbook_clients.sdk.guests import Caller, bearer
from rollbook_clients.sdk.legal import Legal
from rollbook_clients.sdk.refusals import PositionUnknown, Refused, RollbookError, Unauthenticated
from rollbook_clients.sdk.witness import Witness


class Watch:
    """One watch of a match: its position, and what it must check after a reconnection."""

    def __init__(  # noqa: PLR0913 - the parameters of a watch
        self,
        caller: Caller,
        witness: Witness,
        after: Position | None = None,
        *,
        public_only: bool = False,
        invitation_code: str = "",
        views: bool = True,
        linger_seconds: int = 0,
        each_event: bool = False,
    ) -> None:
        """Start after a position; without one, at the start of the match.

        A player's watch goes on for `linger_seconds` after the end, and yields Rematch. With `each_event`, Events has
        one event, unless the watch is far behind.
        """
        self._linger_seconds = linger_seconds
        self._each_event = each_event
        self._caller = caller
        self._witness = witness
        self._position = after or Position(0, genesis(witness.match_id))
        self._public_only = public_only
        self._invitation_code = invitation_code
        self._views = views
        self._attempts = caller.connection.attempts()
        self._perspective: Perspective | None = None
        """The perspective that the service has confirmed; None before the first confirmation."""
        self._token = ""
        """The token of the current stream."""
        self._vouched_for = 0
        """The sequence of the last signed head when the stream began."""
        self._away_since: float | None = None

    async def frames(self) -> AsyncGenerator[Frame, None]:
        """Yield all frames, to the end of the match."""
        while True:
            try:
                async with aclosing(self._stream()) as frames:
                    async for frame in frames:
                        yield frame
                        if isinstance(frame, Ended):
                            return
            except Lost as lost:
                if self._away_since is None and not lost.in_order:
                    self._away_since = time.monotonic()
                    yield Away(str(lost))
                await asyncio.sleep(max(lost.pause, self._attempts.pause()))

    async def _stream(self) -> AsyncGenerator[Frame, None]:
        """Yield the frames of one stream. Raises Lost if the stream is to be resumed, else the error that ended it."""
        connection = self._caller.connection
        self._token = self._caller.token
        stream = connection.stream(lambda line: line.feeds.WatchMatch, self._request(), bearer(self._token))
        try:
            async with aclosing(stream) as messages:
                async for message in messages:
                    if message.WhichOneof("frame") == "ended" and message.ended.reason != END_REASON_MATCH_OVER:
                        raise await self._make_up_for(message.ended.reason)
                    for frame in await self._read(message):
                        yield frame
        except Refused as refused:
            raise await self._convert_refusal(refused) from None
        raise Lost("the stream ended without a last word")

    def _request(self) -> WatchMatchRequest:
        self._vouched_for = self._witness.head.sequence if self._witness.head is not None else 0
        request = WatchMatchRequest(
            match_id=self._witness.match_id,
            public_only=self._public_only,
            invitation_code=self._invitation_code,
            without_views=not self._views,
            linger_seconds=self._linger_seconds,
            each_event=self._each_event,
        )
        if self._position.sequence:
            request.position.CopyFrom(self._witness.message(self._position))
        return request

    async def _read(self, message: MatchFrame) -> list[Frame]:
        """Check a message and convert it into frames."""
        match message.WhichOneof("frame"):
            case "confirmed":
                return await self._confirm(message.confirmed)
            case "events":
                frames: list[Frame] = [await self._events(message.events)]
            case "caught_up":
                self._check_reached()
                frames = [CaughtUp(self._position)]
            case "fell_behind":
                frames = [FellBehind(self._position)]
            case "heartbeat":
                beat = message.heartbeat
                clocks = beat.clocks if beat.HasField("clocks") else None
                frames = [Beat(await self._witness.check(beat.head), clocks, tuple(beat.here))]
            case "revealed":
                frames = [Revealed({each.sequence: each.hidden for each in message.revealed.outcomes})]
            case "rematch":
                frames = [Rematch(message.rematch)]
            case "ended":
                frames = [Ended(self._position)]
            case _:
                # A newer service may send new kinds of frames; the contract allows clients to ignore them.
                return []
        self._attempts.reset()
        return frames

    async def _confirm(self, confirmed: MatchFrame.Confirmed) -> list[Frame]:
        frames: list[Frame] = []
        if read_position(confirmed.position) != self._position:
            raise self._witness.broken_error("the service confirmed another position than the one asked for")
        if confirmed.HasField("head"):
            await self._witness.check(confirmed.head)
        if self._away_since is not None:
            frames.append(Back(time.monotonic() - self._away_since))
            self._away_since = None
        if confirmed.perspective != self._perspective:
            self._perspective = confirmed.perspective
            frames.append(Confirmed(confirmed.perspective, self._position))
        return frames

    def _check_reached(self) -> None:
        """Raise LogLost if the log ends before a head that was signed when this stream began."""
        if self._position.sequence < self._vouched_for and not self._witness.spectator_delay_seconds:
            raise self._witness.lost_error(
                f"the log ends at event {self._position.sequence}, before a head that was signed"
            )

    async def _events(self, told: MatchFrame.Events) -> Events:
        events = self._witness.follow(told.events, self._position)
        if not events:
            raise self._witness.broken_error("a frame of events has none", told.SerializeToString())
        head = await self._witness.check(told.head) if told.HasField("head") else None
        self._position = events[-1].position
        legal = Legal(told.legal) if told.HasField("legal") else None
        clocks = told.clocks if told.HasField("clocks") else None
        return Events(events, told.view, legal, self._position, head, clocks)

    async def _make_up_for(self, reason: EndReason.ValueType) -> Lost:
        """React to a regular end of the stream; returns Lost, after which the watch resumes."""
        if reason == END_REASON_TOKEN_EXPIRED:
            return await self._caller.resume(self._token)
        if reason != END_REASON_PERSPECTIVE_CHANGED:
            self._caller.connection.renew()
        return Lost(EndReason.Name(reason), in_order=True)

    async def _convert_refusal(self, refused: Refused) -> RollbookError | Lost:
        """Convert a refusal of the stream: Lost if the watch can resume, else the error to raise."""
        resumed = self._perspective is not None
        if isinstance(refused, Unauthenticated):
            return await self._caller.resume(self._token, refused)
        if resumed and refused.reason == "TOO_MANY_WATCHES":
            # The server has not yet noticed that the lost connections are gone.
            return Lost(str(refused))
        if resumed and isinstance(refused, PositionUnknown):
            return self._witness.lost_error(f"the service does not have what it has shown: {refused}")
        return self._witness.convert_refusal(refused)
