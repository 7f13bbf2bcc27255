"""One match as this process has it: folded once, for commands, feeds, lists, looks, downloads and the sweeper.

What is appended here extends the replica when it is durable, and is not read back; what others append is read from the
store, checked against what is known, and folded once. A ledger is replaced, never changed: whoever reads one keeps it.
While somebody watches, every event is held; otherwise only the ledger is, and the store is asked for the rest.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final

from rollbook.match.chain import Entry, Position, genesis, link
from rollbook.match.codec.envelope import Logged, read_bytes
from rollbook.match.codec.moves import Unreadable
from rollbook.match.commands import Declined, position_ahead, position_of_another_log
from rollbook.match.decide import Decision
from rollbook.match.fold import Misplaced
from rollbook.match.ledger import Ledger, Visible
from rollbook.rules.refusals import RefusedByRules
from rollbook.server.access.limits import EVENTS_A_POINT, owe
from rollbook.server.failures import MatchUnknown, TailLost
from rollbook.server.replica.history import PAGE, History, pages
from rollbook.server.replica.lost_logs import FurthestSent, LostTails
from rollbook.server.slices import Slices
from rollbook.storage.port import Appended, AppendResult, Hole, LobbyEntry, Log

FOLDED_AT_ONCE: Final = 20
"""Events between two looks at how long a read has kept the loop."""


class Replica:
    """A match in this process, from the first who asks for it until nobody has for long."""

    def __init__(self, match_id: str, log: Log, lost: LostTails) -> None:
        """Know nothing of it yet."""
        self.match_id = match_id
        self.commands = asyncio.Lock()
        """One command at a time."""
        self.known: Ledger | None = None
        """The match as far as this process has it; none before it was read."""
        self.events: list[Visible] | None = None
        """All of it, while somebody watches."""
        self.failure: Exception | None = None
        """Why nothing more will come; a replica that failed is replaced by another."""
        self.watchers = 0
        self.changed: list[Callable[[], None]] = []
        """Who wants to know that there is something new."""
        self._log = log
        self._lost = lost
        self._appending: Decision | None = None
        self._reading = asyncio.Lock()
        self._reads_begun = 0
        self._last_done = 0
        """The number of the last read that came to its end."""

    @property
    def ledger(self) -> Ledger:
        """The match as far as this process has it; read it, and do not change it."""
        if self.known is None:
            raise MatchUnknown(self.match_id)
        return self.known

    @property
    def sequence(self) -> int:
        """The number of the last event that is known; 0 if none is."""
        return 0 if self.known is None else self.known.match.sequence

    @property
    def reads_all(self) -> bool:
        """Whether the next read begins at event 1: nothing is known, or a watcher needs all events."""
        return self.known is None or (self.watchers > 0 and self.events is None)

    def unwatched(self) -> None:
        """Somebody watches no more; for nobody the events are not held."""
        self.watchers -= 1
        if not self.watchers:
            self.events = None

    # What is new

    async def caught_up(self) -> Ledger:
        """The match as it is now; of many who want that at once, one reads for all who were there before.

        Raises MatchUnknown; TailLost, when the match has been sealed for it; Unreadable and StoreUnavailable.
        """
        begun_before = self._reads_begun
        async with self._reading:
            if self.failure is None and self._last_done <= begun_before:
                self._reads_begun += 1
                try:
                    await self._read_to_the_end()
                except (TailLost, Unreadable) as failure:
                    await self.fail(failure)
                else:
                    self._last_done = self._reads_begun
        if self.failure is not None:
            raise self.failure
        return self.ledger

    async def tailed(self, after: int, entries: Sequence[Entry]) -> None:
        """Take what the store has behind an event, or fail over it."""
        if self.failure is not None or after > self.sequence:
            return
        try:
            self._take(after, entries)
        except (TailLost, Unreadable) as failure:
            await self.fail(failure)

    async def fail(self, failure: Exception) -> None:
        """Nothing more will come; a match whose log was lost is sealed before anybody hears of it."""
        if self.failure is not None:
            return
        if isinstance(failure, TailLost):
            await self._lost.seal(self.match_id, failure.known, failure.stored, failure.kept)
        self.failure = failure
        self._notify()

    # What is appended here

    async def append(self, decision: Decision, lobby: LobbyEntry | None) -> AppendResult:
        """Make a decision durable, and only then go on from it; nothing happens if somebody else was faster."""
        before = decision.before
        self._appending = decision
        try:
            result = await self._log.append(
                self.match_id,
                before.head.sequence,
                [Entry(logged.data, logged.private) for logged in decision.entries],
                behind=before.newest,
                lobby=lobby,
                not_before_ms=decision.not_before_ms,
            )
        finally:
            self._appending = None
        if isinstance(result, Appended):
            self._extend(decision)
        return result

    async def open(self, first: Logged, ledger: Ledger, lobby: LobbyEntry | None) -> AppendResult:
        """Begin the match, unless it, or another that looks like it, was begun before."""
        entry = Entry(first.data, first.private)
        result = await self._log.append(self.match_id, 0, [entry], lobby=lobby)
        if isinstance(result, Appended) and self.known is None:
            self._replace(ledger, [Visible(first)])
        return result

    async def falls_short(self, before: int) -> TailLost | None:
        """That the store takes nothing behind this event, because the log has a hole, before it or at its end."""
        stored = self.sequence
        head = await self._log.head(self.match_id)
        try:
            if head > stored and not await self._log.read(self.match_id, stored, 1):
                return TailLost(self.match_id, head, stored)
            if head == before:
                # Nobody was faster. What this process has in memory may be missing from the store.
                async for _ in pages(self._log, self.match_id):
                    pass
        except Hole as hole:
            return TailLost(self.match_id, head, hole.stored)
        return None

    def _extend(self, decision: Decision) -> None:
        if self.known is decision.before:
            self._replace(decision.after, decision.made)
        else:
            # The store was read meanwhile: what it had is known, and what it did not have yet is behind that.
            after = decision.before.head.sequence
            self._take(after, [Entry(logged.data, logged.private) for logged in decision.entries])

    # What was before

    async def link_at(self, sequence: int) -> bytes | None:
        """The link behind an event; none if there is no such event."""
        if not sequence:
            return genesis(self.match_id)
        if sequence == self.sequence:
            return self.ledger.head.link
        if self.events is not None and sequence < self.sequence:
            return self.events[sequence - 1].logged.link
        entries = await self._log.read(self.match_id, sequence - 1, 1)
        return link(entries[0].event) if entries else None

    async def misplaced(self, position: Position, head: int) -> Declined | None:
        """What is wrong with a position, for somebody who may see the match up to this event."""
        if position.sequence > head:
            return position_ahead(position, head)
        found = await self.link_at(position.sequence)
        return None if found in {None, position.link} else position_of_another_log(position, head)

    async def as_of(self, until_ms: int, least: int) -> Ledger:
        """The match as it was at that time, but never before this event."""
        history = await self._history(lambda logged: logged.time_ms > until_ms and logged.sequence > least)
        if history.ledger is None:
            raise MatchUnknown(self.match_id)
        return history.ledger

    async def made(self, first: int, last: int) -> list[Visible]:
        """The events of this range, both ends included."""
        if self.events is None:
            entries = await self._log.read(self.match_id, first - 1, last - first + 1)
            if len(entries) <= last - first:
                raise TailLost(self.match_id, last, first - 1 + len(entries))
            if first > 1 and not any(entry.private for entry in entries):
                # Where nothing is hidden, nothing depends on what was before.
                game = self.ledger.game
                return [Visible(read_bytes(entry.event, entry.private, game)) for entry in entries]
        return (await self.past(last))[first - 1 :]

    async def past(self, last: int) -> list[Visible]:
        """All events up to this one."""
        if self.events is not None:
            return self.events[:last]
        return (await self._history(lambda logged: logged.sequence > last)).events

    async def _history(self, ends: Callable[[Logged], bool]) -> History:
        """The fold of all events before the first for which this holds."""
        history, slices = History(self.match_id, keeps_events=True), Slices()
        async for logged in self._logged(history):
            if ends(logged):
                break
            history.take(logged)
            if slices.is_over:
                await slices.rest()
        owe(history.sequence / EVENTS_A_POINT)
        return history

    async def _logged(self, history: History) -> AsyncIterator[Logged]:
        """The events one by one, as whoever takes them into this history comes to them."""
        if self.events is not None:
            for event in tuple(self.events):
                yield event.logged
            return
        async for entries in pages(self._log, self.match_id):
            for entry in entries:
                yield history.read(entry)

    # Reading

    async def _read_to_the_end(self) -> None:
        """Read what is not known yet, and the last event again: it has to be there, and the same.

        A log that was put back may be as long as before.
        """
        sent = self._lost.furthest_sent(self.match_id)
        if self.known is not None and (sent is None or sent.position.sequence < self.sequence):
            sent = FurthestSent(self.known.head, sealed=self.known.match.sealed is not None)
        begins = self.watchers > 0 and self.events is None
        stored = await (self._begin_anew(sent) if self.reads_all else self._go_on(sent))
        if sent is not None and await self._lost.falls_short(self.match_id, sent, stored):
            raise TailLost(self.match_id, sent.position.sequence, await self._log.head(self.match_id))
        if self.known is None or (begins and self.watchers and self.events is None):
            raise await self._missing()
        self._lost.record_sent(self.match_id, self.known.head, sealed=self.known.match.sealed is not None)

    async def _go_on(self, sent: FurthestSent | None) -> int:
        """Read on from the last event that is known; how many events are stored."""
        stored = max(self.sequence - 1, 0)
        while True:
            entries = await self._entries(stored, sent)
            self._take(stored, entries)
            stored += len(entries)
            if len(entries) < PAGE:
                return stored

    async def _begin_anew(self, sent: FurthestSent | None) -> int:
        """Read the log from event 1, and hold its events if the match has watchers; returns how many are stored."""
        history, slices = History(self.match_id, keeps_events=self.watchers > 0), Slices()
        while True:
            entries = await self._entries(history.sequence, sent)
            owe(len(entries) / EVENTS_A_POINT)
            for first in range(0, len(entries), FOLDED_AT_ONCE):
                self._folded(history, entries[first : first + FOLDED_AT_ONCE])
                if slices.is_over:
                    await slices.rest()
            # What was appended here in the meantime is stored, though perhaps not yet read.
            if not entries or (len(entries) < PAGE and history.sequence >= self.sequence):
                break
        if history.ledger is not None and history.sequence >= self.sequence:
            self.events = [] if history.keeps_events and self.watchers else None
            self._replace(history.ledger, history.events)
        return history.sequence

    async def _entries(self, after: int, sent: FurthestSent | None) -> list[Entry]:
        """What is stored behind an event, in which the last event that was sent has to be unchanged."""
        try:
            entries = await self._log.read(self.match_id, after, PAGE)
        except Hole as hole:
            known = hole.head if sent is None else max(hole.head, sent.position.sequence)
            raise TailLost(self.match_id, known, hole.stored) from hole
        if sent is not None and after < sent.position.sequence <= after + len(entries):
            known = sent.position.sequence
            if link(entries[known - after - 1].event) != sent.position.link:
                raise TailLost(self.match_id, known, known - 1)
        return entries

    def _take(self, after: int, entries: Sequence[Entry]) -> None:
        """Take entries behind an event; those that are known are compared, byte for byte, and passed over unread."""
        known = self.sequence
        for sequence, entry in enumerate(entries[: known - after], after + 1):
            if not self._has(sequence, entry.event):
                raise TailLost(self.match_id, known, sequence - 1)
        new = entries[known - after :]
        if new and (decision := self._appended_by(new)) is not None:
            self._replace(decision.after, decision.made)
            new = new[len(decision.made) :]
        if new:
            history = History(self.match_id, self.known, keeps_events=self.events is not None)
            self._replace(self._folded(history, new), history.events)

    def _has(self, sequence: int, event: bytes) -> bool:
        """Whether this is the event of that number, as far as this process can tell."""
        if self.events is not None:
            return self.events[sequence - 1].logged.data == event
        return sequence < self.sequence or self.ledger.newest == event

    def _appended_by(self, entries: Sequence[Entry]) -> Decision | None:
        """What this process is appending, if the entries begin with it: reading it is as good as an answer."""
        decision = self._appending
        if decision is None or decision.before is not self.known:
            return None
        mine = [logged.data for logged in decision.entries]
        return decision if mine == [entry.event for entry in entries[: len(mine)]] else None

    def _folded(self, history: History, entries: Sequence[Entry]) -> Ledger:
        """The match behind these entries, of which there is at least one."""
        try:
            for entry in entries:
                history.take(history.read(entry))
        except (Misplaced, RefusedByRules):
            raise TailLost(self.match_id, max(self.sequence, history.sequence), history.sequence) from None
        if history.ledger is None:
            raise MatchUnknown(self.match_id)
        return history.ledger

    def _replace(self, ledger: Ledger, events: Sequence[Visible]) -> None:
        """The match has gone on, to this ledger, by these events."""
        ledger.settle()
        self.known = ledger
        if self.events is not None:
            self.events += events
        self._lost.record_sent(self.match_id, ledger.head, sealed=ledger.match.sealed is not None)
        self._notify()

    def _notify(self) -> None:
        for changed in self.changed:
            changed()

    async def _missing(self) -> MatchUnknown | TailLost:
        """Why there is nothing to read: a match that the lobby lists has had a log."""
        is_listed = await self._log.summary(self.match_id) is not None
        if is_listed and not await self._log.read(self.match_id, 0, 1):
            return TailLost(self.match_id, max(await self._log.head(self.match_id), 1), 0)
        return MatchUnknown(self.match_id)
