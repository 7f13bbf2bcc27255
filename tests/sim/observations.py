"""What can be observed of a simulation: requests, messages to clients, and appends to the store."""

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
    """A client; the checkers find out what it may see."""

    name: str
    """The sub of the token, and the name at tables."""
    subject: str
    """The key of the service's subject."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it left a client, once per attempt."""

    viewer: Viewer
    process: str
    at: float
    """In seconds of the simulation."""
    method: str
    match_id: str
    """The match of the request, even if the request opens it; empty for requests without a match."""
    request: Message


@dataclass(frozen=True, slots=True)
class Told:
    """A message that reached a client: the answer to a call, a frame, or the details of a refusal."""

    asked: Asked
    process_ms: int
    """The latest time of the process's clock when the message was sent."""
    message: Message
    watch: int | None = None
    """The number of the watch that the frame belongs to."""
    status: str = ""
    """The status code of a refusal."""
    reason: str = ""

    @property
    def who(self) -> str:
        """The name of the client."""
        return self.asked.viewer.name

    @property
    def process(self) -> str:
        """The name of the process."""
        return self.asked.process

    @property
    def method(self) -> str:
        """The called method."""
        return self.asked.method

    @property
    def match_id(self) -> str:
        """The match that it concerns."""
        return self.asked.match_id


@dataclass(frozen=True, slots=True)
class Decided:
    """Entries that a process is about to append, whether or not they reach the store."""

    process: str
    match_id: str
    expected: int
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Happened:
    """A fault of the service or its store."""

    what: str
    match_id: str = ""


Observation: TypeAlias = Asked | Told | Decided | Attempt | Happened


@dataclass
class History:
    """All observations in order, and the functions that receive each."""

    now: Callable[[], float]
    seen: list[tuple[float, Observation]] = field(default_factory=list)
    lookers: list[Callable[[float, Observation], None]] = field(default_factory=list)

    def note(self, observation: Observation) -> None:
        """Record an observation, and pass it to all lookers."""
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
