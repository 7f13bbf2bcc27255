"""What a checker is: it looks at all that is observed, and at the end at what is stored, and says what broke."""

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
    """A promise that was broken."""

    checker: str
    sentence: str
    match_id: str = ""

    def __str__(self) -> str:
        """Name and sentence."""
        return f"{self.checker}: {self.sentence}"


@dataclass(frozen=True, slots=True)
class Ending:
    """What there is when a simulation is over."""

    logs: Mapping[str, Sequence[Entry]]
    """By match id everything that the store and the archive hold."""
    tables: Mapping[str, Table]
    """By match id what was to be played."""
    harmed: frozenset[str]
    """Matches whose log lost something that the store had said was durable."""
    calm_at: float
    """When the last thing had gone wrong."""
    refused_as_lost: frozenset[str] = frozenset()
    """Matches of which somebody heard that their log is lost."""
    begun_anew: frozenset[str] = frozenset()
    """Matches that were opened a second time by the same request, because a failover had left nothing of them."""
    stuck: Mapping[str, str] = field(default_factory=dict)
    """By match id what nothing more came of, although nothing went wrong any more."""

    def events(self, match_id: str) -> list[Event]:
        """The events of a match as messages."""
        return [Event.FromString(entry.event) for entry in self.logs.get(match_id, ())]

    def is_lost(self, match_id: str) -> bool:
        """Whether the match has ended as one whose log lost what was told."""
        aborted = self._aborted(match_id)
        return aborted is not None and aborted.reason == ABORT_REASON_LOG_LOST

    def excuses(self, match_id: str) -> bool:
        """Whether something of the match may be missing: its log was harmed, and the service has said so.

        By its seal; or, if somebody ended what was left through a process that knew of no more, by refusing whoever
        kept a head of the rest. A match that was begun anew has nothing left that could have been refused.
        """
        if match_id not in self.harmed:
            return False
        ended_unaware = match_id in self.refused_as_lost and self._aborted(match_id) is not None
        return self.is_lost(match_id) or ended_unaware or match_id in self.begun_anew or not self.logs.get(match_id)

    def _aborted(self, match_id: str) -> Any:
        """Why the match has ended without a result; none if it has not."""
        log = self.logs.get(match_id)
        sealed = Event.FromString(log[-1].event).sealed if log else None
        return sealed.aborted if sealed is not None and sealed.HasField("aborted") else None


class Checker:
    """Holds the service to one promise."""

    name: ClassVar[str]

    def __init__(self) -> None:
        """Nothing has been broken."""
        self.violations: list[Violation] = []

    def look(self, at: float, observation: Observation) -> None:
        """Look at what is observed, at this moment."""

    def conclude(self, ending: Ending) -> None:
        """Look at what is left in the end."""

    def fail(self, sentence: str, match_id: str = "") -> None:
        """Say that the promise was broken."""
        self.violations.append(Violation(self.name, sentence, match_id))


def made_of(message: Any) -> Any:
    """What an answer says that a command made; none for a message that says nothing of that kind."""
    return message.made if "made" in message.DESCRIPTOR.fields_by_name and message.HasField("made") else None
