"""A log followed from event 1 to its end: whatever its events say is worked out anew and compared.

The rules of the table and of the game are those of `rollbook.match`, which every service and every reader folds by;
what a running match takes on trust, its dice and what they hide, is recomputed from the secret that the seal reveals.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from google.protobuf.message import DecodeError

from rollbook.match.envelope import Logged
from rollbook.match.events import Chosen, Event, Happened, Opened, Ready, Resigned, Sealed, SeatLeft, SeatTaken
from rollbook.match.fairness import commitment, genesis, link
from rollbook.match.fold import Misplaced
from rollbook.match.ledger import Record
from rollbook.match.vocabulary import is_hidden
from rollbook.rules.refusals import Refused
from rollbook_replays.container import Replay
from rollbook_replays.diverging import Diverged
from rollbook_replays.draws import Draws, chance_awaited
from rollbook_replays.reading import AnyGame, read_event, read_first, revealed_secret, told, unknown_rules
from rollbook_replays.verdicts import Check, Thrown

REQUEST_BYTES: Final = 16

_COMMANDS: Final = frozenset({Opened, SeatTaken, SeatLeft, Ready, Chosen, Resigned, Sealed})
"""What somebody may have asked for; everything else the service does of its own accord."""


class Course:
    """One log as it is followed; what was learnt on the way stays when something turns out to be wrong."""

    def __init__(self, replay: Replay) -> None:
        """Stand before event 1."""
        self.links = [link(data) for data in replay.events]
        """The link of every event."""
        self.missing: list[str] = []
        """What was not there to follow it by."""
        self.record: Record | None = None
        """The match so far; None as long as event 1 has not been read."""
        self.opened_ms = 0
        self._replay = replay
        self._draws: Draws | None = None
        self._requests: set[bytes] = set()

    @property
    def thrown(self) -> tuple[Thrown, ...]:
        """The dice that were thrown so far."""
        return () if self._draws is None else self._draws.thrown

    def follow(self) -> None:
        """Follow it to its end, or raise `Diverged` at the first thing wrong."""
        unknown = self._unknown_rules()
        if unknown is not None:
            self.missing.append(unknown)
            return
        game, record = self._opened()
        self.record = record
        self._draws = Draws(game, self._replay, self._committed_secret(record.opened))
        events = enumerate(self._replay.events[1:], start=2)
        for number, data in events:
            if not self._take(game, record, self._draws, self._read(game, number, data)):
                self.missing.append(f"what event {number} hides, without which the rules cannot go on")
                break
        for number, data in events:
            self._read(game, number, data)
        if self._draws.withheld:
            self.missing.append(f"what {self._draws.withheld} events hide")
        if record.match.sealed is None:
            self._unfinished()

    def _unknown_rules(self) -> str | None:
        try:
            return unknown_rules(self._replay.events[0])
        except DecodeError:
            raise Diverged(1, Check.CONTAINER, "an event", "bytes that are none") from None

    def _opened(self) -> tuple[AnyGame, Record]:
        game, first = read_first(self._replay.events[0], self._replay.match_id)
        self.opened_ms = first.time_ms
        self._check_chain(1, first, genesis(self._replay.match_id))
        self._check_around(1, first)
        try:
            record = Record(first)
        except Misplaced as misplaced:
            raise Diverged(1, Check(misplaced.breach.value), str(misplaced), "event 1") from None
        terms = record.opened.terms
        seconds = (terms.turn_seconds, terms.reserve_seconds, terms.ready_seconds, terms.spectator_delay_seconds)
        if min(seconds) < 0 or (terms.reserve_seconds and not terms.turn_seconds):
            raise Diverged(1, Check.LIFECYCLE, "seconds that a match can have", str(list(seconds)))
        return game, record

    def _committed_secret(self, opened: Opened) -> bytes | None:
        """The secret, if the last event reveals one; all draws would be wrong by any but the one committed to."""
        secret = revealed_secret(self._replay.events[-1])
        if secret is not None and commitment(secret) != opened.commitment:
            expected = f"the secret that event 1 committed to by {opened.commitment.hex()}"
            found = f"one that makes {commitment(secret).hex()}"
            raise Diverged(len(self.links), Check.COMMITMENT, expected, found)
        return secret

    def _read(self, game: AnyGame, number: int, data: bytes) -> Logged:
        logged = read_event(number, data, game)
        self._check_chain(number, logged, self.links[number - 2])
        self._check_around(number, logged)
        return logged

    def _take(self, game: AnyGame, record: Record, draws: Draws, logged: Logged) -> bool:
        """Take one event; not, where it hides what the rules cannot go on without."""
        number, event = logged.sequence, logged.event
        if isinstance(event, Happened) and (awaited := chance_awaited(record.match)) is not None:
            event = draws.proved(number, record.match, awaited, event)
            if is_hidden(event.outcome):
                return False
            logged = replace(logged, event=event)
        try:
            record.take(logged)
        except Misplaced as misplaced:
            raise Diverged(number, Check(misplaced.breach.value), str(misplaced), told(game, event)) from None
        except Refused as refused:
            raise Diverged(number, _refused(record, event), str(refused), told(game, event)) from None
        return True

    def _check_chain(self, number: int, logged: Logged, before: bytes) -> None:
        if (logged.sequence, logged.previous) != (number, before):
            expected = f"event {number} behind {before.hex()}"
            raise Diverged(number, Check.CHAIN, expected, f"event {logged.sequence} behind {logged.previous.hex()}")

    def _check_around(self, number: int, logged: Logged) -> None:
        event = logged.event
        if number in self._replay.beside and not isinstance(event, Happened):
            raise Diverged(number, Check.HIDDEN, "nothing beside an event that hides nothing", "something")
        if not logged.request:
            return
        asked = type(event) in _COMMANDS and not (isinstance(event, Chosen) and event.by_caretaker)
        if not asked or len(logged.request) != REQUEST_BYTES or logged.request in self._requests:
            expected = "a request of 16 bytes, once, and only on what somebody can have asked for"
            raise Diverged(number, Check.LIFECYCLE, expected, logged.request.hex())
        self._requests.add(logged.request)

    def _unfinished(self) -> None:
        if self._replay.perspective is None:
            number = len(self.links)
            raise Diverged(number, Check.SEAL, "the seal, since the file says that the match is over", "no seal")
        self.missing.append("the seal: the match is unfinished")


def _refused(record: Record, event: Event) -> Check:
    if isinstance(event, Chosen):
        return Check.CHOICES
    return Check.TURNS if chance_awaited(record.match) is None else Check.DRAWS
