"""The base of all checkers: they examine every observation and the final logs, and report broken promises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from rollbook.match.chain import Entry
from rollbook.v1.events_pb2 import ABORT_REASON_LOG_LOST, Event
from tests.sim.observations import Observation
from tests.sim.tables import Table


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken promise."""

    checker: str
    sentence: str
    match_id: str = ""

    def __str__(self) -> str:
        """Return name and sentence."""
        return f"{self.checker}: {self.sentence}"


@dataclass(frozen=True, slots=True)
class Ending:
    """The state at the end of a simulation."""

    logs: Mapping[str, Sequence[Entry]]
    """All entries of store and archive, by match id."""
    tables: Mapping[str, Table]
    """The planned play by match id."""
    harmed: frozenset[str]
    """Matches whose log lost something that the store had confirmed as durable."""
    calm_at: float
    """The time of the last fault."""
    refused_as_lost: frozenset[str] = frozenset()
    """Matches for which a client got DATA_LOSS."""
    begun_anew: frozenset[str] = frozenset()
    """Matches opened a second time by the same request, because a failover had lost the whole first log."""
    stuck: Mapping[str, str] = field(default_factory=dict)
    """Matches without progress after the last fault: the reason by match id."""

    def events(self, match_id: str) -> list[Event]:
        """The events of a match as messages."""
        return [Event.FromString(entry.event) for entry in self.logs.get(match_id, ())]

    def is_lost(self, match_id: str) -> bool:
        """Whether the match was sealed because its log lost delivered events."""
        aborted = self._aborted(match_id)
        return aborted is not None and aborted.reason == ABORT_REASON_LOG_LOST

    def excuses(self, match_id: str) -> bool:
        """Whether events of the match may be missing: its log was harmed, and the service reported that.

        The report is the seal; or, if a process without knowledge of the loss ended the match, the refusal of a client
        that kept a head. A match that was opened again has nothing left to refuse.
        """
        if match_id not in self.harmed:
            return False
        ended_unaware = match_id in self.refused_as_lost and self._aborted(match_id) is not None
        return self.is_lost(match_id) or ended_unaware or match_id in self.begun_anew or not self.logs.get(match_id)

    def _aborted(self, match_id: str) -> Any:
        """The abort of the match, or None."""
        log = self.logs.get(match_id)
        sealed = Event.FromString(log[-1].event).sealed if log else None
        return sealed.aborted if sealed is not None and sealed.HasField("aborted") else None


class Checker:
    """Checks one promise of the service."""

    name: ClassVar[str]

    def __init__(self) -> None:
        """Begin without violations."""
        self.violations: list[Violation] = []

    def look(self, at: float, observation: Observation) -> None:
        """Examine an observation at this time."""

    def conclude(self, ending: Ending) -> None:
        """Examine the final state."""

    def fail(self, sentence: str, match_id: str = "") -> None:
        """Record that the promise was broken."""
        self.violations.append(Violation(self.name, sentence, match_id))


def made_of(message: Any) -> Any:
    """The `made` part of an answer, or None."""
    return message.made if "made" in message.DESCRIPTOR.fields_by_name and message.HasField("made") else None
