"""The frames of a watch and the results of calls: checked values around the protobuf messages."""

from collections.abc import Mapping
from dataclasses import dataclass

from rollbook.match.chain import Position
from rollbook.replay_file.kept_heads import WitnessedHead
from rollbook.v1 import events_pb2
from rollbook.v1.events_pb2 import Sealed
from rollbook.v1.feed_pb2 import MatchFrame
from rollbook.v1.games_pb2 import HiddenOutcome, View
from rollbook.v1.match_pb2 import MatchSummary
from rollbook.v1.table_pb2 import Clocks, Perspective, SignedHead
from rollbook.v1.table_pb2 import Position as PositionMessage
from rollbook_clients.sdk.legal import Legal


@dataclass(frozen=True, slots=True)
class Event:
    """One event of the log, whose place in the chain has been checked."""

    message: events_pb2.Event
    """The parsed event."""
    data: bytes
    """The event's bytes as they were hashed and stored."""
    link: bytes
    """The chain link computed from `data`."""
    hidden: HiddenOutcome | None = None
    """The hidden part of the event; None if it has none or this client may not see it."""

    @property
    def sequence(self) -> int:
        """The number of the event, from 1."""
        return self.message.sequence

    @property
    def kind(self) -> str:
        """The field that is set in the message's body, such as "chosen"; empty if this client does not know it."""
        return self.message.WhichOneof("body") or ""

    @property
    def seat(self) -> int | None:
        """The seat that the event concerns; None if it concerns no seat."""
        return self.message.seat if self.message.HasField("seat") else None

    @property
    def position(self) -> Position:
        """The position right after the event."""
        return Position(self.sequence, self.link)


@dataclass(frozen=True, slots=True)
class State:
    """The current state of a match, as this client may see it."""

    summary: MatchSummary
    perspective: Perspective
    view: View
    legal: Legal | None
    """What this client's seat may choose; None unless it is to choose now."""
    clocks: Clocks | None
    """None unless the match is running and has clocks."""
    position: Position
    head: WitnessedHead
    is_opener: bool = False
    """Whether this client opened the match and seats are free: it may add bots, free seats and withdraw the match."""


@dataclass(frozen=True, slots=True)
class Made:
    """The events that a command has appended."""

    events: tuple[Event, ...]
    """The event of the command and all that follow from it: chance, choices of caretakers, the seal."""
    position: Position
    """The position after the last of these events."""
    head: WitnessedHead


@dataclass(frozen=True, slots=True)
class TakenSeat:
    """A seat that this client took."""

    number: int
    """Number of the seat, from 0."""
    closed_seats: bool
    """Whether this was the last free seat, so that the match can get ready."""
    made: Made


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The watch has begun, or continues from another perspective; events after the position follow."""

    perspective: Perspective
    position: Position


@dataclass(frozen=True, slots=True)
class Events:
    """The next events. The frames together have no gaps or duplicates, even across lost connections."""

    events: tuple[Event, ...]
    """One or more events."""
    view: View
    """The table after the last event; empty if views were switched off."""
    legal: Legal | None
    """What this client's seat may choose after the last event; None if it is not to choose, or without views."""
    position: Position
    """The position after the last event."""
    head: WitnessedHead | None
    """The checked head of that position; None if the service sent no head with these events."""
    clocks: Clocks | None
    """The clocks as of `clocks.at_ms`, the time of the last event; None unless the match is running and has clocks.

    That time may be long ago while the client catches up; `Beat` and `State` hold the current clocks.
    """

    @property
    def sealed(self) -> Sealed | None:
        """How the match ended; None if it has not ended."""
        last = self.events[-1].message
        return last.sealed if last.HasField("sealed") else None


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """All events so far have arrived."""

    position: Position


@dataclass(frozen=True, slots=True)
class FellBehind:
    """This client reads more slowly than events arrive. No event is lost, and another CaughtUp will follow."""

    position: Position


@dataclass(frozen=True, slots=True)
class Beat:
    """A sign of life while no event happens, with the current clocks."""

    head: WitnessedHead
    clocks: Clocks | None
    """The current clocks; None unless the match is running and has clocks."""
    here: tuple[bool, ...] = ()
    """By seat, whether its player is at the table: a client of theirs follows the match, or it is a bot of the service.

    Empty if this client has no seat, or before that is known.
    """


@dataclass(frozen=True, slots=True)
class Revealed:
    """The match is sealed, so all hidden parts of events are public."""

    outcomes: Mapping[int, HiddenOutcome]
    """The hidden parts, by sequence of their event."""


@dataclass(frozen=True, slots=True)
class Away:
    """The connection is lost; the watch reconnects until it succeeds."""

    why: str


@dataclass(frozen=True, slots=True)
class Back:
    """The connection is restored; the events that happened meanwhile follow."""

    seconds: float
    """Seconds without a connection."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The match is over and all events have been yielded; the watch ends here."""

    position: Position


@dataclass(frozen=True, slots=True)
class Rematch:
    """A rematch of the match that is over; only in watches that linger, as `match.rematches()` does."""

    message: MatchFrame.Rematch


Frame = Confirmed | Events | CaughtUp | FellBehind | Beat | Revealed | Rematch | Away | Back | Ended


def read_position(message: PositionMessage) -> Position:
    """Convert a position; its signature is ignored, because it has not been checked."""
    return Position(message.sequence, message.link)


def read_head(message: SignedHead) -> WitnessedHead:
    """Convert a signed head; its signature is not checked here."""
    return WitnessedHead(message.match_id, message.sequence, message.link, message.key_id, message.signature)
