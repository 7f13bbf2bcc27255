"""The frames that a watcher receives, and the message of each frame.

Nearly all frames carry events, and go to every watcher with the same view. Such a frame is serialised once, and the
bytes are sent to all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias
from weakref import WeakKeyDictionary

from rollbook.match.chain import Position
from rollbook.match.codec.parts import length_delimited
from rollbook.match.ledger import Ledger, Visible
from rollbook.rules.game import Perspective
from rollbook.server.out.projection import (
    Heads,
    clocks_message,
    is_open,
    legal_bytes,
    perspective_message,
    projected_bytes,
    reveal,
    view_bytes,
)
from rollbook.server.slices import Slices
from rollbook.v1.feed_pb2 import EndReason, MatchFrame
from rollbook.v1.table_pb2 import Position as PositionMessage


class WrittenFrame:
    """A serialised MatchFrame or LobbyFrame, with only the method that gRPC needs to send a message."""

    __slots__ = ("_data",)

    def __init__(self, data: bytes) -> None:
        self._data = data

    def SerializeToString(self) -> bytes:  # noqa: N802 - the name in protobuf messages
        """The bytes."""
        return self._data


WRITTEN_AT_ONCE: Final = 200
"""Events serialised between two checks of how long a frame has blocked the loop."""

_EVENTS: Final = MatchFrame.Events.EVENTS_FIELD_NUMBER
_VIEW: Final = MatchFrame.Events.VIEW_FIELD_NUMBER
_LEGAL: Final = MatchFrame.Events.LEGAL_FIELD_NUMBER
_HEAD: Final = MatchFrame.Events.HEAD_FIELD_NUMBER
_CLOCKS: Final = MatchFrame.Events.CLOCKS_FIELD_NUMBER


@dataclass(frozen=True, slots=True)
class ConfirmedFrame:
    """The first frame: the perspective, and the position from which the feed continues."""

    perspective: Perspective
    position: Position
    ledger: Ledger | None
    """The visible state; None while nothing is visible."""


@dataclass(frozen=True, slots=True, eq=False)
class EventsFrame:
    """The events since the previous frame; the ledger is the state after the last of them.

    Shared by all watchers with the same view, so that it is serialised only once.
    """

    events: Sequence[Visible]
    perspective: Perspective
    ledger: Ledger
    written: dict[bool, WrittenFrame] = field(default_factory=dict)
    """The serialised frame with and without the table, once it has been sent."""


@dataclass(frozen=True, slots=True)
class CaughtUpFrame:
    """There are no further events at this moment."""

    position: Position


@dataclass(frozen=True, slots=True)
class FellBehindFrame:
    """The watcher had caught up, and is now too far behind."""

    position: Position


@dataclass(frozen=True, slots=True)
class RevealedFrame:
    """All hidden parts of a sealed match."""

    log: Sequence[Visible]


@dataclass(frozen=True, slots=True)
class HeartbeatFrame:
    """Nothing has happened for a while."""

    ledger: Ledger
    delay_ms: int
    """The watcher's delay."""
    here: tuple[bool, ...] = ()
    """By seat, whether its player is present; empty for watchers without a seat."""


@dataclass(frozen=True, slots=True)
class EndedFrame:
    """The last frame."""

    reason: EndReason.ValueType
    position: Position


@dataclass(frozen=True, slots=True, eq=False)
class RematchFrame:
    """A rematch of the match that is over."""

    rematch: MatchFrame.Rematch


Frame: TypeAlias = (
    ConfirmedFrame
    | EventsFrame
    | CaughtUpFrame
    | FellBehindFrame
    | RevealedFrame
    | HeartbeatFrame
    | RematchFrame
    | EndedFrame
)


class FrameMessages:
    """Makes the messages of frames, each once for all watchers with the same view."""

    def __init__(self, heads: Heads, clock_ms: Callable[[], int]) -> None:
        """`heads` signs heads; `clock_ms` is the time for the clocks of matches."""
        self._heads = heads
        self._clock_ms = clock_ms
        self._open_views: WeakKeyDictionary[Ledger, bytes] = WeakKeyDictionary()
        """Views of matches in games without hidden parts."""

    def of(  # noqa: PLR0911 - one for each kind
        self, frame: Frame, *, views: bool = True
    ) -> MatchFrame | WrittenFrame:
        """The message of a frame, with the table if `views`; do not modify it."""
        if isinstance(frame, EventsFrame):  # the most frequent kind
            message = frame.written.get(views)
            if message is None:
                message = frame.written[views] = WrittenFrame(
                    self._events(frame, _write_events(frame.events, frame.perspective), views=views)
                )
            return message
        match frame:
            case ConfirmedFrame(perspective, position, ledger):
                return MatchFrame(
                    confirmed=MatchFrame.Confirmed(
                        perspective=perspective_message(perspective),
                        position=_position(position),
                        head=None if ledger is None else self._heads.of(ledger),
                    )
                )
            case CaughtUpFrame(position):
                return MatchFrame(caught_up=MatchFrame.CaughtUp(position=_position(position)))
            case FellBehindFrame(position):
                return MatchFrame(fell_behind=MatchFrame.FellBehind(position=_position(position)))
            case RevealedFrame(log):
                return MatchFrame(revealed=reveal(log))
            case HeartbeatFrame(ledger, delay_ms, here):
                clocks = clocks_message(ledger, self._clock_ms() - delay_ms)
                return MatchFrame(heartbeat=MatchFrame.Heartbeat(head=self._heads.of(ledger), clocks=clocks, here=here))
            case RematchFrame(rematch):
                return MatchFrame(rematch=rematch)
            case EndedFrame(reason, position):
                return MatchFrame(ended=MatchFrame.Ended(reason=reason, position=_position(position)))

    async def of_many(self, frame: EventsFrame, *, views: bool = True) -> MatchFrame | WrittenFrame:
        """The message of a frame with many events, serialised in slices."""
        parts, slices = list[bytes](), Slices()
        for first in range(0, len(frame.events), WRITTEN_AT_ONCE):
            parts += _write_events(frame.events[first : first + WRITTEN_AT_ONCE], frame.perspective)
            if slices.is_over:
                await slices.rest()
        return WrittenFrame(self._events(frame, parts, views=views))

    def _events(self, frame: EventsFrame, parts: list[bytes], *, views: bool) -> bytes:
        """The bytes of a frame whose events are serialised in `parts`."""
        ledger, perspective = frame.ledger, frame.perspective
        if views:
            parts.append(length_delimited(_VIEW, self._view(ledger, perspective)))
            legal = legal_bytes(ledger, perspective)
            if legal is not None:
                parts.append(length_delimited(_LEGAL, legal))
        parts.append(length_delimited(_HEAD, self._heads.of(ledger).SerializeToString()))
        # The clocks at the last event: the frame is the same for every watcher, whenever it is sent.
        if ledger.clock.turn_ms and (clocks := clocks_message(ledger, ledger.time_ms)) is not None:
            parts.append(length_delimited(_CLOCKS, clocks.SerializeToString()))
        return length_delimited(MatchFrame.EVENTS_FIELD_NUMBER, b"".join(parts))

    def _view(self, ledger: Ledger, perspective: Perspective) -> bytes:
        if not is_open(ledger):
            return view_bytes(ledger, perspective)
        view = self._open_views.get(ledger)
        if view is None:
            view = self._open_views[ledger] = view_bytes(ledger, perspective)
        return view


def _write_events(events: Sequence[Visible], perspective: Perspective) -> list[bytes]:
    return [length_delimited(_EVENTS, projected_bytes(event, perspective)) for event in events]


def _position(position: Position) -> PositionMessage:
    return PositionMessage(sequence=position.sequence, link=position.link)
