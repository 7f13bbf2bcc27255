"""What can happen in a match: one value for each body an event can have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Generic, TypeAlias

from rollbook.match.chain import Head
from rollbook.rules.game import Choice, Outcome
from rollbook.rules.options import Options


@dataclass(frozen=True, slots=True)
class Terms:
    """What a match asks of its seats and spectators besides the rules; 0 and false ask nothing."""

    turn_seconds: int = 0
    reserve_seconds: int = 0
    """Beyond the turns, for the whole match; 0 without a clock."""
    ready_seconds: int = 0
    """From the closing of the seats; a seat that is not ready by then aborts the match."""
    spectator_delay_seconds: int = 0
    is_private: bool = False
    open_seconds: int = 0
    """Without an event, while seats are free; then the match expires."""
    idle_seconds: int = 0
    """Without an event, once the match has started and if it has no turn clock; then the match expires."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The match exists: what is played, by how many, and the commitment to its secret."""

    match_id: str
    game: str
    ruleset: int
    options: Options
    names: tuple[str, ...]
    """One for each seat. Names lie beside the log, so a match that is read from its bytes alone has empty ones."""
    commitment: bytes
    terms: Terms = Terms()


@dataclass(frozen=True, slots=True)
class SeatTaken:
    """Somebody sits down; the one that fills the last seat closes them all."""

    seat: int
    player: bytes = b""
    """A salted reference to whoever sits there."""
    entropy_commitment: bytes = b""
    """Empty for a seat that brings no entropy."""
    house: bool = False
    """Whether the service says that a bot of its own sits here; the plain form does not tell it."""


@dataclass(frozen=True, slots=True)
class SeatLeft:
    """Somebody gets up again before the seats are closed."""

    seat: int


@dataclass(frozen=True, slots=True)
class Ready:
    """The seat reveals the entropy it brought; empty if it brought none."""

    seat: int
    entropy: bytes = b""
    closing_link: bytes = b""
    """The link of the event that closed the seats, as the seat saw it before it revealed anything."""


@dataclass(frozen=True, slots=True)
class Started:
    """Everybody is ready; the key of the dice is fixed."""


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
    """The service was away; nobody's clock is charged for it."""

    not_charged_ms: int = 0


LOG_LOST: Final = "log_lost"
"""Why a match is aborted whose log is shorter than, or other than, a head that the service signed."""

BY_OPERATOR: Final = "by_operator"
"""Why a match is aborted that an operator ended."""

EXPIRED: Final = "expired"
"""Why a match is aborted in which nobody has done anything for as long as its terms allow."""

NOT_READY: Final = "not_ready"
"""Why a match is aborted in which seats did not get ready in time."""


def not_ready(seats: Iterable[int]) -> str:
    """Why a match is aborted for which these seats did not get ready in time.

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
    """The evidence of a lost log. The plain form does not tell it, so a match that is read from there has none."""


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
