"""A log followed from event 1 to its end: whatever its events say is worked out anew and compared.

The rules of the table and of the game are those of `rollbook.match`, which every service and every reader folds by;
what a running match takes on trust, its dice and what they hide, is recomputed from the secret that the seal reveals.
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
"""What is missing to prove that the log was lost, if this event is a seal that says so; `Diverged` if it was not."""

_COMMANDS: Final = frozenset({Opened, SeatTaken, SeatLeft, Ready, Chosen, Resigned, Sealed})
"""What somebody may have asked for; everything else the service does of its own accord."""


class Course:
    """One log as it is followed; what was learnt on the way stays when something turns out to be wrong."""

    def __init__(self, replay: Replay) -> None:
        """Stand before event 1."""
        self.links = links(replay.events)
        """The link of every event."""
        self.missing: list[str] = []
        """What was not there to follow it by."""
        self.record: Record | None = None
        """The match so far; None as long as event 1 has not been read."""
        self.opened_ms = 0
        self.said = proto.Opened()
        """What event 1 says of the match; nothing as long as nobody could read it."""
        self._replay = replay
        self._draws: Draws | None = None
        self._requests: set[bytes] = set()

    @property
    def thrown(self) -> tuple[Thrown, ...]:
        """The dice that were thrown so far."""
        return () if self._draws is None else self._draws.thrown

    def follow(self, evidence: Evidence) -> None:
        """Follow it to its end, or raise `Diverged` at the first thing wrong."""
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
        game, record = self._opened()
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
            self._unfinished()

    def _follow_the_chain(self) -> None:
        """What can be said of a log whose rules nobody here knows."""
        before, time_ms = genesis(self._replay.match_id), 0
        for number, data in enumerate(self._replay.events, start=1):
            around = read_around(number, data)
            check_chain(number, around, before)
            _check_time(number, around.time_ms, time_ms)
            before, time_ms = self.links[number - 1], around.time_ms

    def _opened(self) -> tuple[AnyGame, Record]:
        game, first = read_first(self._replay.events[0], self._replay.match_id)
        self.opened_ms = first.time_ms
        check_chain(1, first, genesis(self._replay.match_id))
        opened = first.event
        assert isinstance(opened, Opened)  # noqa: S101 - `read_first` reads nothing else
        if len(opened.commitment) != COMMITMENT_BYTES:
            expected = f"a commitment of {COMMITMENT_BYTES} bytes"
            raise Diverged(1, Check.COMMITMENT, expected, opened.commitment.hex())
        _check_terms(opened.terms)
        self._check_private(1, opened)
        self._check_request(1, opened, first.request)
        self._requests.add(first.request)
        return game, Record(first)

    def _committed_secret(self, read: Reader, opened: Opened) -> bytes | None:
        """The secret, if the last event reveals one; all draws would be wrong by any but the one committed to."""
        last = len(self.links)
        secret = None if last == 1 else read.revealed_secret(last, self._replay.events[-1])
        if secret is not None and (len(secret) != SECRET_BYTES or commitment(secret) != opened.commitment):
            expected = f"the {SECRET_BYTES} bytes that event 1 committed to by {opened.commitment.hex()}"
            found = f"{len(secret)} bytes that make {commitment(secret).hex()}"
            raise Diverged(last, Check.COMMITMENT, expected, found)
        return secret

    def _take_all(self, record: Record, draws: Draws, read: Reader, evidence: Evidence) -> int:
        """Take every event up to the first that hides what the rules cannot go on without; how many that were."""
        match = record.match
        while match.sequence < len(self.links):
            if not self._take_next(record, draws, read, evidence):
                break
            if match.started and draws.are_known and not record.clock.turn_ms:
                self._take_moves(record, draws, read)
        return match.sequence

    def _take_moves(self, record: Record, draws: Draws, read: Reader) -> None:
        """Take the moves that follow, up to the first event that is something else, looks unusual or is refused.

        Nearly all of a log is moves, so of each is asked only what can be wrong with it; `_take_next` takes that event,
        or says what is wrong.
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
                    drawn = draws.drawn(match, awaited)
                    happened = read.happened(body, drawn)
                    if happened is None or not draws.agrees(number, drawn):
                        break
                    match.take(happened)
                    draws.count(awaited)
                time_ms = usual[0]
        record.note_moves(time_ms, links[match.sequence - 1])

    def _take_next(self, record: Record, draws: Draws, read: Reader, evidence: Evidence) -> bool:
        """Take the next event, or raise `Diverged`; False if it hides what the rules cannot go on without."""
        match = record.match
        number = match.sequence + 1
        data, previous, link = self._replay.events[number - 1], self.links[number - 2], self.links[number - 1]
        # Whoever chooses is known at once; what chance gives has to be drawn before it can be compared.
        awaited = None if type(match.awaited) is ToChoose else chance_awaited(match)
        drawn = None if awaited is None else draws.drawn(match, awaited)
        event, time_ms, request = read(number, data, previous, drawn)
        try:
            if type(event) is Happened:
                is_drawn = drawn is not None and event.outcome is drawn
                if awaited is not None and not (is_drawn and draws.agrees(number, drawn)):
                    seen = read.whole(number, data) if is_drawn else event
                    proved = draws.proved(number, match, awaited, seen, drawn)
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
            raise  # not reached: one of them says what this said
        if request:
            self._requests.add(request)
        return True

    def _read_the_rest(self, taken: int, time_ms: int, read: Reader) -> None:
        """What can be said of events that the rules cannot reach: form, chain, requests, and that time never falls."""
        for number, data in enumerate(self._replay.events[taken:], start=taken + 1):
            event, event_ms, request = read(number, data, self.links[number - 2])
            self._check_private(number, event)
            _check_time(number, event_ms, time_ms)
            self._check_request(number, event, request)
            self._requests.add(request)
            time_ms = event_ms

    def _check_move(self, number: int, match: MatchFold, draws: Draws, event: Event) -> None:
        """Table and rules take the event, and what chance gave in it is what they await."""
        awaited = chance_awaited(match)
        if isinstance(event, Happened) and awaited is not None:
            event = draws.proved(number, match, awaited, event, draws.drawn(match, awaited)) or event
        match.copy().take(event)

    def _check_private(self, number: int, event: Event) -> None:
        """Only what chance gave can hide something."""
        if number in self._replay.private and not isinstance(event, Happened):
            raise Diverged(number, Check.HIDDEN, NOTHING_HIDDEN, "something")

    def _check_request(self, number: int, event: Event, request: bytes) -> None:
        asked = type(event) in _COMMANDS and not (isinstance(event, Chosen) and event.by_caretaker)
        if request and (not asked or len(request) != REQUEST_BYTES or request in self._requests):
            expected = "a request of 16 bytes, once, and only on what somebody can have asked for"
            raise Diverged(number, Check.LIFECYCLE, expected, request.hex())

    def _unfinished(self) -> None:
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
    """Of all that speaks against an event, raise what the first step says; the checks leave the match as it is."""
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
    """Which check an event fails that the rules of the table, or of the game, do not take."""
    if isinstance(refusal, Misplaced):
        return Check(refusal.breach.value)
    if isinstance(event, Chosen):
        return Check.CHOICES
    return Check.TURNS if chance_awaited(match) is None else Check.DRAWS
