"""What can happen in a match: one value for each body an event can have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeAlias

from rollbook.rules.game import Choice, Outcome
from rollbook.rules.options import Options


@dataclass(frozen=True, slots=True)
class Opened:
    """The match exists: what is played, by how many, and the commitment to its secret."""

    match_id: str
    game: str
    ruleset: int
    options: Options
    names: tuple[str, ...]
    commitment: bytes


@dataclass(frozen=True, slots=True)
class SeatTaken:
    """Somebody sits down; the one that fills the last seat closes them all."""

    seat: int


@dataclass(frozen=True, slots=True)
class SeatLeft:
    """Somebody gets up again before the seats are closed."""

    seat: int


@dataclass(frozen=True, slots=True)
class Ready:
    """The seat reveals the entropy it brought; empty if it brought none."""

    seat: int
    entropy: bytes = b""


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


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The seat's clock has run out; its caretaker chooses for the rest of this turn."""

    seat: int


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


@dataclass(frozen=True, slots=True)
class Sealed:
    """The end: the place of every seat, or why the match was aborted; and the secret."""

    places: tuple[int, ...] | None
    aborted: str | None
    secret: bytes


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
