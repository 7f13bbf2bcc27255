"""Reads logs from the store page by page, and folds them from event 1."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Final

from google.protobuf.message import DecodeError

from rollbook.match.chain import Entry, Position, genesis
from rollbook.match.codec.envelope import Logged, read_bytes
from rollbook.match.codec.moves import Unreadable
from rollbook.match.fold import Misplaced
from rollbook.match.ledger import Ledger, Visible
from rollbook.rules.catalogue import rulesets
from rollbook.rules.refusals import RefusedByRules
from rollbook.server.failures import RulesetUnknown
from rollbook.storage.port import EventLog, Hole
from rollbook.v1.events_pb2 import Event

PAGE: Final = 200
"""Entries read at once; between pages the store and the event loop can do other work."""


async def pages(log: EventLog, match_id: str, after: int = 0) -> AsyncIterator[list[Entry]]:
    """All entries after an event, in pages; the last page is shorter than PAGE, and may be empty."""
    while True:
        entries = await log.read(match_id, after, PAGE)
        yield entries
        if len(entries) < PAGE:
            return
        after += len(entries)


class History:
    """A log as far as it has been folded: its ledger, and, with `keeps_events`, its events."""

    def __init__(self, match_id: str, ledger: Ledger | None = None, *, keeps_events: bool = False) -> None:
        """Begin after a copy of this ledger, or before event 1."""
        self.match_id = match_id
        self.ledger = None if ledger is None else ledger.copy()
        self.events: list[Visible] = []
        self.keeps_events = keeps_events

    @property
    def sequence(self) -> int:
        """The number of the last event; 0 before event 1."""
        return self.head.sequence

    @property
    def head(self) -> Position:
        """The position after the last event."""
        return Position(0, genesis(self.match_id)) if self.ledger is None else self.ledger.head

    def read(self, entry: Entry) -> Logged:
        """Parse the next entry, which is then passed to `take`.

        Raises Unreadable if another version wrote the entry, Misplaced if the bytes are not an event.
        """
        try:
            if self.ledger is not None:
                return read_bytes(entry.event, entry.private, self.ledger.game)
            return read_bytes(entry.event, entry.private, match_id=self.match_id)
        except Unreadable:
            opened = _event(entry).opened
            if self.ledger is not None or (opened.game, opened.ruleset) in {
                (game.name, game.version) for game in rulesets()
            }:
                raise
            raise RulesetUnknown("this server does not have the ruleset of the match") from None

    def take_all(self, entries: Sequence[Entry]) -> None:
        """Parse and take the next entries."""
        for entry in entries:
            self.take(self.read(entry))

    def take(self, logged: Logged) -> Visible:
        """Fold the next event; raises Misplaced, or the game's refusal, if it cannot follow."""
        if self.ledger is None:
            self.ledger = Ledger(logged)
            event = Visible(logged)
        else:
            event = self.ledger.visible(logged)
            self.ledger.take(logged)
        if self.keeps_events:
            self.events.append(event)
        return event


def _event(entry: Entry) -> Event:
    try:
        return Event.FromString(entry.event)
    except DecodeError:
        raise Misplaced("these bytes are no event") from None


async def read_stored(log: EventLog, match_id: str) -> History:
    """What is stored of a match, up to the first inconsistency; raises Unreadable for another version's events."""
    history = History(match_id, keeps_events=True)
    with suppress(Misplaced, RefusedByRules):
        try:
            async for entries in pages(log, match_id):
                history.take_all(entries)
        except Hole as hole:
            history.take_all(await log.read(match_id, history.sequence, hole.stored - history.sequence))
    return history
