"""The result of an audit: a verdict, the fault or what is missing, and the facts about the match."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from rollbook.rules.chance import Value
from rollbook.rules.options import OptionValue


class Verdict(StrEnum):
    """The four possible results of an audit."""

    EXACT = "exact"
    """Every check was made and passed."""
    UNVERIFIED = "unverified"
    """No check failed, but something that a check needs is missing."""
    DIVERGED = "diverged"
    """A check failed."""
    UNREADABLE = "unreadable"
    """The file is not a complete replay file, or could not be read."""


class Check(StrEnum):
    """The names of the checks in reports."""

    CONTAINER = "container"
    """Each event has its canonical encoding; header, footer, names and signature of the file are right."""
    CHAIN = "chain"
    """Events have consecutive numbers, and each contains the link of the previous event."""
    COMMITMENT = "commitment"
    """The secret is the one that event 1 committed to."""
    SEAL = "seal"
    """The last event is the seal, and no event follows it."""
    LIFECYCLE = "lifecycle"
    """Every event is allowed at its position: seats, readiness, start, forfeits, the end, requests."""
    TURNS = "turns"
    """Each move came from the awaited seat, or from chance when chance was awaited."""
    CARETAKER = "caretaker"
    """Caretakers chose when they had to, made the prescribed choice, and are marked as caretakers."""
    CHOICES = "choices"
    """Every choice was legal."""
    ENTROPY = "entropy"
    """Each seat reveals the entropy that it committed to, and names the event that took the last free seat."""
    DRAWS = "draws"
    """All throws and draws follow from the secret and the entropy."""
    HIDDEN = "hidden"
    """All hidden values follow from the secret and the entropy."""
    RESULT = "result"
    """The places, or the reason for a match without places, follow from the log."""
    CLOCKS = "clocks"
    """Times never fall, each wait is charged in full, and no seat timed out early."""
    HEADS = "heads"
    """The signed heads, in the file and kept by people, belong to this log."""


OF_AN_EVENT: Final = (
    Check.CONTAINER,
    Check.CHAIN,
    Check.COMMITMENT,
    Check.SEAL,
    Check.LIFECYCLE,
    Check.TURNS,
    Check.CARETAKER,
    Check.CHOICES,
    Check.ENTROPY,
    Check.DRAWS,
    Check.HIDDEN,
    Check.RESULT,
    Check.CLOCKS,
    Check.LIFECYCLE,
)
"""The steps of the check of one event, as `replays/FORMAT.md` numbers them; the last step checks the request."""

BEHIND_THE_EVENTS: Final = (
    Check.SEAL,
    Check.HIDDEN,
    Check.HEADS,
    Check.HEADS,
    Check.CONTAINER,
    Check.CONTAINER,
    Check.CONTAINER,
    Check.CONTAINER,
    Check.CONTAINER,
    Check.CONTAINER,
)
"""The steps after the events, once every event has passed."""


def wrong(expected: str, found: str, *, is_refusal: bool) -> str:
    """A fault as a sentence; for a refusal, `expected` is already a sentence with the reason."""
    return f"{'' if is_refusal else 'expected '}{expected}; found {found}"


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first fault in a file."""

    event: int | None
    """The number of the event; None if the fault is not in an event."""
    check: Check
    expected: str
    found: str
    is_refusal: bool = False
    """Whether `expected` is a sentence with the reason why the rules refuse what was found."""

    @property
    def sentence(self) -> str:
        """The fault as a sentence.

        >>> Divergence(3, Check.CLOCKS, "a time from 20 on", "10").sentence
        'expected a time from 20 on; found 10'
        >>> Divergence(3, Check.CHOICES, "there is no seat 9", "{}", is_refusal=True).sentence
        'there is no seat 9; found {}'
        """
        return wrong(self.expected, self.found, is_refusal=self.is_refusal)


@dataclass(frozen=True, slots=True)
class Thrown:
    """The results of all dice of one kind in a match."""

    faces: tuple[Value, ...]
    """The sides of the die, all equally likely; a face that is on several sides is repeated."""
    times: Mapping[Value, int]
    """Number of results by face."""


@dataclass(frozen=True, slots=True)
class Vouching:
    """The service whose keys signed a file and every head in it, and the ids of these keys."""

    name: str
    head_keys: tuple[str, ...]
    """The distinct ids of the head keys, in the order of the heads."""
    replay_key: str

    def __str__(self) -> str:
        """For a sentence of a report."""
        heads = f"head key{'s' if self.head_keys[1:] else ''} {' and '.join(self.head_keys)}"
        return f"{self.name} ({heads}, replay key {self.replay_key})"

    def facts(self) -> dict[str, Any]:
        """The same as JSON."""
        return {"name": self.name, "head_keys": list(self.head_keys), "replay_key": self.replay_key}


@dataclass(frozen=True, slots=True)
class Audited:
    """The verdict on one file, and the facts about its match, as far as the file could be read."""

    verdict: Verdict
    match_id: str = ""
    divergence: Divergence | None = None
    missing: tuple[str, ...] = ()
    """What a verdict of EXACT needs and the audit lacks, in words; can be non-empty beside a divergence."""
    unreadable: str = ""
    """Why the file cannot be read; empty if it was read."""
    keys: Vouching | None = None
    """The service that vouches for the file; None unless one service owns all of its keys, or after a divergence."""

    game: str = ""
    ruleset: int = 0
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    """The names by seat; empty if the file has none."""
    seats: int = 0
    places: tuple[int, ...] | None = None
    """The places by seat, from the seal; None if the match has no result."""
    aborted: str | None = None
    """The seal's reason for a match without a result; after `not_ready`, a colon and the seats follow."""
    started: bool = False
    """Whether all seats got ready and the match started; before that, no dice are thrown."""
    events: int = 0
    opened_ms: int = 0
    sealed_ms: int | None = None
    """The time of the seal; None if the match is unfinished."""
    thrown: tuple[Thrown, ...] = ()
    """All dice thrown before the divergence, or in the whole match."""
    house: tuple[int, ...] = ()
    """The seats of the service's own bots (the house), as the log names them."""
    seats_with_entropy: tuple[int, ...] = ()
    """The seats that added entropy. Seats of the house do not count, because the service knows their entropy."""
    heads: int = 0
    """Number of heads in the file."""
    kept_heads: int = 0
    """Number of kept heads that belong to this log."""

    @property
    def seats_not_ready(self) -> tuple[int, ...]:
        """The seats that were not ready in time, if the match was aborted for that; else empty."""
        seats = (self.aborted or "").partition(":")[2]
        return tuple(map(int, seats.split(","))) if seats else ()

    @property
    def is_by_secret_alone(self) -> bool:
        """Whether the dice depend on the service's secret alone, which is no proof of fairness against the service."""
        return self.started and not self.seats_with_entropy
