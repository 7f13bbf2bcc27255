"""Follows a log from event 1 to its end, recomputes what its events contain, and compares.

The rules come from `rollbook.match`, which every service and every reader of a log uses. A running match accepts dice
and hidden values unchecked; the audit recomputes them from the secret that the seal reveals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Final, TypeAlias

from rollbook.match.chain import genesis, links
from rollbook.match.dice import commitment
from rollbook.match.events import (
    Chosen,
    Event,
    Happened,
    Opened,
    Ready,
    Resigned,
    Sealed,
    SeatLeft,
    SeatTaken,
    Terms,
)
from rollbook.match.fold import MatchFold, Misplaced
from rollbook.match.ledger import Record
from rollbook.replay_file.container import Replay
from rollbook.rules.game import Over, ToChoose
from rollbook.rules.refusals import RefusedByRules
from rollbook.v1 import events_pb2 as proto
from rollbook_replays.audit.divergence import Diverged
from rollbook_replays.audit.draws import Draws, chance_awaited
from rollbook_replays.audit.envelopes import REQUEST_BYTES, taken_off
from rollbook_replays.audit.events import (
    AnyGame,
    Reader,
    check_chain,
    plain_form,
    read_around,
    read_first,
    read_opened,
    reader_of,
    unknown_envelope,
    unknown_rules,
)
from rollbook_replays.audit.verdicts import OF_AN_EVENT, Check, Thrown

NOTHING_HIDDEN: Final = "nothing beside an event that hides nothing"
COMMITMENT_BYTES: Final = 32
SECRET_BYTES: Final = 32

Evidence: TypeAlias = Callable[[int, Event], list[str]]
"""A check of a seal that calls the log lost: returns what is missing to prove it, raises `Diverged` if it is false."""

_COMMANDS: Final = frozenset({Opened, SeatTaken, SeatLeft, Ready, Chosen, Resigned, Sealed})
"""Events that can result from a request; the service writes all others by itself."""


class Course:
    """One log while the audit follows it; its attributes stay usable after `follow` raises `Diverged`."""

    def __init__(self, replay: Replay) -> None:
        """Compute the links; `follow` does the rest."""
        self.links = links(replay.events)
        """The link of every event."""
        self.missing: list[str] = []
        """What a complete check of the log needs and does not have, in words."""
        self.record: Record | None = None
        """The match so far; None until event 1 is read."""
        self.opened_ms = 0
        self.said = proto.Opened()
        """The content of event 1; an empty message until event 1 is read."""
        self._replay = replay
        self._draws: Draws | None = None
        self._requests: set[bytes] = set()

    @property
    def thrown(self) -> tuple[Thrown, ...]:
        """The dice thrown so far."""
        return () if self._draws is None else self._draws.thrown

    def follow(self, evidence: Evidence) -> None:
        """Check the whole log; raises `Diverged` at the first fault."""
        first = self._replay.events[0]
        unknown = unknown_envelope(first)
        if unknown is None:
            self.said = read_opened(first)
            unknown = unknown_rules(first)
            if unknown is None:
                self._follow_the_rules(evidence)
            else:
                self._follow_the_chain()
        if unknown is not None:
            self.missing.append(unknown)
        beyond = min((number for number in self._replay.private if number > len(self.links)), default=None)
        if beyond is not None:
            found = f"something beside event {beyond} of a log that ends with event {len(self.links)}"
            raise Diverged(beyond, Check.HIDDEN, "nothing beside events that are not there", found)

    def _follow_the_rules(self, evidence: Evidence) -> None:
        game, record = self._open()
        self.record = record
        read = reader_of(game)
        self._draws = Draws(game, self._replay, self._committed_secret(read, record.opened))
        taken = self._take_all(record, self._draws, read, evidence)
        if taken < len(self.links):
            self.missing.append(f"what event {taken + 1} hides, without which the rules cannot go on")
            self._read_the_rest(taken, record.time_ms, read)
        if self._draws.withheld:
            self.missing.append(f"what {self._draws.withheld} events hide")
        if record.match.sealed is None:
            self._check_unfinished()

    def _follow_the_chain(self) -> None:
        """Check the chain and the times of a log whose rules this program does not know."""
        before, time_ms = genesis(self._replay.match_id), 0
        for number, data in enumerate(self._replay.events, start=1):
            around = read_around(number, data)
            check_chain(number, around, before)
            _check_time(number, around.time_ms, time_ms)
            before, time_ms = self.links[number - 1], around.time_ms

    def _open(self) -> tuple[AnyGame, Record]:
        game, first = read_first(self._replay.events[0], self._replay.match_id)
        self.opened_ms = first.time_ms
        check_chain(1, first, genesis(self._replay.match_id))
        opened = first.event
        assert isinstance(opened, Opened)  # noqa: S101 - `read_first` reads only `Opened`
        if len(opened.commitment) != COMMITMENT_BYTES:
            expected = f"a commitment of {COMMITMENT_BYTES} bytes"
            raise Diverged(1, Check.COMMITMENT, expected, opened.commitment.hex())
        _check_terms(opened.terms)
        self._check_private(1, opened)
        self._check_request(1, opened, first.request)
        self._requests.add(first.request)
        return game, Record(first)

    def _committed_secret(self, read: Reader, opened: Opened) -> bytes | None:
        """The secret that the last event reveals, or None; raises `Diverged` if event 1 committed to another."""
        last = len(self.links)
        secret = None if last == 1 else read.revealed_secret(last, self._replay.events[-1])
        if secret is not None and (len(secret) != SECRET_BYTES or commitment(secret) != opened.commitment):
            expected = f"the {SECRET_BYTES} bytes that event 1 committed to by {opened.commitment.hex()}"
            found = f"{len(secret)} bytes that make {commitment(secret).hex()}"
            raise Diverged(last, Check.COMMITMENT, expected, found)
        return secret

    def _take_all(self, record: Record, draws: Draws, read: Reader, evidence: Evidence) -> int:
        """Take the events up to the first with an unknown hidden value; return the number of events taken."""
        match = record.match
        while match.sequence < len(self.links):
            if not self._take_next(record, draws, read, evidence):
                break
            if match.started and draws.are_known and not record.clock.turn_ms:
                self._take_moves(record, draws, read)
        return match.sequence

    def _take_moves(self, record: Record, draws: Draws, read: Reader) -> None:
        """Take the following moves, up to the first event that is no move, has an unusual encoding or fails a check.

        This is the fast path for moves, which are nearly all events of a log. `_take_next` then takes the event that
        ended it, or raises `Diverged` for it.
        """
        match, links, private, events = record.match, self.links, self._replay.private, self._replay.events
        time_ms = record.time_ms
        with suppress(Diverged, Misplaced, RefusedByRules):
            for number in range(match.sequence + 1, len(links) + 1):
                usual = taken_off(number, events[number - 1], links[number - 2])
                if usual is None or usual[0] < time_ms:
                    break
                awaited, body = match.awaited, usual[1]
                if isinstance(awaited, ToChoose):
                    event, request = read.known(body), b""
                    if event is None:
                        event, request, _ = read.usual(body)
                    if type(event) is not Chosen or event.charged_ms or number in private:
                        break
                    if request:
                        self._check_request(number, event, request)
                    match.take(event)
                    if request:
                        self._requests.add(request)
                elif isinstance(awaited, Over):
                    break
                else:
                    drawn = draws.draw(match, awaited)
                    happened = read.read_happened(body, drawn)
                    if happened is None or not draws.agrees(number, drawn):
                        break
                    match.take(happened)
                    draws.count(awaited)
                time_ms = usual[0]
        record.note_moves(time_ms, links[match.sequence - 1])

    def _take_next(self, record: Record, draws: Draws, read: Reader, evidence: Evidence) -> bool:
        """Take the next event and return True; return False if it hides an unknown value. Raises `Diverged`."""
        match = record.match
        number = match.sequence + 1
        data, previous, link = self._replay.events[number - 1], self.links[number - 2], self.links[number - 1]
        # An outcome of chance has to be drawn before the event can be compared with it; a choice has not.
        awaited = None if type(match.awaited) is ToChoose else chance_awaited(match)
        drawn = None if awaited is None else draws.draw(match, awaited)
        event, time_ms, request = read(number, data, previous, drawn)
        try:
            if type(event) is Happened:
                is_drawn = drawn is not None and event.outcome is drawn
                if awaited is not None and not (is_drawn and draws.agrees(number, drawn)):
                    seen = read.whole(number, data) if is_drawn else event
                    proved = draws.prove(number, match, awaited, seen, drawn)
                    if proved is None:
                        return False
                    event = proved
                if awaited is not None and drawn is not None:
                    draws.count(awaited)
            else:
                self._check_private(number, event)
                if type(event) is Sealed:
                    self.missing += evidence(number, event)
            if request:
                self._check_request(number, event, request)
            record.take_linked(event, time_ms, link)
        except (Diverged, Misplaced, RefusedByRules):
            seen = read.whole(number, data)
            checks: list[Callable[[], object]] = [
                partial(self._check_move, number, match, draws.again(), seen),
                partial(self._check_private, number, seen),
                partial(evidence, number, seen),
                partial(_check_time, number, time_ms, record.time_ms),
                partial(record.check_around, seen, time_ms),
            ]
            _raise_first(number, seen, match, checks)
            self._check_request(number, seen, request)
            raise  # not reached: one of the checks raises the same fault
        if request:
            self._requests.add(request)
        return True

    def _read_the_rest(self, taken: int, time_ms: int, read: Reader) -> None:
        """Check the events behind an unknown hidden value: form, chain, requests, and that times never fall."""
        for number, data in enumerate(self._replay.events[taken:], start=taken + 1):
            event, event_ms, request = read(number, data, self.links[number - 2])
            self._check_private(number, event)
            _check_time(number, event_ms, time_ms)
            self._check_request(number, event, request)
            self._requests.add(request)
            time_ms = event_ms

    def _check_move(self, number: int, match: MatchFold, draws: Draws, event: Event) -> None:
        """Raise if the match refuses the event, or if its outcome is not the one that follows from the secret."""
        awaited = chance_awaited(match)
        if isinstance(event, Happened) and awaited is not None:
            event = draws.prove(number, match, awaited, event, draws.draw(match, awaited)) or event
        match.copy().take(event)

    def _check_private(self, number: int, event: Event) -> None:
        """Raise `Diverged` if the file has a hidden part for an event other than an outcome of chance."""
        if number in self._replay.private and not isinstance(event, Happened):
            raise Diverged(number, Check.HIDDEN, NOTHING_HIDDEN, "something")

    def _check_request(self, number: int, event: Event, request: bytes) -> None:
        asked = type(event) in _COMMANDS and not (isinstance(event, Chosen) and event.by_caretaker)
        if request and (not asked or len(request) != REQUEST_BYTES or request in self._requests):
            expected = "a request of 16 bytes, once, and only on what somebody can have asked for"
            raise Diverged(number, Check.LIFECYCLE, expected, request.hex())

    def _check_unfinished(self) -> None:
        if self._replay.perspective is None:
            number = len(self.links)
            raise Diverged(number, Check.SEAL, "the seal, since the file says that the match is over", "no seal")
        self.missing.append("the seal: the match is unfinished")


def _check_time(number: int, time_ms: int, before_ms: int) -> None:
    if time_ms < before_ms:
        raise Diverged(number, Check.CLOCKS, f"a time from {before_ms} on", str(time_ms))


def _check_terms(terms: Terms) -> None:
    seconds = (
        terms.turn_seconds,
        terms.reserve_seconds,
        terms.ready_seconds,
        terms.spectator_delay_seconds,
        terms.open_seconds,
        terms.idle_seconds,
    )
    if min(seconds) < 0 or (terms.reserve_seconds and not terms.turn_seconds):
        raise Diverged(1, Check.LIFECYCLE, "seconds that a match can have", str(list(seconds)))


def _raise_first(number: int, event: Event, match: MatchFold, checks: Sequence[Callable[[], object]]) -> None:
    """Run all checks on an event and raise the fault of the earliest step; the checks do not change the match."""
    found: list[Diverged] = []
    for check in checks:
        try:
            check()
        except Diverged as diverged:
            found.append(diverged)
        except (Misplaced, RefusedByRules) as refusal:
            failed = _check_of(refusal, event, match)
            found.append(Diverged(number, failed, str(refusal), plain_form(match.game, event), is_refusal=True))
    if found:
        raise min(found, key=lambda diverged: OF_AN_EVENT.index(diverged.divergence.check)) from None


def _check_of(refusal: Misplaced | RefusedByRules, event: Event, match: MatchFold) -> Check:
    """The check to report for an event that the match or the rules of the game refuse."""
    if isinstance(refusal, Misplaced):
        return Check(refusal.breach.value)
    if isinstance(event, Chosen):
        return Check.CHOICES
    return Check.TURNS if chance_awaited(match) is None else Check.DRAWS
