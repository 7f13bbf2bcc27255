"""Commands to a match: one value for each command, with its caller and time.

`decide` turns commands into events; this module decides whether a stored event answers a repeated command.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeAlias

from rollbook.match.chain import Head, Position
from rollbook.match.codec.envelope import Logged
from rollbook.match.events import Chosen, Opened, Ready, Resigned, Sealed, SeatLeft, SeatTaken
from rollbook.rules.refusals import Fact


class Why(StrEnum):
    """Reasons for which the service declines a command before the game's rules are asked; clients receive the name."""

    MATCH_SEALED = "match_sealed"
    NOT_STARTED = "not_started"
    SEAT_UNKNOWN = "seat_unknown"
    SEAT_TAKEN = "seat_taken"
    SEAT_FREE = "seat_free"
    SEATS_KEPT = "seats_kept"
    SEATS_CLOSED = "seats_closed"
    SEATS_NOT_CLOSED = "seats_not_closed"
    MATCH_IS_PUBLIC = "match_is_public"
    NOT_SEATED = "not_seated"
    NOT_YOUR_SEAT = "not_your_seat"
    ALREADY_SEATED = "already_seated"
    ALREADY_READY = "already_ready"
    SEAT_FORFEITED = "seat_forfeited"
    CLOSING_LINK_WRONG = "closing_link_wrong"
    ENTROPY_COMMITMENT_LENGTH = "entropy_commitment_length"
    ENTROPY_MISSING = "entropy_missing"
    ENTROPY_DOES_NOT_FIT = "entropy_does_not_fit"
    ENTROPY_LENGTH = "entropy_length"
    NOT_YOUR_TURN = "not_your_turn"
    POSITION_MISSING = "position_missing"
    POSITION_MALFORMED = "position_malformed"
    POSITION_BEHIND = "position_behind"
    POSITION_AHEAD = "position_ahead"
    POSITION_OTHER_LINK = "position_other_link"


class Declined(Exception):
    """A command was declined; nothing has happened."""

    def __init__(self, reason: Why, why: str, **facts: Fact) -> None:
        """`reason` is for programs, `why` a sentence for people."""
        super().__init__(reason, why)
        self.reason = reason
        self.why = why
        self.facts = facts

    def __str__(self) -> str:
        """The sentence for people."""
        return self.why


def position_ahead(position: Position, head: int) -> Declined:
    """Declines a position after the end of the log."""
    why = f"the log ends at event {head}, before event {position.sequence}"
    return Declined(Why.POSITION_AHEAD, why, head=head)


def position_behind(head: int) -> Declined:
    """Declines a position before the end of the log."""
    return Declined(Why.POSITION_BEHIND, f"the log has gone on to event {head}", head=head)


def position_of_another_log(position: Position, head: int) -> Declined:
    """Declines a position whose link differs from that of this log."""
    return Declined(Why.POSITION_OTHER_LINK, f"event {position.sequence} has another link", head=head)


class NotDue(Exception):
    """It is too early, or too late, for an action of the service itself."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The caller and time of a command; the service itself has neither player nor request."""

    now_ms: int
    player: bytes = b""
    """The salted reference to the caller."""
    request: bytes = b""
    """The hash of subject and request id."""


# Commands of players. A seat is the one that the caller claims to have; `misplaced` is what is wrong with the position
# in the command, and is raised after all errors about seat and turn.


@dataclass(frozen=True, slots=True)
class OpenMatch:
    """Begin a match."""

    origin: Origin
    opened: Opened
    secret: bytes


@dataclass(frozen=True, slots=True)
class TakeSeat:
    """Take a certain seat, or the first free one."""

    origin: Origin
    seat: int | None = None
    commitment: bytes = b""
    house: bool = False
    """Whether the seat is for a bot of the service."""
    kept: int = 0
    """How many free seats are kept for others."""
    kept_ms: int = 0
    """For how long."""
    misplaced: Declined | None = None


@dataclass(frozen=True, slots=True)
class LeaveSeat:
    """Leave a seat before the seats are closed."""

    origin: Origin
    seat: int | None = None
    misplaced: Declined | None = None


@dataclass(frozen=True, slots=True)
class FreeSeat:
    """Free another player's seat before the seats are closed, on behalf of the match's opener."""

    origin: Origin
    seat: int
    misplaced: Declined | None = None


@dataclass(frozen=True, slots=True)
class GetReady:
    """Reveal the seat's entropy; when the last seat is ready, the match starts."""

    origin: Origin
    closing_link: bytes
    entropy: bytes = b""
    seat: int | None = None
    misplaced: Declined | None = None


@dataclass(frozen=True, slots=True)
class Choose:
    """Choose for one's seat at a position; an unreadable choice is an `Invalid`, shown only to the awaited seat."""

    origin: Origin
    position: Position | Declined
    choice: Any
    """A choice of the game, or the `Invalid` from reading it."""
    seat: int | None = None


@dataclass(frozen=True, slots=True)
class Resign:
    """Give up; the caretaker plays on, or the match is over."""

    origin: Origin
    seat: int | None = None
    misplaced: Declined | None = None


@dataclass(frozen=True, slots=True)
class Abort:
    """Seal a match without a result, for an operator, or for its opener before the seats are closed."""

    origin: Origin
    misplaced: Declined | None = None
    by_opener: bool = False


# Commands of the service itself


@dataclass(frozen=True, slots=True)
class TimeOut:
    """End the wait for a seat whose time is out; its caretaker plays the rest of the turn in the same append."""

    origin: Origin


@dataclass(frozen=True, slots=True)
class Pardon:
    """Exempt the service's absence, from the given time until now, from the charge for the wait."""

    origin: Origin
    away_since_ms: int


@dataclass(frozen=True, slots=True)
class AbortUnready:
    """Seal a match whose seats were closed `ready_seconds` ago, naming the lowest seat that is not ready."""

    origin: Origin


@dataclass(frozen=True, slots=True)
class Expire:
    """Seal a match in which nothing has happened for as long as its terms allow."""

    origin: Origin


@dataclass(frozen=True, slots=True)
class EndUnplayed:
    """Seal a running match in which no person has made a choice so many seconds after its start."""

    origin: Origin
    first_choice_seconds: int


@dataclass(frozen=True, slots=True)
class SealLost:
    """Seal a match whose log lacks a head that the service signed, with that head as evidence."""

    origin: Origin
    lost: Head


Command: TypeAlias = (
    TakeSeat
    | LeaveSeat
    | FreeSeat
    | GetReady
    | Choose
    | Resign
    | Abort
    | TimeOut
    | Pardon
    | AbortUnready
    | Expire
    | EndUnplayed
    | SealLost
)
"""A command to an existing match."""


def answers(logged: Logged, command: Command | OpenMatch) -> bool:  # noqa: PLR0911 - one for each kind
    """Whether this event, the first that the command's request made, is what the command asks for.

    If not, the request id was used for another command.
    """
    event = logged.event
    match command:
        case OpenMatch():
            return isinstance(event, Opened) and _same_match(event, command.opened)
        case TakeSeat():
            return (
                isinstance(event, SeatTaken)
                and command.seat in {None, event.seat}
                and event.entropy_commitment == command.commitment
            )
        case LeaveSeat():
            return isinstance(event, SeatLeft) and command.seat in {None, event.seat}
        case FreeSeat():
            return isinstance(event, SeatLeft) and command.seat == event.seat
        case GetReady():
            return (
                isinstance(event, Ready)
                and command.seat in {None, event.seat}
                and (event.entropy, event.closing_link) == (command.entropy, command.closing_link)
            )
        case Choose():
            return isinstance(event, Chosen) and _same_choice(logged, event, command)
        case Resign():
            return isinstance(event, Resigned) and command.seat in {None, event.seat}
        case Abort():
            return isinstance(event, Sealed) and logged.request == command.origin.request
        case TimeOut() | Pardon() | AbortUnready() | Expire() | EndUnplayed() | SealLost():
            return False  # the service itself sends these, and repeats none


def _same_match(event: Opened, asked: Opened) -> bool:
    return (event.game, event.ruleset, event.options, event.terms, len(event.names)) == (
        asked.game,
        asked.ruleset,
        asked.options,
        asked.terms,
        len(asked.names),
    )


def _same_choice(logged: Logged, event: Chosen[Any], command: Choose) -> bool:
    """Whether the choice was made for this position and seat, with any charge."""
    return (
        command.position == Position(logged.sequence - 1, logged.previous)
        and command.seat in {None, event.seat}
        and replace(event, charged_ms=0) == Chosen(event.seat, command.choice)
    )
