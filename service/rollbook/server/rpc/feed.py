"""The feeds over gRPC: frames as messages for the eyes of their watcher, and the lobby as it changes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, contextmanager
from typing import Final
from weakref import WeakKeyDictionary

from rollbook.identity.tokens import Subject
from rollbook.match.chain import Position
from rollbook.match.codec.envelope import LINK_BYTES
from rollbook.match.decide import Declined
from rollbook.match.ledger import Ledger
from rollbook.rules.game import Perspective
from rollbook.server.access import judges
from rollbook.server.feeds import feed as feeds
from rollbook.server.feeds.feed import Feeds
from rollbook.server.feeds.lobby_board import Board
from rollbook.server.limits import Held
from rollbook.server.out.answers import located
from rollbook.server.out.projection import (
    clocks_message,
    legal_message,
    perspective_message,
    perspective_of,
    revealed,
    view_message,
)
from rollbook.server.play.matches import MatchUnknown
from rollbook.server.rpc.errors import Context, Refusal
from rollbook.server.service import Service
from rollbook.v1 import feed_pb2_grpc
from rollbook.v1.feed_pb2 import (
    END_REASON_DRAINING,
    END_REASON_MATCH_OVER,
    END_REASON_PERSPECTIVE_CHANGED,
    END_REASON_TOKEN_EXPIRED,
    EndReason,
    LobbyFrame,
    MatchFrame,
    WatchLobbyRequest,
    WatchMatchRequest,
)
from rollbook.v1.match_pb2 import MatchSummary
from rollbook.v1.table_pb2 import Position as PositionMessage

LOBBY_SECONDS: Final = 1.0
"""How often the lobby is looked at while somebody watches it."""

BEATS: Final = 4
"""Looks without a change before a watcher of the lobby hears that there is none."""

SUMMARIES_A_FRAME: Final = 200

_REASONS: Final[dict[feeds.End, EndReason.ValueType]] = {
    feeds.End.MATCH_OVER: END_REASON_MATCH_OVER,
    feeds.End.TOKEN_EXPIRED: END_REASON_TOKEN_EXPIRED,
    feeds.End.DRAINING: END_REASON_DRAINING,
    feeds.End.PERSPECTIVE_CHANGED: END_REASON_PERSPECTIVE_CHANGED,
}


class FeedServicer(feed_pb2_grpc.FeedServiceServicer):
    """WatchMatch and WatchLobby."""

    def __init__(self, service: Service) -> None:
        """Follow the service's log."""
        self._service = service
        self._feeds = Feeds(service.log, service.clock_ms, service.lost, service.metrics.framed)
        service.metrics.count_watchers(lambda: self._feeds.watchers)
        self._board = Board(service, LOBBY_SECONDS)
        self._draining = False
        limits = service.limits
        self._watches = Held(limits.watches_per_subject, limits.watches, "too many feeds are watched")
        self._written: WeakKeyDictionary[feeds.Events, MatchFrame] = WeakKeyDictionary()

    async def drain(self) -> None:
        """Let every feed end with its last word."""
        self._draining = True
        self._feeds.drain()
        self._board.wake()

    async def close(self) -> None:
        """Stop following the log."""
        await self._feeds.close()
        await self._board.close()

    async def WatchMatch(  # noqa: N802 - the contract's name
        self, request: WatchMatchRequest, context: Context
    ) -> AsyncIterator[MatchFrame]:
        """A match from a position to its end."""
        caller = self._service.caller(context)
        sight = await self._service.sight(caller, request.match_id, request.invitation_code)

        def eyes(ledger: Ledger) -> Perspective:
            is_judge = judges(caller, request.match_id)
            return perspective_of(ledger, sight.player, is_judge=is_judge, public_only=request.public_only)

        verifier = self._service.verifier
        with self._held(caller):
            try:
                position = _asked(request)
                feed = self._feeds.watch(request.match_id, position, eyes, lambda: verifier.has_expired(caller))
                async with aclosing(feed) as frames:
                    async for frame in frames:
                        yield self._frame(frame)
            except (Declined, Refusal) as error:
                raise await located(
                    self._service, caller, request.match_id, error, request.position, request.invitation_code
                ) from error

    async def WatchLobby(  # noqa: N802 - the contract's name
        self, request: WatchLobbyRequest, context: Context
    ) -> AsyncIterator[LobbyFrame]:
        """The public matches that are open or running, as the caller may see them, and what becomes of them."""
        caller = self._service.caller(context)
        with self._held(caller):
            async with self._board.watched(), aclosing(self._told(caller, request.game)) as frames:
                async for frame in frames:
                    yield frame

    async def _told(self, caller: Subject, game: str) -> AsyncGenerator[LobbyFrame, None]:
        known = await self._board.seen_by(caller, game)
        for frame in _snapshot(list(known.values())):
            yield frame
        quiet = 0
        while True:
            if self._draining or self._service.verifier.has_expired(caller):
                reason = END_REASON_DRAINING if self._draining else END_REASON_TOKEN_EXPIRED
                yield LobbyFrame(ended=LobbyFrame.Ended(reason=reason))
                return
            await self._board.next_look()
            now = await self._board.seen_by(caller, game)
            changed = [summary for match_id, summary in now.items() if _has_changed(known.get(match_id), summary)]
            for match_id in known.keys() - now.keys():
                gone = await self._gone(caller, known[match_id])
                if _life(gone) != _life(known[match_id]):
                    changed.append(gone)
            known = now
            for summary in changed:
                yield LobbyFrame(changed=LobbyFrame.Changed(match=summary))
            quiet = 0 if changed else quiet + 1
            if quiet == BEATS:
                quiet = 0
                yield LobbyFrame(heartbeat=LobbyFrame.Heartbeat(time_ms=self._service.clock_ms()))

    async def _gone(self, caller: Subject, last: MatchSummary) -> MatchSummary:
        """What became of a match that has left the lobby."""
        try:
            return (await self._service.sight(caller, last.match_id)).summary
        except MatchUnknown:
            return last

    @contextmanager
    def _held(self, caller: Subject) -> Iterator[None]:
        self._watches.take(caller.key)
        try:
            yield
        finally:
            self._watches.give_back(caller.key)

    def _frame(self, frame: feeds.Frame) -> MatchFrame:  # noqa: PLR0911 - one for each kind
        match frame:
            case feeds.Confirmed(perspective, position, ledger):
                return MatchFrame(
                    confirmed=MatchFrame.Confirmed(
                        perspective=perspective_message(perspective),
                        position=_position(position),
                        head=None if ledger is None else self._service.heads.of(ledger),
                    )
                )
            case feeds.Events():
                return self._events(frame)
            case feeds.CaughtUp(position):
                return MatchFrame(caught_up=MatchFrame.CaughtUp(position=_position(position)))
            case feeds.FellBehind(position):
                return MatchFrame(fell_behind=MatchFrame.FellBehind(position=_position(position)))
            case feeds.Revealed(logged):
                return MatchFrame(revealed=revealed(logged))
            case feeds.Beat(ledger, delay_ms):
                clocks = clocks_message(ledger, self._service.clock_ms() - delay_ms)
                return MatchFrame(heartbeat=MatchFrame.Heartbeat(head=self._service.heads.of(ledger), clocks=clocks))
            case feeds.Ended(reason, position):
                return MatchFrame(ended=MatchFrame.Ended(reason=_REASONS[reason], position=_position(position)))

    def _events(self, frame: feeds.Events) -> MatchFrame:
        """The message, made once for everybody who is told the same."""
        message = self._written.get(frame)
        if message is None:
            message = self._written[frame] = MatchFrame(
                events=MatchFrame.Events(
                    events=[event.seen_by(frame.perspective) for event in frame.events],
                    view=view_message(frame.ledger, frame.perspective),
                    legal=legal_message(frame.ledger, frame.perspective),
                    head=self._service.heads.of(frame.ledger),
                )
            )
        return message


def _asked(request: WatchMatchRequest) -> Position | None:
    """From where the watcher goes on; none: from the start."""
    if not request.HasField("position"):
        return None
    if len(request.position.link) != LINK_BYTES:
        raise Refusal("POSITION_MALFORMED", f"a position has a link of {LINK_BYTES} bytes")
    return Position(request.position.sequence, request.position.link)


def _has_changed(known: MatchSummary | None, summary: MatchSummary) -> bool:
    return known is not summary and (known is None or _life(known) != _life(summary))


def _life(summary: MatchSummary) -> tuple[object, ...]:
    """What makes a match another than it was; choices and turns do not."""
    return summary.state, tuple(seat.SerializeToString() for seat in summary.seats), summary.WhichOneof("result")


def _position(position: Position) -> PositionMessage:
    return PositionMessage(sequence=position.sequence, link=position.link)


def _snapshot(matches: list[MatchSummary]) -> Iterator[LobbyFrame]:
    starts = range(0, max(len(matches), 1), SUMMARIES_A_FRAME)
    for start in starts:
        part = LobbyFrame.Snapshot(
            matches=matches[start : start + SUMMARIES_A_FRAME],
            first=start == starts[0],
            last=start == starts[-1],
        )
        yield LobbyFrame(snapshot=part)
