"""Promises of the feeds: events come in order, once, from any position, with the same bytes for all watchers."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from rollbook.v1.events_pb2 import Event
from rollbook.v1.feed_pb2 import END_REASON_MATCH_OVER
from tests.sim.checkers.checker import Checker, Ending
from tests.sim.observations import Observation, Told

Watch = tuple[str, int | None]

CATCHING_UP_SECONDS: Final = 10.0
"""Within this time an undisturbed watcher must have caught up."""


def frame_of(observation: Observation) -> Any:
    """The observed frame of a match feed, or None for any other observation."""
    if isinstance(observation, Told) and observation.method == "WatchMatch" and not observation.status:
        return observation.message
    return None


class Ordered(Checker):
    """A feed sends events in ascending order."""

    name: ClassVar[str] = "ordered"

    def __init__(self) -> None:
        """Begin without events."""
        super().__init__()
        self._last: dict[Watch, int] = {}

    def look(self, at: float, observation: Observation) -> None:
        """Compare every event with the previous one."""
        del at
        frame = frame_of(observation)
        if frame is None or frame.WhichOneof("frame") != "events":
            return
        assert isinstance(observation, Told)
        watch = observation.who, observation.watch
        for told in frame.events.events:
            number = Event.FromString(told.event).sequence
            last = self._last.get(watch, 0)
            if number < last:
                self.fail(f"{watch[0]} was told event {number} behind event {last}", observation.match_id)
            self._last[watch] = number


class Unique(Checker):
    """A feed sends every event once, and none that its watcher already has."""

    name: ClassVar[str] = "unique"

    def __init__(self) -> None:
        """Begin without events."""
        super().__init__()
        self._told: dict[Watch, set[int]] = {}
        self._begun: dict[Watch, int] = {}

    def look(self, at: float, observation: Observation) -> None:
        """Check that the event was not sent before."""
        del at
        frame = frame_of(observation)
        if frame is None:
            return
        assert isinstance(observation, Told)
        watch = observation.who, observation.watch
        if frame.WhichOneof("frame") == "confirmed":
            self._begun[watch] = frame.confirmed.position.sequence
        for told in frame.events.events:
            number = Event.FromString(told.event).sequence
            known = self._told.setdefault(watch, set())
            if number in known or number <= self._begun.get(watch, 0):
                self.fail(f"{watch[0]} was told event {number} twice", observation.match_id)
            known.add(number)


class Resumable(Checker):
    """A feed resumes from every position that its watcher received, at any process."""

    name: ClassVar[str] = "resumable"

    def __init__(self) -> None:
        """Begin without refusals."""
        super().__init__()
        self._refused: list[Told] = []

    def look(self, at: float, observation: Observation) -> None:
        """Remember refusals, and check that a feed begins at the requested position."""
        del at
        if not isinstance(observation, Told) or observation.method != "WatchMatch":
            return
        if observation.status in {"OUT_OF_RANGE", "DATA_LOSS", "INVALID_ARGUMENT"}:
            self._refused.append(observation)
        frame: Any = frame_of(observation)
        asked: Any = observation.asked.request
        if frame is not None and frame.WhichOneof("frame") == "confirmed":
            served = frame.confirmed.position.sequence
            if served != asked.position.sequence:
                who = observation.who
                self.fail(f"{who} asked to go on behind {asked.position.sequence}, and got {served}")

    def conclude(self, ending: Ending) -> None:
        """Refusals are right for logs that lost events, and for delayed viewers.

        The past of a delayed viewer depends on the process's clock.
        """
        for told in self._refused:
            table = ending.tables.get(told.match_id)
            delayed = table is not None and table.terms["spectator_delay_seconds"]
            if told.match_id not in ending.harmed and not delayed:
                asked: Any = told.asked.request
                where = f"event {asked.position.sequence}, which it had been told"
                self.fail(f"{told.who} could not go on behind {where}: {told.reason}", told.match_id)


class CaughtUp(Checker):
    """An undisturbed watcher soon gets `caught_up`, at the right position, and always before the end."""

    name: ClassVar[str] = "caught up"

    def __init__(self) -> None:
        """Begin without watchers."""
        super().__init__()
        self._begun: dict[Watch, tuple[float, str]] = {}
        self._last_heard: dict[Watch, float] = {}
        self._caught_up: set[Watch] = set()
        self._at: dict[Watch, int] = {}

    def look(self, at: float, observation: Observation) -> None:
        """Follow every watch."""
        frame = frame_of(observation)
        if frame is None:
            return
        assert isinstance(observation, Told)
        watch = observation.who, observation.watch
        self._last_heard[watch] = at
        kind = frame.WhichOneof("frame")
        if kind == "confirmed":
            self._begun[watch] = observation.asked.at, observation.match_id
            self._at[watch] = frame.confirmed.position.sequence
        elif kind == "events":
            self._at[watch] = frame.events.head.sequence
        elif kind == "caught_up":
            self._caught_up.add(watch)
            if frame.caught_up.position.sequence != self._at[watch]:
                at_event = f"event {frame.caught_up.position.sequence}, being at event {self._at[watch]}"
                self.fail(f"{watch[0]} was told that it had caught up with {at_event}", observation.match_id)
        elif kind == "ended" and frame.ended.reason == END_REASON_MATCH_OVER and watch not in self._caught_up:
            self.fail(f"{watch[0]} was told of the end without having caught up", observation.match_id)

    def conclude(self, ending: Ending) -> None:
        """Find watchers that waited too long."""
        for watch, (begun, match_id) in self._begun.items():
            waited = self._last_heard[watch] - max(begun, ending.calm_at)
            if watch not in self._caught_up and waited > CATCHING_UP_SECONDS:
                self.fail(f"{watch[0]} has watched for {waited:.0f} s, and has not caught up", match_id)


class SameBytes(Checker):
    """Events sent live equal those sent later by any process, and those stored and archived."""

    name: ClassVar[str] = "same bytes"

    def __init__(self) -> None:
        """Begin without events."""
        super().__init__()
        self._told: dict[tuple[str, int, bytes], str] = {}

    def look(self, at: float, observation: Observation) -> None:
        """Remember every event of every feed."""
        del at
        frame = frame_of(observation)
        if frame is None:
            return
        assert isinstance(observation, Told)
        for told in frame.events.events:
            number = Event.FromString(told.event).sequence
            self._told[observation.match_id, number, told.event] = observation.who

    def conclude(self, ending: Ending) -> None:
        """Compare the events with the log."""
        for (match_id, number, data), viewer in self._told.items():
            log = ending.logs.get(match_id, ())
            if not ending.excuses(match_id) and (number > len(log) or log[number - 1].event != data):
                self.fail(f"{viewer} was told another event {number} than the log has", match_id)


CHECKERS: tuple[type[Checker], ...] = (Ordered, Unique, Resumable, CaughtUp, SameBytes)
