"""Promises about the log: what is acknowledged is there, nothing else is, and it was decided once."""

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
    """Every event that was acknowledged is in the log; a request that made it gets the same answer again and again."""

    name: ClassVar[str] = "acked"

    def __init__(self) -> None:
        """Nothing has been acknowledged."""
        super().__init__()
        self._acknowledged: dict[tuple[str, int, bytes], str] = {}
        self._answers: dict[tuple[str, str], tuple[int, int]] = {}
        self._messages: dict[tuple[str, str, bytes], bytes] = {}
        self._made_at: dict[bytes, float] = {}
        self._broken: list[tuple[str, str]] = []
        """By match id what cannot be excused but by a log that lost something."""

    def look(self, at: float, observation: Observation) -> None:
        """Remember what an answer acknowledges, and what was refused although it was in the log by then."""
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
        """Find it in the log."""
        for match_id, sentence in self._broken:
            if match_id not in ending.harmed:
                self.fail(sentence, match_id)
        for (match_id, number, data), viewer in self._acknowledged.items():
            log = ending.logs.get(match_id, ())
            if not ending.excuses(match_id) and (number > len(log) or log[number - 1].event != data):
                self.fail(f"event {number} was acknowledged to {viewer}, and is not in the log", match_id)


def _request_hash(asked: Asked) -> bytes:
    """As the log has it; empty for what is no command."""
    request_id: str = getattr(asked.request, "request_id", "")
    return request_hash(asked.viewer.subject, request_id) if request_id else b""


def _means_again(told: Told) -> bool:
    """Whether a refusal only asks for the request to be sent again."""
    return told.status in AGAIN or told.reason in {"CONTENDED", "SKIPPED"}


class NoPhantom(Checker):
    """Nothing is in the log that nobody asked for, but for what the service does by itself."""

    name: ClassVar[str] = "no phantom"

    _ASKED: ClassVar = {"opened", "seat_taken", "seat_left", "ready", "resigned", "chosen"}

    def __init__(self) -> None:
        """Nothing has been asked for."""
        super().__init__()
        self._asked: set[bytes] = set()

    def look(self, at: float, observation: Observation) -> None:
        """Remember what is asked for, as the log knows it."""
        del at
        if isinstance(observation, Asked) and (asked := _request_hash(observation)):
            self._asked.add(asked)

    def conclude(self, ending: Ending) -> None:
        """Look for who asked for every event that somebody must have asked for."""
        for match_id in ending.logs:
            request = b""
            for event in ending.events(match_id):
                kind = event.WhichOneof("body")
                asked = kind in self._ASKED and not event.chosen.by_caretaker
                request = event.request
                if (asked or request) and request not in self._asked:
                    self.fail(f"nobody asked for event {event.sequence}, which is {kind}", match_id)


class OneWinner(Checker):
    """Of all appends to one place of a log exactly one is told that it is there."""

    name: ClassVar[str] = "one winner"

    def __init__(self) -> None:
        """Nobody has won."""
        super().__init__()
        self._won: dict[tuple[str, int], str] = {}
        self._twice: list[tuple[str, int, str, str]] = []

    def look(self, at: float, observation: Observation) -> None:
        """Remember who has won which place."""
        del at
        if not isinstance(observation, Attempt) or not isinstance(observation.result, Appended):
            return
        place = observation.match_id, observation.expected + 1
        if place in self._won:
            self._twice.append((*place, self._won[place], observation.client))
        self._won[place] = observation.client

    def conclude(self, ending: Ending) -> None:
        """A log that lost its end has places that are won again."""
        for match_id, sequence, first, second in self._twice:
            if match_id not in ending.harmed:
                self.fail(f"event {sequence} was appended by {first} and by {second}", match_id)


class Gapless(Checker):
    """The log is numbered from 1 without a gap, each event behind the one before; and so is what a watch tells."""

    name: ClassVar[str] = "gapless"

    def __init__(self) -> None:
        """Nobody watches."""
        super().__init__()
        self._begun: dict[tuple[str, int | None], int] = {}
        self._told: dict[tuple[str, int | None], set[int]] = {}

    def look(self, at: float, observation: Observation) -> None:
        """Whenever a watcher has caught up, it has been told everything."""
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
        """Read every log as a stranger would."""
        for match_id, log in ending.logs.items():
            previous = genesis(match_id)
            for number, entry in enumerate(log, 1):
                event = Event.FromString(entry.event)
                if (event.sequence, event.previous) != (number, previous):
                    self.fail(f"event {number} of the log does not follow from the one before", match_id)
                    break
                previous = link(entry.event)


class AtomicCommand(Checker):
    """Of the events of one command all are in the log, or none; what an answer says was made came in one append."""

    name: ClassVar[str] = "atomic command"

    def __init__(self) -> None:
        """Nothing has been appended."""
        super().__init__()
        self._appended: set[tuple[str, int, int]] = set()
        self._commands: dict[tuple[str, tuple[bytes, ...]], None] = {}
        self._divided: list[tuple[str, str]] = []

    def look(self, at: float, observation: Observation) -> None:
        """Remember what belongs together."""
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
        """Look for all of it; a log that lost its end may have a part of a command."""
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
    """Whoever decides the same on the same log draws the same: what chance gives does not depend on the process."""

    name: ClassVar[str] = "one die"

    def __init__(self) -> None:
        """Nothing has been drawn."""
        super().__init__()
        self._drawn: dict[tuple[str, int, bytes, tuple[bytes, ...]], tuple[bytes, bytes]] = {}

    def look(self, at: float, observation: Observation) -> None:
        """Compare what was drawn with what was drawn behind the same events."""
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
    """What an event says but for times, which differ from process to process."""
    plain = Event()
    plain.CopyFrom(event)
    plain.ClearField("time_ms")
    plain.ClearField("previous")
    plain.ClearField("request")
    plain.chosen.ClearField("charged_ms") if plain.HasField("chosen") else None
    plain.timed_out.ClearField("charged_ms") if plain.HasField("timed_out") else None
    return plain.SerializeToString(deterministic=True)


class Sealed(Checker):
    """Once nothing goes wrong any more, every match comes to its seal as fast as its clock allows."""

    name: ClassVar[str] = "sealed"

    def conclude(self, ending: Ending) -> None:
        """Say which did not."""
        for match_id, why in ending.stuck.items():
            self.fail(why, match_id)


CHECKERS: tuple[type[Checker], ...] = (Acked, NoPhantom, OneWinner, Gapless, AtomicCommand, OneDie, Sealed)
