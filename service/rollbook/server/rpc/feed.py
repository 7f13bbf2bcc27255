"""The feeds over gRPC: frames of a match from the watcher's perspective, and changes of the lobby."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack, aclosing, nullcontext
from typing import Final

from rollbook.identity.tokens import Role
from rollbook.match.chain import Position
from rollbook.match.codec.envelope import LINK_BYTES
from rollbook.match.commands import Declined
from rollbook.match.ledger import Ledger
from rollbook.rules.game import Perspective
from rollbook.server.access.limits import LOBBY_POINTS, STREAM_POINTS, Held, turn
from rollbook.server.failures import MatchUnknown
from rollbook.server.feeds.feed import Feeds
from rollbook.server.feeds.linger import Linger
from rollbook.server.feeds.lobby_board import Board, LobbyFilter
from rollbook.server.feeds.seat_feeds import SeatFeeds
from rollbook.server.lobby.match_access import Callers, Context, Sights
from rollbook.server.lobby.rematches import Rematches
from rollbook.server.out.frames import WRITTEN_AT_ONCE, EventsFrame, FrameMessages, WrittenFrame
from rollbook.server.play.commands import position_malformed
from rollbook.server.refusals import Refusal
from rollbook.server.rpc.location import Asked, Locator
from rollbook.server.slices import Slices
from rollbook.v1 import feed_pb2_grpc
from rollbook.v1.feed_pb2 import (
    END_REASON_DRAINING,
    END_REASON_TOKEN_EXPIRED,
    LobbyFrame,
    MatchFrame,
    WatchLobbyRequest,
    WatchMatchRequest,
)
from rollbook.v1.match_pb2 import MatchSummary

BEATS: Final = 4
"""Looks at the lobby without a change after which a watcher receives a heartbeat."""

SUMMARIES_A_FRAME: Final = 200

MOST_LINGER_SECONDS: Final = 600
"""The longest time for which a watch goes on after the end of its match."""


class FeedServicer(feed_pb2_grpc.FeedServiceServicer):
    """WatchMatch and WatchLobby."""

    def __init__(  # noqa: PLR0913 - a part for each kind of feed
        self,
        *,
        callers: Callers,
        sights: Sights,
        feeds: Feeds,
        seat_feeds: SeatFeeds,
        board: Board,
        messages: FrameMessages,
        rematches: Rematches,
        watches: Held,
        locator: Locator,
        clock_ms: Callable[[], int],
    ) -> None:
        """Serve these feeds; `watches` limits how many are open at once."""
        self._callers = callers
        self._sights = sights
        self._feeds = feeds
        self._seat_feeds = seat_feeds
        self._board = board
        self._messages = messages
        self._rematches = rematches
        self._watches = watches
        self._locator = locator
        self._clock_ms = clock_ms
        self._draining = False

    @property
    def stands_still(self) -> bool:
        """Whether the loops of the feeds are stuck."""
        return self._feeds.stand_still

    async def drain(self) -> None:
        """End every feed with a final frame."""
        self._draining = True
        self._feeds.drain()
        self._board.wake()

    def wake(self) -> None:
        """Make every feed check whether its watcher still may watch."""
        self._feeds.wake()
        self._board.wake()

    async def close(self) -> None:
        """Stop following the log."""
        await self._feeds.close()
        await self._seat_feeds.close()
        await self._board.close()

    async def WatchMatch(  # type: ignore[override]  # noqa: N802 - a serialised frame is sent like a message
        self, request: WatchMatchRequest, context: Context
    ) -> AsyncIterator[MatchFrame | WrittenFrame]:
        """A match from a position to its end."""
        caller = self._callers.of(context, STREAM_POINTS)
        asked = Asked(caller, request.match_id, request.position, request.invitation_code)
        try:
            sight = await self._sights.looked_at(caller, request.match_id, request.invitation_code)
        except MatchUnknown as error:
            raise await self._locator.locate(asked, error) from error

        def perspective_of(ledger: Ledger) -> Perspective:
            return sight.perspective_on(ledger, public_only=request.public_only)

        views = not request.without_views
        seconds = min(request.linger_seconds, MOST_LINGER_SECONDS)
        is_seat = isinstance(perspective_of(sight.ledger), int)
        with (
            self._watches.by(caller.key, for_many=caller.role is Role.GATEWAY),
            self._seat_feeds.of(sight) if is_seat else nullcontext(),
        ):
            try:
                position = _start_position(request)
                expired = self._callers.expiry(caller, context)
                watch = self._feeds.watch(
                    request.match_id, position, perspective_of, expired, each_event=request.each_event
                )
                if seconds > 0:
                    linger = Linger(seconds, self._rematches.offer)
                    watch = self._feeds.linger(watch, request.match_id, expired, linger)
                async with aclosing(watch) as frames:
                    async for frame in frames:
                        if isinstance(frame, EventsFrame) and len(frame.events) > WRITTEN_AT_ONCE:
                            yield await self._messages.of_many(frame, views=views)
                        else:
                            yield self._messages.of(frame, views=views)
            except (Declined, Refusal) as error:
                raise await self._locator.locate(asked, error) from error

    async def WatchLobby(  # type: ignore[override]  # noqa: N802 - a serialised frame is sent like a message
        self, request: WatchLobbyRequest, context: Context
    ) -> AsyncIterator[LobbyFrame | WrittenFrame]:
        """The open and running matches that the caller may see, and how they change."""
        caller = self._callers.of(context, LOBBY_POINTS)
        wanted = LobbyFilter(caller, request.game, request.mine)
        with self._watches.by(caller.key, for_many=caller.role is Role.GATEWAY):
            async with AsyncExitStack() as stack:
                async with turn():
                    await stack.enter_async_context(self._board.watch())
                    looks, known = self._board.looks, await self._board.seen_by(wanted)
                    snapshot = await _snapshot(list(known.values()))
                for written in snapshot:
                    yield written
                del snapshot
                frames_of = self._lobby(wanted, self._callers.expiry(caller, context), looks, known)
                frames = await stack.enter_async_context(aclosing(frames_of))
                async for frame in frames:
                    yield frame

    async def _lobby(
        self,
        wanted: LobbyFilter,
        has_expired: Callable[[], bool],
        looks: int,
        known: dict[str, MatchSummary],
    ) -> AsyncGenerator[LobbyFrame, None]:
        """Frames for every change of the matches in `known`, which the board had after `looks` looks."""
        quiet = 0
        while True:
            if self._draining or has_expired():
                reason = END_REASON_DRAINING if self._draining else END_REASON_TOKEN_EXPIRED
                yield LobbyFrame(ended=LobbyFrame.Ended(reason=reason))
                return
            await self._board.next_look()
            changes, looks = self._board.changed_since(looks), self._board.looks
            quiet += 1
            for match_id in changes:
                summary = await self._board.seen_of(match_id, wanted)
                before = known.pop(match_id, None)
                is_gone = summary is None and before is not None
                if summary is not None:
                    known[match_id] = summary
                elif before is not None:
                    summary = self._board.find_gone(match_id, wanted.caller) or before
                if summary is not None and (is_gone or before is None or _life(before) != _life(summary)):
                    quiet = 0
                    yield LobbyFrame(changed=LobbyFrame.Changed(match=summary, is_gone=is_gone))
            if quiet == BEATS:
                quiet = 0
                yield LobbyFrame(heartbeat=LobbyFrame.Heartbeat(time_ms=self._clock_ms()))


def _start_position(request: WatchMatchRequest) -> Position | None:
    """The position from which the watcher continues; None: from the start."""
    if not request.HasField("position"):
        return None
    if len(request.position.link) != LINK_BYTES:
        raise position_malformed()
    return Position(request.position.sequence, request.position.link)


def _life(summary: MatchSummary) -> tuple[object, ...]:
    """The parts of a summary whose change is announced; choices and turns are not among them."""
    return (
        summary.state,
        summary.is_lost,
        summary.asks_you,
        tuple(seat.SerializeToString() for seat in summary.seats),
        summary.WhichOneof("result"),
    )


async def _snapshot(matches: list[MatchSummary]) -> list[WrittenFrame]:
    """The frames with these matches, serialised in slices; they take far less memory than their messages."""
    frames, slices = list[WrittenFrame](), Slices()
    starts = range(0, max(len(matches), 1), SUMMARIES_A_FRAME)
    for start in starts:
        frame = LobbyFrame()
        frame.snapshot.first, frame.snapshot.last = start == starts[0], start == starts[-1]
        frame.snapshot.matches.extend(matches[start : start + SUMMARIES_A_FRAME])
        frames.append(WrittenFrame(frame.SerializeToString()))
        if slices.is_over:
            await slices.rest()
    return frames
