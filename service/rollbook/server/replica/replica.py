"""One match in this process, folded once for commands, feeds, lists, looks, downloads and the sweeper.

A durable append of this process extends the replica without being read back. Appends of other processes are read from
the store, compared with the known events, and folded once. A ledger is replaced, never modified, so readers may keep
it. While there are watchers the replica holds all events; otherwise it holds only the ledger, and reads events from the
store.
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
from rollbook.storage.port import Appended, AppendResult, EventLog, Hole, LobbyEntry, LobbyStore

FOLDED_AT_ONCE: Final = 20
"""Events folded between two checks of how long a read has blocked the loop."""


class Replica:
    """A match in this process, from its first use until it is evicted."""

    def __init__(self, match_id: str, log: EventLog, lobby: LobbyStore, lost: LostTails) -> None:
        self.match_id = match_id
        self.commands = asyncio.Lock()
        """Held during a command, so that a match has one command at a time."""
        self.known: Ledger | None = None
        """The current ledger in this process; None before the first read."""
        self.events: list[Visible] | None = None
        """All events while there are watchers; otherwise None."""
        self.failure: Exception | None = None
        """The exception that made the replica fail; a failed replica is replaced by a new one."""
        self.watchers = 0
        self.changed: list[Callable[[], None]] = []
        """Called when there are new events or a failure."""
        self._log = log
        self._lobby = lobby
        self._lost = lost
        self._appending: Decision | None = None
        self._reading = asyncio.Lock()
        self._reads_begun = 0
        self._last_done = 0
        """The number of the last completed read."""

    @property
    def ledger(self) -> Ledger:
        """The current ledger in this process; do not modify it. Raises MatchUnknown before the first read."""
        if self.known is None:
            raise MatchUnknown(self.match_id)
        return self.known

    @property
    def sequence(self) -> int:
        """The number of the last known event; 0 if none is known."""
        return 0 if self.known is None else self.known.match.sequence

    @property
    def reads_all(self) -> bool:
        """Whether the next read begins at event 1: nothing is known, or a watcher needs all events."""
        return self.known is None or (self.watchers > 0 and self.events is None)

    def remove_watcher(self) -> None:
        """Count one watcher less; drop the events after the last one."""
        self.watchers -= 1
        if not self.watchers:
            self.events = None

    # New events

    async def caught_up(self) -> Ledger:
        """Read the current state; concurrent callers share one read that begins after their calls.

        Raises MatchUnknown, Unreadable, StoreUnavailable, and TailLost after the match has been sealed because of the
        loss.
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

    async def take_tail(self, after: int, entries: Sequence[Entry]) -> None:
        """Take the entries after an event; the replica fails if they are lost or unreadable."""
        if self.failure is not None or after > self.sequence:
            return
        try:
            self._take(after, entries)
        except (TailLost, Unreadable) as failure:
            await self.fail(failure)

    async def fail(self, failure: Exception) -> None:
        """End the replica with a failure; after a loss the match is sealed before anyone is notified."""
        if self.failure is not None:
            return
        if isinstance(failure, TailLost):
            await self._lost.seal(self.match_id, failure.known, failure.stored, failure.kept)
        self.failure = failure
        self._notify()

    # Appends of this process

    async def append(self, decision: Decision, lobby: LobbyEntry | None) -> AppendResult:
        """Append a decision, and extend the replica once it is durable; after a conflict nothing is written."""
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
        """Append event 1, unless the log already has events."""
        entry = Entry(first.data, first.private)
        result = await self._log.append(self.match_id, 0, [entry], lobby=lobby)
        if isinstance(result, Appended) and self.known is None:
            self._replace(ledger, [Visible(first)])
        return result

    async def falls_short(self, before: int) -> TailLost | None:
        """TailLost if the store refuses appends after this event because of a hole; None otherwise."""
        stored = self.sequence
        head = await self._log.head(self.match_id)
        try:
            if head > stored and not await self._log.read(self.match_id, stored, 1):
                return TailLost(self.match_id, head, stored)
            if head == before:
                # No other append came first. Events that this process holds may be missing from the store.
                async for _ in pages(self._log, self.match_id):
                    pass
        except Hole as hole:
            return TailLost(self.match_id, head, hole.stored)
        return None

    def _extend(self, decision: Decision) -> None:
        if self.known is decision.before:
            self._replace(decision.after, decision.made)
        else:
            # The store was read meanwhile: take skips the entries already read.
            after = decision.before.head.sequence
            self._take(after, [Entry(logged.data, logged.private) for logged in decision.entries])

    # Earlier events

    async def link_at(self, sequence: int) -> bytes | None:
        """The link of an event; None if there is no such event."""
        if not sequence:
            return genesis(self.match_id)
        if sequence == self.sequence:
            return self.ledger.head.link
        if self.events is not None and sequence < self.sequence:
            return self.events[sequence - 1].logged.link
        entries = await self._log.read(self.match_id, sequence - 1, 1)
        return link(entries[0].event) if entries else None

    async def check_position(self, position: Position, head: int) -> Declined | None:
        """The refusal of a wrong position, for a caller who may see events up to `head`; None if it is right."""
        if position.sequence > head:
            return position_ahead(position, head)
        found = await self.link_at(position.sequence)
        return None if found in {None, position.link} else position_of_another_log(position, head)

    async def as_of(self, until_ms: int, least: int) -> Ledger:
        """The match as of a time, but not before the event `least`."""
        history = History(self.match_id)
        async for _ in self._folding(history, lambda logged: logged.time_ms > until_ms and logged.sequence > least):
            pass
        if history.ledger is None:
            raise MatchUnknown(self.match_id)
        return history.ledger

    async def events_between(self, first: int, last: int) -> list[Visible]:
        """The events of this range, both ends included."""
        if self.events is None:
            entries = await self._log.read(self.match_id, first - 1, last - first + 1)
            if len(entries) <= last - first:
                raise TailLost(self.match_id, last, first - 1 + len(entries))
            if first > 1 and not any(entry.private for entry in entries):
                # Without hidden parts, earlier events are not needed to parse these.
                game = self.ledger.game
                return [Visible(read_bytes(entry.event, entry.private, game)) for entry in entries]
        return [event async for event in self.past(last) if event.logged.sequence >= first]

    async def past(self, last: int) -> AsyncIterator[Visible]:
        """All events up to this one, read in slices.

        A caller that does not keep them leaves nothing for the garbage collector, which would stop the loop.
        """
        if self.events is not None:
            slices = Slices()
            for event in self.events[:last]:
                yield event
                if slices.is_over:
                    await slices.rest()
            return
        async for event in self._folding(History(self.match_id), lambda logged: logged.sequence > last):
            yield event

    async def _folding(self, history: History, ends: Callable[[Logged], bool]) -> AsyncIterator[Visible]:
        """Fold all events before the first one for which `ends` returns true, in slices, and yield them."""
        slices = Slices()
        try:
            async for logged in self._parse_events(history):
                if ends(logged):
                    break
                yield history.take(logged)
                if slices.is_over:
                    await slices.rest()
        finally:
            # A caller that cancels the call pays for the events read so far.
            owe(history.sequence / EVENTS_A_POINT)

    async def _parse_events(self, history: History) -> AsyncIterator[Logged]:
        """The events one by one; `history` is used to parse them, and must take each before the next."""
        if self.events is not None:
            for event in tuple(self.events):
                yield event.logged
            return
        async for entries in pages(self._log, self.match_id):
            for entry in entries:
                yield history.read(entry)

    # Reading

    async def _read_to_the_end(self) -> None:
        """Read new events, and the last known event again, which must be unchanged.

        The length alone would not show a loss: a restored log may be as long as before.
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
        """Read from the last known event on; returns how many events are stored."""
        stored = max(self.sequence - 1, 0)
        while True:
            entries = await self._entries(stored, sent)
            self._take(stored, entries)
            stored += len(entries)
            if len(entries) < PAGE:
                return stored

    async def _begin_anew(self, sent: FurthestSent | None) -> int:
        """Read the log from event 1, and keep its events if there are watchers; returns how many are stored."""
        history, slices = History(self.match_id, keeps_events=self.watchers > 0), Slices()
        while True:
            entries = await self._entries(history.sequence, sent)
            owe(len(entries) / EVENTS_A_POINT)
            for first in range(0, len(entries), FOLDED_AT_ONCE):
                self._fold_entries(history, entries[first : first + FOLDED_AT_ONCE])
                if slices.is_over:
                    await slices.rest()
            # Events appended by this process during the read are stored, but perhaps not read yet.
            if not entries or (len(entries) < PAGE and history.sequence >= self.sequence):
                break
        if history.ledger is not None and history.sequence >= self.sequence:
            self.events = [] if history.keeps_events and self.watchers else None
            self._replace(history.ledger, history.events)
        return history.sequence

    async def _entries(self, after: int, sent: FurthestSent | None) -> list[Entry]:
        """A page of entries after an event; raises TailLost if the last event sent differs or there is a hole."""
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
        """Take the entries after an event; known ones are compared byte for byte and not parsed."""
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
            self._replace(self._fold_entries(history, new), history.events)

    def _has(self, sequence: int, event: bytes) -> bool:
        """Whether this is the known event of that number, as far as this process can compare it."""
        if self.events is not None:
            return self.events[sequence - 1].logged.data == event
        return sequence < self.sequence or self.ledger.newest == event

    def _appended_by(self, entries: Sequence[Entry]) -> Decision | None:
        """The decision that this process is appending, if the entries begin with it, which confirms the append."""
        decision = self._appending
        if decision is None or decision.before is not self.known:
            return None
        mine = [logged.data for logged in decision.entries]
        return decision if mine == [entry.event for entry in entries[: len(mine)]] else None

    def _fold_entries(self, history: History, entries: Sequence[Entry]) -> Ledger:
        """The ledger after these entries, of which there must be at least one; raises TailLost if they do not fit."""
        try:
            for entry in entries:
                history.take(history.read(entry))
        except (Misplaced, RefusedByRules):
            raise TailLost(self.match_id, max(self.sequence, history.sequence), history.sequence) from None
        if history.ledger is None:
            raise MatchUnknown(self.match_id)
        return history.ledger

    def _replace(self, ledger: Ledger, events: Sequence[Visible]) -> None:
        """Replace the ledger after new events and notify."""
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
        """Why there is nothing to read: TailLost if the lobby lists the match, which then had a log."""
        is_listed = await self._lobby.summary(self.match_id) is not None
        if is_listed and not await self._log.read(self.match_id, 0, 1):
            return TailLost(self.match_id, max(await self._log.head(self.match_id), 1), 0)
        return MatchUnknown(self.match_id)
