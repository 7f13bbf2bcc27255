"""What an audit comes to: a verdict, what diverged or is missing, and what is known of the match."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from rollbook.rules.chance import Value
from rollbook.rules.options import OptionValue


class Verdict(StrEnum):
    """The four ways an audit ends."""

    EXACT = "exact"
    """Every check was made, and everything is as it has to be."""
    UNVERIFIED = "unverified"
    """Nothing is wrong, but something that a check needs is missing."""
    DIVERGED = "diverged"
    """Something is not as it has to be."""
    UNREADABLE = "unreadable"
    """This is no whole replay file."""


class Check(StrEnum):
    """What is checked, by the names that reports use."""

    CONTAINER = "container"
    """Every event's bytes are the only way to write it; the file's signature, and what stands around the events."""
    CHAIN = "chain"
    """Events are numbered without a gap, and each names the link of the one before."""
    COMMITMENT = "commitment"
    """The secret is the one that event 1 committed to."""
    SEAL = "seal"
    """The seal is there, and nothing behind it."""
    LIFECYCLE = "lifecycle"
    """Every event may stand where it stands: seats, readiness, start, forfeits, the end, requests."""
    TURNS = "turns"
    """Whoever acted, chance included, was the one awaited."""
    CARETAKER = "caretaker"
    """Caretakers chose where they had to, what they had to, and are named."""
    CHOICES = "choices"
    """Every choice was legal."""
    ENTROPY = "entropy"
    """Seats reveal what they committed to, for the seats that were closed."""
    DRAWS = "draws"
    """Everything thrown and drawn follows from secret and entropy."""
    HIDDEN = "hidden"
    """So does everything that was hidden."""
    RESULT = "result"
    """The places, or the reason why there are none, follow from the log."""
    CLOCKS = "clocks"
    """Time never falls, waits are charged as long as they were, and nobody timed out early."""
    HEADS = "heads"
    """Signed heads, those in the file and those that people kept, are heads of this log."""


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
"""The steps in which one event is checked, as `replays/FORMAT.md` numbers them; the last one is over its request."""

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
"""And those that follow, once every event has passed."""


def wrong(expected: str, found: str, *, is_refusal: bool) -> str:
    """What is wrong, for people; a refusal says itself why what was found cannot be."""
    return f"{'' if is_refusal else 'expected '}{expected}; found {found}"


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first thing that is not as it has to be."""

    event: int | None
    """None: no event in particular."""
    check: Check
    expected: str
    found: str
    is_refusal: bool = False
    """`expected` is a sentence that says why what was found cannot be."""

    @property
    def sentence(self) -> str:
        """What is wrong, for people.

        >>> Divergence(3, Check.CLOCKS, "a time from 20 on", "10").sentence
        'expected a time from 20 on; found 10'
        >>> Divergence(3, Check.CHOICES, "there is no seat 9", "{}", is_refusal=True).sentence
        'there is no seat 9; found {}'
        """
        return wrong(self.expected, self.found, is_refusal=self.is_refusal)


@dataclass(frozen=True, slots=True)
class Thrown:
    """How dice of one kind fell in a match."""

    faces: tuple[Value, ...]
    """The die, every face as often as it has it, all of them equally likely."""
    times: Mapping[Value, int]
    """By face."""


@dataclass(frozen=True, slots=True)
class Vouching:
    """Whose keys vouch for a file, and which: those of one service that signed the file and every head in it."""

    name: str
    head_keys: tuple[str, ...]
    """Their ids, in the order of the heads, each once."""
    replay_key: str

    def __str__(self) -> str:
        """In one sentence of a report."""
        heads = f"head key{'s' if self.head_keys[1:] else ''} {' and '.join(self.head_keys)}"
        return f"{self.name} ({heads}, replay key {self.replay_key})"

    def facts(self) -> dict[str, Any]:
        """For programs."""
        return {"name": self.name, "head_keys": list(self.head_keys), "replay_key": self.replay_key}


@dataclass(frozen=True, slots=True)
class Audited:
    """The verdict on one file, and what the file tells of its match as far as it could be read."""

    verdict: Verdict
    match_id: str = ""
    divergence: Divergence | None = None
    missing: tuple[str, ...] = ()
    """What a verdict of EXACT needs and is not there, in words; also beside a divergence."""
    unreadable: str = ""
    """Why the file cannot be read; empty if it can."""
    keys: Vouching | None = None
    """Who vouches for the file; None if no one service does with both of its keys, or something diverged."""

    game: str = ""
    ruleset: int = 0
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    """By seat; none at all if the file has none."""
    seats: int = 0
    places: tuple[int, ...] | None = None
    """By seat, as the seal has them; None where there is no result."""
    aborted: str | None = None
    """Why the match has no result, as the seal has it: the reason, and of `not_ready` the seats behind a colon."""
    started: bool = False
    """Whether everybody got ready, so that there were dice."""
    events: int = 0
    opened_ms: int = 0
    sealed_ms: int | None = None
    """None: unfinished."""
    thrown: tuple[Thrown, ...] = ()
    """All dice that were thrown before anything diverged."""
    house: tuple[int, ...] = ()
    """The seats in which bots of the house sat, as the service says."""
    seats_with_entropy: tuple[int, ...] = ()
    """The seats that brought entropy. Those of the house do not count: what they bring the service knows."""
    heads: int = 0
    """How many heads the file has."""
    kept_heads: int = 0
    """How many heads that people kept are heads of this log."""

    @property
    def seats_not_ready(self) -> tuple[int, ...]:
        """The seats for which the match was aborted, because they did not get ready in time."""
        seats = (self.aborted or "").partition(":")[2]
        return tuple(map(int, seats.split(","))) if seats else ()

    @property
    def is_by_secret_alone(self) -> bool:
        """Whether nobody but the service had a share in the dice: they are not fair to anybody who distrusts it."""
        return self.started and not self.seats_with_entropy
