"""Promises about views: the same table everywhere, every name, every match, and no secret."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from rollbook.match.chain import Entry
from rollbook.match.codec.envelope import read_bytes
from rollbook.match.ledger import Ledger
from rollbook.rules.game import Perspective, Watcher
from rollbook.server.out.projection import view_message
from rollbook.storage.port import Appended
from rollbook.v1.events_pb2 import Event, Private
from rollbook.v1.match_pb2 import MATCH_STATE_OPEN
from rollbook.v1.table_pb2 import PERSPECTIVE_KIND_PUBLIC, PERSPECTIVE_KIND_SEAT
from tests.sim.checkers.checker import Checker, Ending, made_of
from tests.sim.observations import Observation, Told
from tests.sim.store import Attempt

DELAY_SLACK_MS: Final = 1
"""Milliseconds by which a delayed viewer may be early."""


class FoldsEqual(Checker):
    """Every process shows a match at a position as its log folds to."""

    name: ClassVar[str] = "folds equal"

    def __init__(self) -> None:
        """Begin without views."""
        super().__init__()
        self._seen: dict[tuple[str, int, Perspective, bytes], Told] = {}
        self._perspectives: dict[tuple[str, int | None], Perspective] = {}

    def look(self, at: float, observation: Observation) -> None:
        """Remember every view of a table."""
        del at
        if not isinstance(observation, Told) or observation.status:
            return
        message: Any = observation.message
        watch = observation.who, observation.watch
        if observation.method == "GetMatch":
            perspective = _perspective(message.perspective)
            self._note(observation, message.summary.position.sequence, perspective, message.view)
        elif observation.method == "WatchMatch":
            if message.HasField("confirmed"):
                self._perspectives[watch] = _perspective(message.confirmed.perspective)
            elif message.HasField("events"):
                self._note(observation, message.events.head.sequence, self._perspectives[watch], message.events.view)

    def _note(self, told: Told, sequence: int, perspective: Perspective, view: Any) -> None:
        self._seen[told.match_id, sequence, perspective, view.SerializeToString(deterministic=True)] = told

    def conclude(self, ending: Ending) -> None:
        """Fold every log once, and compare it with the views."""
        wanted: dict[str, dict[int, list[tuple[Perspective, bytes, Told]]]] = {}
        for (match_id, sequence, perspective, view), told in self._seen.items():
            wanted.setdefault(match_id, {}).setdefault(sequence, []).append((perspective, view, told))
        for match_id, looks in wanted.items():
            if match_id not in ending.harmed:
                self._compare(match_id, list(ending.logs.get(match_id, ())), looks)

    def _compare(
        self, match_id: str, log: list[Entry], looks: dict[int, list[tuple[Perspective, bytes, Told]]]
    ) -> None:
        ledger: Ledger | None = None
        for sequence, entry in enumerate(log, 1):
            if ledger is None:
                ledger = Ledger.fold(match_id, [entry])
            else:
                ledger.take(read_bytes(entry.event, entry.private, ledger.game))
            for perspective, view, told in looks.get(sequence, ()):
                if view != view_message(ledger, perspective).SerializeToString(deterministic=True):
                    self.fail(f"{told.who} saw another table at event {sequence} by {told.process}", match_id)


class NoSecret(Checker):
    """No client receives the secret, hidden cards, or events within its delay."""

    name: ClassVar[str] = "no secret"

    def __init__(self) -> None:
        """Begin without secrets."""
        super().__init__()
        self._secrets: dict[str, bytes] = {}
        self._sealed_at: dict[str, float] = {}
        self._perspectives: dict[tuple[str, int | None], Perspective] = {}
        self._seats: dict[tuple[str, str], tuple[int, int]] = {}
        """The event of the last taken seat, and the seat, by viewer and match."""
        self._positions: list[tuple[float, Told, int]] = []
        self._shown: dict[str, dict[bytes, list[tuple[Perspective, Told]]]] = {}
        """The answers and frames that showed the hidden part of an event, by match and event."""

    def look(self, at: float, observation: Observation) -> None:
        """Examine every message."""
        if isinstance(observation, Attempt):
            self._remember(at, observation)
        elif isinstance(observation, Told):
            self._check_secret(observation)
            self._check_hidden(observation)
            for sequence in _positions(observation):
                self._positions.append((at, observation, sequence))

    def _remember(self, at: float, attempt: Attempt) -> None:
        if attempt.expected == 0 and isinstance(attempt.result, Appended):
            self._secrets[attempt.match_id] = Private.FromString(attempt.entries[0].private).secret
        if Event.FromString(attempt.entries[-1].event).HasField("sealed") and isinstance(attempt.result, Appended):
            self._sealed_at.setdefault(attempt.match_id, at)

    def _check_secret(self, told: Told) -> None:
        data = told.message.SerializeToString()
        for match_id, secret in self._secrets.items():
            if match_id not in self._sealed_at and secret in data:
                self.fail(f"{told.who} was told the secret of a match that is not over", match_id)

    def _check_hidden(self, told: Told) -> None:
        message: Any = told.message
        if told.status:
            return
        if told.method == "TakeSeat":
            # The seat of the latest TakeSeat, although an earlier answer may be repeated.
            known = self._seats.get((told.who, told.match_id), (0, 0))
            self._seats[told.who, told.match_id] = max(known, (message.made.first, message.seat))
        elif told.method == "WatchMatch":
            watch = told.who, told.watch
            if message.HasField("confirmed"):
                self._perspectives[watch] = _perspective(message.confirmed.perspective)
            self._check_events(told, message.events.events, self._perspectives[watch])
        elif (made := made_of(message)) is not None:
            _, seat = self._seats.get((told.who, told.match_id), (0, Watcher.PUBLIC))
            self._check_events(told, made.events, seat)

    def _check_events(self, told: Told, events: Any, viewer: Perspective) -> None:
        for projected in events:
            if not projected.HasField("hidden"):
                continue
            if viewer is Watcher.PUBLIC:
                sequence = Event.FromString(projected.event).sequence
                self.fail(f"{told.who} has no seat, and was told what event {sequence} hides", told.match_id)
            else:
                self._shown.setdefault(told.match_id, {}).setdefault(projected.event, []).append((viewer, told))

    def conclude(self, ending: Ending) -> None:
        """Compare every position sent to a delayed viewer with the time of its event."""
        for match_id, shown in self._shown.items():
            self._check_insiders(match_id, ending.logs.get(match_id, ()), shown)
        for at, told, sequence in self._positions:
            table = ending.tables.get(told.match_id)
            delay_ms = 0 if table is None else table.terms["spectator_delay_seconds"] * 1_000
            log = ending.logs.get(told.match_id, ())
            if not delay_ms or told.match_id in ending.harmed or sequence > len(log):
                continue
            if self._sealed_at.get(told.match_id, at + 1) <= at:
                continue
            early_ms = Event.FromString(log[sequence - 1].event).time_ms + delay_ms - told.process_ms
            if early_ms > DELAY_SLACK_MS and sequence > _closing(ending.events(told.match_id)):
                who = f"{told.who} was told of event {sequence} by {told.method}"
                self.fail(f"{who} {early_ms} ms before the delay was over", told.match_id)

    def _check_insiders(
        self, match_id: str, log: Sequence[Entry], shown: dict[bytes, list[tuple[Perspective, Told]]]
    ) -> None:
        """Only insiders by the rules may see a hidden part: who draws, who steals, who is robbed."""
        ledger: Ledger | None = None
        for sequence, entry in enumerate(log, 1):
            if ledger is None:
                ledger = Ledger.fold(match_id, [entry])
                continue
            logged = read_bytes(entry.event, entry.private, ledger.game)
            insiders = ledger.visible(logged).insiders
            for viewer, told in shown.get(entry.event, ()):
                if viewer not in insiders:
                    self.fail(f"seat {viewer} was told by {told.method} what event {sequence} hides", match_id)
            ledger.take(logged)


def _closing(events: list[Event]) -> int:
    """The event that closes the seats and begins the delay, or the last event if they never close."""
    taken: set[int] = set()
    for event in events:
        if event.HasField("seat_taken"):
            taken.add(event.seat)
        elif event.HasField("seat_left"):
            taken.discard(event.seat)
        if taken and len(taken) == events[0].opened.seats:
            return event.sequence
    return len(events)


def _positions(told: Told) -> list[int]:
    """The positions that a message reveals to a reader without a seat."""
    message: Any = told.message
    if told.status or told.who.startswith("player"):
        return []
    if told.method == "GetMatch" and message.perspective.kind == PERSPECTIVE_KIND_PUBLIC:
        return [message.summary.position.sequence, message.head.sequence]
    if told.method != "WatchMatch":
        return []
    kind = message.WhichOneof("frame")
    frame = getattr(message, kind)
    if kind in {"confirmed", "events", "heartbeat"}:
        return [frame.head.sequence]
    return [frame.position.sequence] if kind in {"caught_up", "fell_behind"} else []


def _perspective(message: Any) -> Perspective:
    if message.kind == PERSPECTIVE_KIND_SEAT:
        seat: int = message.seat
        return seat
    return Watcher.PUBLIC if message.kind == PERSPECTIVE_KIND_PUBLIC else Watcher.JUDGE


class NamesKept(Checker):
    """Every list finally shows the name that each seated player has chosen."""

    name: ClassVar[str] = "names kept"

    def __init__(self) -> None:
        """Begin without players."""
        super().__init__()
        self._sat: dict[tuple[str, int], tuple[int, str]] = {}
        self._last: dict[tuple[str, str], Told] = {}

    def look(self, at: float, observation: Observation) -> None:
        """Remember each taken seat, and the last view of the match by each process."""
        del at
        if not isinstance(observation, Told) or observation.status:
            return
        message: Any = observation.message
        if observation.method == "TakeSeat":
            known = self._sat.get((observation.match_id, message.seat), (0, ""))
            taken = message.made.first, observation.who
            self._sat[observation.match_id, message.seat] = max(known, taken)
        elif observation.method == "GetMatch":
            self._last[observation.match_id, observation.process] = observation

    def conclude(self, ending: Ending) -> None:
        """Compare the names."""
        for (match_id, process), told in self._last.items():
            summary = told.message.summary  # type: ignore[attr-defined]
            if match_id in ending.harmed or told.asked.at < ending.calm_at or summary.state == MATCH_STATE_OPEN:
                continue
            for number, seat in enumerate(summary.seats):
                sat, name = self._sat.get((match_id, number), (0, ""))
                if seat.taken and name and seat.name != name and _still_sits(ending.events(match_id), number, sat):
                    self.fail(f"{name} on seat {number} is called {seat.name!r} by {process}", match_id)


def _still_sits(events: list[Event], seat: int, since: int) -> bool:
    """Whether the seat was neither left nor taken since that event."""
    later = (event for event in events if event.sequence > since and event.seat == seat)
    return not any(event.HasField("seat_left") or event.HasField("seat_taken") for event in later)


class Found(Checker):
    """Every client finds an open public match, and every list has it until it is over."""

    name: ClassVar[str] = "found"

    def __init__(self) -> None:
        """Begin without matches."""
        super().__init__()
        self._opened: dict[str, float] = {}
        self._sealed_at: dict[str, float] = {}
        self._missed: list[tuple[str, str]] = []
        self._listing: dict[str, tuple[float, set[str]]] = {}

    def look(self, at: float, observation: Observation) -> None:
        """Remember open matches, and those that were not found."""
        if isinstance(observation, Attempt):
            if Event.FromString(observation.entries[-1].event).HasField("sealed"):
                self._sealed_at.setdefault(observation.match_id, at)
        elif isinstance(observation, Told):
            self._look_at(at, observation)

    def _look_at(self, at: float, told: Told) -> None:
        request, message = _any(told.asked.request), _any(told.message)
        if told.method == "OpenMatch" and not told.status and not request.is_private:
            self._opened.setdefault(message.match_id, at)
        elif told.reason == "MATCH_NOT_FOUND" and self._opened.get(told.match_id, at) < told.asked.at:
            self._missed.append((told.match_id, f"{told.who} was told by {told.process} that it does not exist"))
        elif told.method == "ListMatches" and not told.status:
            self._look_at_page(told)

    def _look_at_page(self, told: Told) -> None:
        request, page = _any(told.asked.request), _any(told.message)
        begun, listed = (
            self._listing.get(told.who, (told.asked.at, set()))
            if request.page_token
            else (
                told.asked.at,
                set(),
            )
        )
        listed |= {summary.match_id for summary in page.matches}
        self._listing[told.who] = begun, listed
        if page.next_page_token:
            return
        for match_id, opened_at in self._opened.items():
            if opened_at < begun and match_id not in listed and match_id not in self._sealed_at:
                self._missed.append((match_id, f"{told.who} got a list of {told.process} without it"))

    def conclude(self, ending: Ending) -> None:
        """A match that lost its log may be missing."""
        for match_id, why in self._missed:
            if match_id not in ending.harmed:
                self.fail(why, match_id)


class Isolated(Checker):
    """A broken match affects neither lists nor other matches."""

    name: ClassVar[str] = "isolated"

    def __init__(self) -> None:
        """Begin without refusals."""
        super().__init__()
        self._refused: list[Told] = []

    def look(self, at: float, observation: Observation) -> None:
        """Remember calls refused because of a lost log."""
        del at
        if isinstance(observation, Told) and observation.status in {"DATA_LOSS", "INTERNAL"}:
            self._refused.append(observation)

    def conclude(self, ending: Ending) -> None:
        """Only calls to a harmed match may be refused with DATA_LOSS."""
        for told in self._refused:
            if told.match_id not in ending.harmed and ending.harmed:
                what = f"{told.method} was refused by {told.process} as {told.reason}"
                self.fail(f"{what}, which is true of another match", told.match_id)


class Explained(Checker):
    """Every refusal has a reason, and no client's call is answered with INTERNAL."""

    name: ClassVar[str] = "explained"

    def look(self, at: float, observation: Observation) -> None:
        """Examine every refusal."""
        del at
        if isinstance(observation, Told) and observation.status == "INTERNAL":
            what = f"{observation.method} of {observation.who} by {observation.process}"
            self.fail(f"{what} failed with {observation.reason}", observation.match_id)


def _any(message: Any) -> Any:
    """A message whose type follows from the method."""
    return message


CHECKERS: tuple[type[Checker], ...] = (FoldsEqual, NoSecret, NamesKept, Found, Isolated, Explained)
