"""What a watcher is told, frame by frame, and the message that each frame is.

Nearly all frames tell events, and each of them goes to everybody who sees the same. It is serialised once, and its
bytes are sent as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias
from weakref import WeakKeyDictionary

from rollbook.match.chain import Position
from rollbook.match.ledger import Ledger, Visible
from rollbook.rules.game import Perspective
from rollbook.server.out.projection import (
    Heads,
    clocks_message,
    is_open,
    legal_message,
    perspective_message,
    projected,
    revealed,
    view_message,
)
from rollbook.v1.feed_pb2 import EndReason, MatchFrame
from rollbook.v1.games_pb2 import View
from rollbook.v1.table_pb2 import Position as PositionMessage


@dataclass(frozen=True, slots=True)
class ConfirmedFrame:
    """The first frame: with whose eyes, and from where the feed goes on."""

    perspective: Perspective
    position: Position
    ledger: Ledger | None
    """The match as far as it may be seen; none as long as nothing of it may."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class EventsFrame:
    """What has happened since the frame before; the ledger is the match after the last of them.

    One of these is shared by all who are told the same, so that whoever writes it down need do so only once.
    """

    events: Sequence[Visible]
    perspective: Perspective
    ledger: Ledger


@dataclass(frozen=True, slots=True)
class CaughtUpFrame:
    """There is nothing more at this moment."""

    position: Position


@dataclass(frozen=True, slots=True)
class FellBehindFrame:
    """The watcher had caught up, and was too slow to stay so."""

    position: Position


@dataclass(frozen=True, slots=True)
class RevealedFrame:
    """Everything that the sealed match hid."""

    log: Sequence[Visible]


@dataclass(frozen=True, slots=True)
class HeartbeatFrame:
    """Nothing has happened for a while."""

    ledger: Ledger
    delay_ms: int
    """By how much the watcher's now is in the past."""


@dataclass(frozen=True, slots=True)
class EndedFrame:
    """The last frame."""

    reason: EndReason.ValueType
    position: Position


Frame: TypeAlias = (
    ConfirmedFrame | EventsFrame | CaughtUpFrame | FellBehindFrame | RevealedFrame | HeartbeatFrame | EndedFrame
)


class WrittenFrame:
    """A MatchFrame that is serialised already: what is asked of a message to send it is all that it can do."""

    __slots__ = ("_data",)

    FromString = MatchFrame.FromString

    def __init__(self, message: MatchFrame) -> None:
        """Serialise it."""
        self._data = message.SerializeToString()

    def SerializeToString(self) -> bytes:  # noqa: N802 - as messages call it
        """The bytes."""
        return self._data


class FrameMessages:
    """Makes the messages that frames are, each once for everybody who is told the same."""

    def __init__(self, heads: Heads, clock_ms: Callable[[], int]) -> None:
        """Sign by these heads, and tell clocks by this one."""
        self._heads = heads
        self._clock_ms = clock_ms
        self._made: WeakKeyDictionary[EventsFrame, WrittenFrame] = WeakKeyDictionary()
        self._open_views: WeakKeyDictionary[Ledger, View] = WeakKeyDictionary()
        """Of matches in which nothing is hidden."""

    def of(self, frame: Frame) -> MatchFrame | WrittenFrame:  # noqa: PLR0911 - one for each kind
        """The message of a frame; do not change it."""
        if isinstance(frame, EventsFrame):  # nearly all are
            message = self._made.get(frame)
            if message is None:
                message = self._made[frame] = WrittenFrame(self._events(frame))
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
                return MatchFrame(revealed=revealed(log))
            case HeartbeatFrame(ledger, delay_ms):
                clocks = clocks_message(ledger, self._clock_ms() - delay_ms)
                return MatchFrame(heartbeat=MatchFrame.Heartbeat(head=self._heads.of(ledger), clocks=clocks))
            case EndedFrame(reason, position):
                return MatchFrame(ended=MatchFrame.Ended(reason=reason, position=_position(position)))

    def _events(self, frame: EventsFrame) -> MatchFrame:
        return MatchFrame(
            events=MatchFrame.Events(
                events=[projected(event, frame.perspective) for event in frame.events],
                view=self._view(frame.ledger, frame.perspective),
                legal=legal_message(frame.ledger, frame.perspective),
                head=self._heads.of(frame.ledger),
            )
        )

    def _view(self, ledger: Ledger, perspective: Perspective) -> View:
        if not is_open(ledger):
            return view_message(ledger, perspective)
        view = self._open_views.get(ledger)
        if view is None:
            view = self._open_views[ledger] = view_message(ledger, perspective)
        return view


def _position(position: Position) -> PositionMessage:
    return PositionMessage(sequence=position.sequence, link=position.link)
