"""What is seen of a simulation from outside: what was asked, what was told to whom, and what came to the store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from google.protobuf.message import Message

from rollbook.match.chain import Entry
from tests.sim.store import Attempt

AGAIN: Final = ("UNAVAILABLE", "DEADLINE_EXCEEDED")
"""Status codes of calls that are to be repeated."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """Somebody who asks; what they may see of a match is for checkers to find out."""

    name: str
    """The sub of their token, and what they are called at tables."""
    subject: str
    """What the service knows them by."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it left a client; one that is repeated is asked once for each time."""

    viewer: Viewer
    process: str
    at: float
    """In seconds of the simulation."""
    method: str
    match_id: str
    """Also of a match that the request is to open; empty for what is about no match."""
    request: Message


@dataclass(frozen=True, slots=True)
class Told:
    """A message that reached a client: the answer to a call, a frame, or the details of a refusal."""

    asked: Asked
    process_ms: int
    """The latest that the clock of the process had shown when the message left it."""
    message: Message
    watch: int | None = None
    """The number of the watch that it is a frame of."""
    status: str = ""
    """The status code of a refusal."""
    reason: str = ""

    @property
    def who(self) -> str:
        """The name of whoever is told."""
        return self.asked.viewer.name

    @property
    def process(self) -> str:
        """The name of the process that says so."""
        return self.asked.process

    @property
    def method(self) -> str:
        """What was called."""
        return self.asked.method

    @property
    def match_id(self) -> str:
        """Which match it is about."""
        return self.asked.match_id


@dataclass(frozen=True, slots=True)
class Decided:
    """What a process is about to append, whether or not that ever comes to the store."""

    process: str
    match_id: str
    expected: int
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Happened:
    """Something that was done to the service or its store on purpose."""

    what: str
    match_id: str = ""


Observation: TypeAlias = Asked | Told | Decided | Attempt | Happened


@dataclass
class History:
    """Everything that was observed, in order, and whoever looks on."""

    now: Callable[[], float]
    seen: list[tuple[float, Observation]] = field(default_factory=list)
    lookers: list[Callable[[float, Observation], None]] = field(default_factory=list)

    def note(self, observation: Observation) -> None:
        """Remember it, and let everybody look at it."""
        at = self.now()
        self.seen.append((at, observation))
        for look in self.lookers:
            look(at, observation)


def told_line(at: float, observation: Observation) -> str:
    """One line of a trace."""
    match observation:
        case Asked():
            said = f"{observation.viewer.name} asks {observation.method} of {observation.match_id[:6]}"
        case Told():
            is_frame = observation.watch is not None and not observation.status
            kind = observation.message.WhichOneof("frame") if is_frame else ""
            outcome = observation.reason or kind or type(observation.message).__name__
            said = f"{observation.who} hears {outcome} of {observation.match_id[:6]} from {observation.process}"
        case Decided():
            said = f"{observation.process} decides {_numbers(observation)} of {observation.match_id[:6]}"
        case Attempt():
            what = f"{_numbers(observation)} to {observation.match_id[:6]}"
            said = f"{observation.client} appends {what}: {observation.result}"
        case Happened():
            said = f"*** {observation.what} {observation.match_id[:6]}"
    return f"{at:10.4f} {said}"


def _numbers(appended: Decided | Attempt) -> str:
    return f"{appended.expected + 1}..{appended.expected + len(appended.entries)}"
