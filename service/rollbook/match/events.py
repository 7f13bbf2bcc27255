"""The events of a match: one value for each body an event can have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Generic, TypeAlias

from rollbook.match.chain import Head
from rollbook.rules.game import Choice, Outcome
from rollbook.rules.options import Options


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a match besides the rules; 0 and false mean no demand."""

    turn_seconds: int = 0
    reserve_seconds: int = 0
    """The reserve of each seat for the whole match, beyond its turns; 0 without a clock."""
    ready_seconds: int = 0
    """The time to get ready after the seats are closed; a seat that is late aborts the match."""
    spectator_delay_seconds: int = 0
    is_private: bool = False
    open_seconds: int = 0
    """After this time without an event, a match with free seats expires."""
    idle_seconds: int = 0
    """After this time without an event, a started match without a turn clock expires."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The match is opened: game, number of seats, and the commitment to its secret."""

    match_id: str
    game: str
    ruleset: int
    options: Options
    names: tuple[str, ...]
    """One for each seat. The log has no names, so a match that is read from its bytes alone has empty ones."""
    commitment: bytes
    terms: Terms = Terms()


@dataclass(frozen=True, slots=True)
class SeatTaken:
    """A seat is taken; the last one closes the seats."""

    seat: int
    player: bytes = b""
    """A salted reference to the player."""
    entropy_commitment: bytes = b""
    """Empty for a seat that brings no entropy."""
    house: bool = False
    """Whether the service declares the player to be its own bot; the plain form leaves this out."""


@dataclass(frozen=True, slots=True)
class SeatLeft:
    """A seat is left before the seats are closed."""

    seat: int


@dataclass(frozen=True, slots=True)
class Ready:
    """The seat reveals the entropy it brought; empty if it brought none."""

    seat: int
    entropy: bytes = b""
    closing_link: bytes = b""
    """The link of the event that closed the seats, as the seat received it before revealing its entropy."""


@dataclass(frozen=True, slots=True)
class Started:
    """All seats are ready; the key of the dice is fixed."""


@dataclass(frozen=True, slots=True)
class Happened(Generic[Outcome]):
    """Chance has thrown or drawn what the state awaited."""

    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Chosen(Generic[Choice]):
    """A seat has chosen, or its caretaker for it."""

    seat: int
    choice: Choice
    by_caretaker: bool = False
    charged_ms: int = 0
    """How long the seat was waited for; 0 for a caretaker, and without a clock."""


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The seat's clock has run out; its caretaker chooses for the rest of this turn."""

    seat: int
    not_before_ms: int = 0
    """When the clock ran out, at the earliest, in Unix milliseconds."""
    charged_ms: int = 0


@dataclass(frozen=True, slots=True)
class Forfeited:
    """Three turns in a row timed out: the caretaker plays on for this seat."""

    seat: int


@dataclass(frozen=True, slots=True)
class Resigned:
    """The seat gives up: the caretaker plays on for it."""

    seat: int


@dataclass(frozen=True, slots=True)
class Resumed:
    """The service was away; that time is not charged to any seat."""

    not_charged_ms: int = 0


LOG_LOST: Final = "log_lost"
"""Abort reason: the log is shorter than, or differs from, a head that the service signed."""

BY_OPERATOR: Final = "by_operator"
"""Abort reason: an operator ended the match."""

EXPIRED: Final = "expired"
"""Abort reason: nothing happened for as long as the terms allow."""

NOT_READY: Final = "not_ready"
"""Abort reason: seats did not get ready in time."""


def not_ready(seats: Iterable[int]) -> str:
    """The abort reason with the seats that did not get ready in time.

    >>> not_ready([0, 2])
    'not_ready:0,2'
    """
    return f"{NOT_READY}:{','.join(map(str, seats))}"


@dataclass(frozen=True, slots=True)
class Sealed:
    """The end: the place of every seat, or why the match was aborted; and the secret."""

    places: tuple[int, ...] | None
    aborted: str | None
    """`log_lost`, `by_operator`, `expired`, or `not_ready` with the seats that were not: `not_ready:0,2`."""
    secret: bytes
    lost: Head | None = None
    """The evidence of a lost log. The plain form leaves it out, so a match that is read from there has none."""


Event: TypeAlias = (
    Opened
    | SeatTaken
    | SeatLeft
    | Ready
    | Started
    | Happened[object]
    | Chosen[object]
    | TimedOut
    | Forfeited
    | Resigned
    | Resumed
    | Sealed
)
