"""Promises about the log: acknowledged events are in it, no others, and each was decided once."""

from __future__ import annotations

from typing import Any, ClassVar

from rollbook.identity.references import request_hash
from rollbook.match.chain import genesis, link
from rollbook.storage.port import Appended
from rollbook.v1.events_pb2 import Event
from tests.sim.checkers.checker import Checker, Ending, made_of
from tests.sim.observations import AGAIN, Asked, Decided, Observation, Told
from tests.sim.store import Attempt


class Acked(Checker):
    """Every acknowledged event is in the log, and a repeated request always gets the same answer."""

    name: ClassVar[str] = "acked"

    def __init__(self) -> None:
        """Begin without acknowledgements."""
        super().__init__()
        self._acknowledged: dict[tuple[str, int, bytes], str] = {}
        self._answers: dict[tuple[str, str], tuple[int, int]] = {}
        self._messages: dict[tuple[str, str, bytes], bytes] = {}
        self._made_at: dict[bytes, float] = {}
        self._broken: list[tuple[str, str]] = []
        """Match ids with violations that only a harmed log can excuse."""

    def look(self, at: float, observation: Observation) -> None:
        """Remember acknowledged events, and refusals of requests that were already in the log."""
        if isinstance(observation, Attempt):
            request = Event.FromString(observation.entries[0].event).request
            if request and isinstance(observation.result, Appended):
                self._made_at.setdefault(request, at)
        elif isinstance(observation, Told) and observation.status:
            made_at = self._made_at.get(_request_hash(observation.asked), observation.asked.at)
            if made_at < observation.asked.at and not _means_again(observation):
                what = f"{observation.method} of {observation.who}, which is in the log,"
                why = f"{what} was refused by {observation.process} as {observation.reason}"
                self._broken.append((observation.match_id, why))
        elif isinstance(observation, Told):
            self._look_at(observation)

    def _look_at(self, told: Told) -> None:
        made = made_of(told.message)
        if made is None:
            return
        request: Any = told.asked.request
        match_id: str = told.match_id or getattr(told.message, "match_id", "")
        known = self._answers.setdefault((told.who, request.request_id), (made.first, made.last))
        if known != (made.first, made.last):
            said = f"{made.first} to {made.last}, and before that {known[0]} to {known[1]}"
            self._broken.append((match_id, f"the request {request.request_id} was told that it made {said}"))
        answer = told.message.SerializeToString(deterministic=True)
        if answer != self._messages.setdefault((told.who, told.method, request.SerializeToString()), answer):
            self._broken.append((match_id, f"{told.process} answered {request.request_id} otherwise than before"))
        for event in made.events:
            self._acknowledged[match_id, Event.FromString(event.event).sequence, event.event] = told.who

    def conclude(self, ending: Ending) -> None:
        """Compare with the log."""
        for match_id, sentence in self._broken:
            if match_id not in ending.harmed:
                self.fail(sentence, match_id)
        for (match_id, number, data), viewer in self._acknowledged.items():
            log = ending.logs.get(match_id, ())
            if not ending.excuses(match_id) and (number > len(log) or log[number - 1].event != data):
                self.fail(f"event {number} was acknowledged to {viewer}, and is not in the log", match_id)


def _request_hash(asked: Asked) -> bytes:
    """The hash of a request as in the log, or b"" for an observation that is no command."""
    request_id: str = getattr(asked.request, "request_id", "")
    return request_hash(asked.viewer.subject, request_id) if request_id else b""


def _means_again(told: Told) -> bool:
    """Whether a refusal only asks for the same request again."""
    return told.status in AGAIN or told.reason in {"CONTENDED", "SKIPPED"}


class NoPhantom(Checker):
    """Every event in the log was requested, or is one that the service makes by itself."""

    name: ClassVar[str] = "no phantom"

    _ASKED: ClassVar = {"opened", "seat_taken", "seat_left", "ready", "resigned", "chosen"}

    def __init__(self) -> None:
        """Begin without requests."""
        super().__init__()
        self._asked: set[bytes] = set()

    def look(self, at: float, observation: Observation) -> None:
        """Remember the hash of every request."""
        del at
        if isinstance(observation, Asked) and (asked := _request_hash(observation)):
            self._asked.add(asked)

    def conclude(self, ending: Ending) -> None:
        """Find the request of every event that needs one."""
        for match_id in ending.logs:
            request = b""
            for event in ending.events(match_id):
                kind = event.WhichOneof("body")
                asked = kind in self._ASKED and not event.chosen.by_caretaker
                request = event.request
                if (asked or request) and request not in self._asked:
                    self.fail(f"nobody asked for event {event.sequence}, which is {kind}", match_id)


class OneWinner(Checker):
    """Of all appends to one position of a log, exactly one succeeds."""

    name: ClassVar[str] = "one winner"

    def __init__(self) -> None:
        """Begin without appends."""
        super().__init__()
        self._won: dict[tuple[str, int], str] = {}
        self._twice: list[tuple[str, int, str, str]] = []

    def look(self, at: float, observation: Observation) -> None:
        """Remember the successful append of each position."""
        del at
        if not isinstance(observation, Attempt) or not isinstance(observation.result, Appended):
            return
        place = observation.match_id, observation.expected + 1
        if place in self._won:
            self._twice.append((*place, self._won[place], observation.client))
        self._won[place] = observation.client

    def conclude(self, ending: Ending) -> None:
        """A log that lost its end may have positions that are appended again."""
        for match_id, sequence, first, second in self._twice:
            if match_id not in ending.harmed:
                self.fail(f"event {sequence} was appended by {first} and by {second}", match_id)


class Gapless(Checker):
    """The log is numbered from 1 without a gap, each event linked to the previous one; feeds have no gap either."""

    name: ClassVar[str] = "gapless"

    def __init__(self) -> None:
        """Begin without watchers."""
        super().__init__()
        self._begun: dict[tuple[str, int | None], int] = {}
        self._told: dict[tuple[str, int | None], set[int]] = {}

    def look(self, at: float, observation: Observation) -> None:
        """Whenever a watcher has caught up, it has received every event."""
        del at
        if not isinstance(observation, Told) or observation.method != "WatchMatch" or observation.status:
            return
        watch = observation.who, observation.watch
        frame: Any = observation.message
        kind = frame.WhichOneof("frame")
        if kind == "confirmed":
            self._begun[watch], self._told[watch] = frame.confirmed.position.sequence, set()
        elif kind == "events":
            self._told[watch] |= {Event.FromString(told.event).sequence for told in frame.events.events}
        elif kind in {"caught_up", "ended"}:
            end = getattr(frame, kind).position.sequence
            missing = set(range(self._begun[watch] + 1, end + 1)) - self._told[watch]
            if missing:
                who = f"{watch[0]} was told that this is all up to event {end}"
                self.fail(f"{who}, and not event {min(missing)}", observation.match_id)

    def conclude(self, ending: Ending) -> None:
        """Check numbers and links of every log."""
        for match_id, log in ending.logs.items():
            previous = genesis(match_id)
            for number, entry in enumerate(log, 1):
                event = Event.FromString(entry.event)
                if (event.sequence, event.previous) != (number, previous):
                    self.fail(f"event {number} of the log does not follow from the one before", match_id)
                    break
                previous = link(entry.event)


class AtomicCommand(Checker):
    """The events of one command are all in the log or none; the events of an answer came in one append."""

    name: ClassVar[str] = "atomic command"

    def __init__(self) -> None:
        """Begin without appends."""
        super().__init__()
        self._appended: set[tuple[str, int, int]] = set()
        self._commands: dict[tuple[str, tuple[bytes, ...]], None] = {}
        self._divided: list[tuple[str, str]] = []

    def look(self, at: float, observation: Observation) -> None:
        """Remember the events of each command, the appends, and the answers that match none."""
        del at
        if isinstance(observation, Decided):
            self._commands[observation.match_id, tuple(entry.event for entry in observation.entries)] = None
        elif isinstance(observation, Attempt):
            if isinstance(observation.result, Appended):
                match_id = observation.match_id
                self._appended.add((match_id, observation.expected + 1, observation.result.head))
        elif isinstance(observation, Told) and not observation.status:
            self._compare(observation)

    def _compare(self, told: Told) -> None:
        made = made_of(told.message)
        if made is None:
            return
        match_id: str = told.match_id or getattr(told.message, "match_id", "")
        if (match_id, made.first, made.last) not in self._appended:
            why = f"{told.who} was told that events {made.first} to {made.last} were made at once"
            self._divided.append((match_id, why))

    def conclude(self, ending: Ending) -> None:
        """Check that commands are complete; a log that lost its end may have a part of one."""
        for match_id, why in self._divided:
            if match_id not in ending.harmed:
                self.fail(why, match_id)
        stored = {match_id: {entry.event for entry in log} for match_id, log in ending.logs.items()}
        for match_id, events in self._commands:
            there = sum(event in stored.get(match_id, ()) for event in events)
            if there not in {0, len(events)} and match_id not in ending.harmed:
                first = Event.FromString(events[0]).sequence
                self.fail(f"of the {len(events)} events from {first} on {there} are in the log", match_id)


class OneDie(Checker):
    """One decision on one log draws the same outcome in every process."""

    name: ClassVar[str] = "one die"

    def __init__(self) -> None:
        """Begin without draws."""
        super().__init__()
        self._drawn: dict[tuple[str, int, bytes, tuple[bytes, ...]], tuple[bytes, bytes]] = {}

    def look(self, at: float, observation: Observation) -> None:
        """Compare a draw with earlier draws after the same events."""
        del at
        if not isinstance(observation, Decided):
            return
        match_id, before = observation.match_id, Event.FromString(observation.entries[0].event).previous
        bodies: list[bytes] = []
        for entry in observation.entries:
            event = Event.FromString(entry.event)
            body = _body(event)
            if event.WhichOneof("body") == "happened":
                place = match_id, observation.expected, before, tuple(bodies)
                known = self._drawn.setdefault(place, (body, entry.private))
                if known != (body, entry.private):
                    self.fail(f"event {event.sequence} was drawn twice, and differently", match_id)
            bodies.append(body)


def _body(event: Event) -> bytes:
    """The bytes of an event without times, link and request, which differ between processes."""
    plain = Event()
    plain.CopyFrom(event)
    plain.ClearField("time_ms")
    plain.ClearField("previous")
    plain.ClearField("request")
    plain.chosen.ClearField("charged_ms") if plain.HasField("chosen") else None
    plain.timed_out.ClearField("charged_ms") if plain.HasField("timed_out") else None
    return plain.SerializeToString(deterministic=True)


class Sealed(Checker):
    """After the last fault every match is sealed as fast as its clock allows."""

    name: ClassVar[str] = "sealed"

    def conclude(self, ending: Ending) -> None:
        """Report the matches that were not sealed."""
        for match_id, why in ending.stuck.items():
            self.fail(why, match_id)


CHECKERS: tuple[type[Checker], ...] = (Acked, NoPhantom, OneWinner, Gapless, AtomicCommand, OneDie, Sealed)
