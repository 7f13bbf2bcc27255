"""What a watch of a match gives, and what answers are made of: facts around the messages of the contract."""

from collections.abc import Mapping
from dataclasses import dataclass

from rollbook.match.chain import Position
from rollbook.replay_file.kept_heads import WitnessedHead
from rollbook.v1 import events_pb2
from rollbook.v1.events_pb2 import Sealed
from rollbook.v1.games_pb2 import HiddenOutcome, View
from rollbook.v1.match_pb2 import MatchSummary
from rollbook.v1.table_pb2 import Clocks, Perspective, SignedHead
from rollbook.v1.table_pb2 import Position as PositionMessage
from rollbook_clients.sdk.legal import Legal


@dataclass(frozen=True, slots=True)
class Event:
    """One event of the log, whose place in the chain was checked."""

    message: events_pb2.Event
    """What happened, parsed."""
    data: bytes
    """The bytes as they were hashed and stored."""
    link: bytes
    """The link that follows from them."""
    hidden: HiddenOutcome | None = None
    """What the event hides and this client may see; none where there is nothing, or it may not."""

    @property
    def sequence(self) -> int:
        """Its number, from 1."""
        return self.message.sequence

    @property
    def kind(self) -> str:
        """Which field of the message's body is set, such as "chosen"; empty if it is not known here."""
        return self.message.WhichOneof("body") or ""

    @property
    def seat(self) -> int | None:
        """Whose event it is; none if nobody's."""
        return self.message.seat if self.message.HasField("seat") else None

    @property
    def position(self) -> Position:
        """Right after it."""
        return Position(self.sequence, self.link)


@dataclass(frozen=True, slots=True)
class State:
    """A match as it stands, as this client sees it."""

    summary: MatchSummary
    perspective: Perspective
    view: View
    legal: Legal | None
    """What this client's seat may choose; none unless it is to choose now."""
    clocks: Clocks | None
    """None unless the match is running and has clocks."""
    position: Position
    head: WitnessedHead
    is_opener: bool = False
    """This client opened the match and seats are free: it may add bots, free seats and withdraw it."""


@dataclass(frozen=True, slots=True)
class Made:
    """What a write has done."""

    events: tuple[Event, ...]
    """The event of the command and all that follow from it: chance, caretakers, the seal."""
    position: Position
    """Behind the last of them."""
    head: WitnessedHead


@dataclass(frozen=True, slots=True)
class TakenSeat:
    """A seat that this client took."""

    number: int
    """From 0."""
    closed_seats: bool
    """It was the last free one: the match can get ready."""
    made: Made


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The watch has begun, or goes on with other eyes; events after the position follow."""

    perspective: Perspective
    position: Position


@dataclass(frozen=True, slots=True)
class Events:
    """What happened next; between frames there is no gap and no overlap, whatever became of the connection."""

    events: tuple[Event, ...]
    """One or more."""
    view: View
    """The table after the last of them; empty where no views were asked for."""
    legal: Legal | None
    """What this client's seat may choose after the last of them; none unless it is to choose, or without views."""
    position: Position
    """Behind the last of them."""
    head: WitnessedHead | None
    """The checked head of that position; none if the service sent none with these events."""
    clocks: Clocks | None
    """The clocks after the last of them, as of `clocks.at_ms`, the time of that event, which is long ago while this
    client catches up; `Beat` and `State` have those of now. None unless the match is running and has clocks."""

    @property
    def sealed(self) -> Sealed | None:
        """How the match ended, if it did."""
        last = self.events[-1].message
        return last.sealed if last.HasField("sealed") else None


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """All events there are have come."""

    position: Position


@dataclass(frozen=True, slots=True)
class FellBehind:
    """This client reads more slowly than events come; nothing is lost, and another CaughtUp will come."""

    position: Position


@dataclass(frozen=True, slots=True)
class Beat:
    """Nothing has happened for a while; clocks tick on."""

    head: WitnessedHead
    clocks: Clocks | None
    """As of now. None unless the match is running and has clocks."""


@dataclass(frozen=True, slots=True)
class Revealed:
    """The match is sealed, so everybody may see everything."""

    outcomes: Mapping[int, HiddenOutcome]
    """By the sequence of the event all that the match hid."""


@dataclass(frozen=True, slots=True)
class Away:
    """The connection is lost; it is being made anew, for as long as it takes."""

    why: str


@dataclass(frozen=True, slots=True)
class Back:
    """The connection is there again; what happened meanwhile follows."""

    seconds: float
    """For how long it was away."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The match is over and everything has been told; the watch ends here."""

    position: Position


Frame = Confirmed | Events | CaughtUp | FellBehind | Beat | Revealed | Away | Back | Ended


def read_position(message: PositionMessage) -> Position:
    """The position that a message names; what it says of a signature is not believed."""
    return Position(message.sequence, message.link)


def read_head(message: SignedHead) -> WitnessedHead:
    """The head in a message; nothing is checked yet."""
    return WitnessedHead(message.match_id, message.sequence, message.link, message.key_id, message.signature)
