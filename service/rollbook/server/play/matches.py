"""Commands on stored matches: read, decide, append, and tell only what is durable.

One command at a time for a match in this process; against other processes the log decides who was first. A retried
command finds the events it made, whatever has happened since; a choice is never decided again for another state.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final

from rollbook.match.chain import Entry, Head, Position, link
from rollbook.match.codec.envelope import Logged, read_bytes
from rollbook.match.decide import Command, Decision, Declined, NotDue, Why, open_match
from rollbook.match.events import Chosen, Event, Opened
from rollbook.match.fold import Misplaced
from rollbook.match.ledger import Ledger, Made
from rollbook.rules.catalogue import find
from rollbook.rules.refusals import Refused
from rollbook.server.play.lost_logs import LostTails, Told
from rollbook.storage.port import (
    Appended,
    AppendResult,
    Conflict,
    Hole,
    LobbyEntry,
    Log,
    OutcomeUnknown,
    StoreUnavailable,
)

MOST_LEDGERS: Final = 2_000
"""Matches kept folded; others are read again when somebody asks."""

PAGE: Final = 1_000
ASKED_AGAIN: Final = 3
"""How often an append is repeated whose outcome is unknown."""


class MatchUnknown(Exception):
    """There is no such match."""


class RequestReused(Exception):
    """The request id has been used for something else."""


class LogLost(Exception):
    """The stored log is shorter than, or other than, what this service has told; nothing is built on it."""

    def __init__(self, match_id: str, known: int, stored: int, kept: Head | None = None) -> None:
        """Keep both heads, and the signed one that a client kept, if it was a client that knew."""
        super().__init__(match_id, known, stored)
        self.match_id = match_id
        self.known = known
        self.stored = stored
        self.kept = kept


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command came to: the events it made, whether now or when it was first asked, and where the match is."""

    made: tuple[Logged, ...]
    ledger: Ledger
    """The match as it is now; read it, and do not change it."""

    @property
    def leads_to(self) -> Position:
        """Behind the last of the events."""
        head, last = self.ledger.head, self.made[-1]
        return head if head.sequence == last.sequence else Position(last.sequence, last.link)


Decide = Callable[[Ledger], Decision]
Summary = Callable[[Ledger], LobbyEntry | None]


class Matches:
    """All matches of a log, with the ones in use kept folded."""

    def __init__(self, log: Log, summary: Summary, lost: LostTails) -> None:
        """Serve the matches of this log; `summary` is what its lobby says of them."""
        self._log = log
        self._summary = summary
        self._lost = lost
        self._ledgers: OrderedDict[str, Ledger] = OrderedDict()
        self._busy: dict[str, tuple[asyncio.Lock, int]] = {}

    async def open(self, opened: Opened, secret: bytes, command: Command) -> Answer:
        """Open a match; the same request again is answered with the match it opened."""
        async with self._one_at_a_time(opened.match_id):
            if self._lost.told(opened.match_id) is not None:
                # Where its log is gone, nothing may take the place of the match.
                return await self._opened_before(opened, command)
            first = open_match(find(opened.game, opened.ruleset), opened, secret, command)
            ledger = Ledger(first)
            for _ in range(ASKED_AGAIN):
                try:
                    result = await self._append(opened.match_id, None, [first], ledger)
                except OutcomeUnknown:
                    continue
                if isinstance(result, Appended):
                    self._keep(opened.match_id, ledger)
                    return Answer((first,), ledger)
                return await self._opened_before(opened, command)
            raise StoreUnavailable("the store does not answer; the same request again is safe")

    async def _opened_before(self, opened: Opened, command: Command) -> Answer:
        ledger = await self._caught_up(opened.match_id, self._ledgers.get(opened.match_id))
        made = ledger.requests.get(command.request)
        before = ledger.opened
        same = (before.game, before.ruleset, before.options, before.terms, len(before.names)) == (
            opened.game,
            opened.ruleset,
            opened.options,
            opened.terms,
            len(opened.names),
        )
        if made is None or made.first != 1 or not same:
            raise RequestReused
        return await self._answer(opened.match_id, ledger, made)

    async def command(
        self,
        match_id: str,
        command: Command,
        decide: Decide,
        asked: Callable[[Logged], bool],
        *,
        not_before_ms: int | None = None,
    ) -> Answer:
        """Carry out a command, once, however often it is sent; decline it if somebody else was faster.

        `asked` says whether an event is the one that this command asks for; it tells a retry from a request id that is
        used for something else.
        """
        async with self._one_at_a_time(match_id):
            ledger = self.known(match_id) or await self._caught_up(match_id, None)
            while (answer := await self._made_before(match_id, ledger, command, asked)) is None:
                try:
                    decision = decide(ledger)
                except (Declined, NotDue, Refused):
                    # Perhaps only this process is behind: what it says no to may be right for the state there is now.
                    newer = await self._caught_up(match_id, ledger)
                    if newer.head == ledger.head:
                        raise
                    ledger = newer
                    continue
                if await self._carried_out(match_id, ledger, decision, not_before_ms):
                    self._keep(match_id, decision.after)
                    return Answer(tuple(decision.entries), decision.after)
                ledger = await self._caught_up(match_id, ledger)
                await self._check_last(match_id, ledger)
                if command.request not in ledger.requests:
                    head = ledger.head.sequence
                    why = f"somebody was faster: the log has gone on to event {head}"
                    raise Declined(Why.POSITION_BEHIND, why, head=head)
            return answer

    async def compare(self, match_id: str, kept: Head) -> None:
        """Raise LogLost, with the match sealed, if the log lacks a head that the service signed and a client kept.

        A head that the service did not sign proves nothing.
        """
        if not self._lost.have_signed(match_id, kept):
            return
        async with self._one_at_a_time(match_id):
            ledger = await self._caught_up(match_id, self._ledgers.get(match_id))
            entries = await self._log.read(match_id, kept.sequence - 1, 1)
            # The entries of a match that is over may be in the archive.
            is_there = link(entries[0].event) == kept.link if entries else kept.sequence <= ledger.head.sequence
            if not is_there:
                raise LogLost(match_id, kept.sequence, ledger.head.sequence, kept)

    def known(self, match_id: str) -> Ledger | None:
        """The match as this process has it, if it does; others may have appended since. Read it, do not change it."""
        return self._ledgers.get(match_id)

    async def ledger(self, match_id: str) -> Ledger:
        """The match as it is now; read it, and do not change it."""
        async with self._one_at_a_time(match_id):
            return await self._caught_up(match_id, self._ledgers.get(match_id))

    async def _made_before(
        self, match_id: str, ledger: Ledger, command: Command, asked: Callable[[Logged], bool]
    ) -> Answer | None:
        made = ledger.requests.get(command.request) if command.request else None
        if made is None:
            return None
        answer = await self._answer(match_id, ledger, made)
        if not asked(answer.made[0]):
            raise RequestReused
        return answer

    async def _answer(self, match_id: str, ledger: Ledger, made: Made) -> Answer:
        count = made.last - made.first + 1
        entries = await self._log.read(match_id, made.first - 1, count)
        if len(entries) < count:
            raise LogLost(match_id, made.last, made.first - 1 + len(entries))
        game = None if made.first == 1 else ledger.game
        return Answer(
            tuple(read_bytes(entry.event, entry.private, game, match_id) for entry in entries),
            ledger,
        )

    async def _carried_out(self, match_id: str, before: Ledger, decision: Decision, not_before_ms: int | None) -> bool:
        """Whether the decision is in the log; false if somebody else was faster."""
        for _ in range(ASKED_AGAIN):
            try:
                result = await self._append(
                    match_id, before, decision.entries, decision.after, not_before_ms=not_before_ms
                )
            except OutcomeUnknown:
                continue
            if isinstance(result, Appended):
                return True
            if isinstance(result, Conflict):
                return await self._is_there(match_id, decision)
            raise NotDue("by the store's clock the time is not out")
        raise StoreUnavailable("the store does not answer; the same request again is safe")

    async def _is_there(self, match_id: str, decision: Decision) -> bool:
        """Whether it was this very decision that was faster, as after an append whose answer was lost."""
        first = decision.entries[0]
        stored = await self._log.read(match_id, first.sequence - 1, len(decision.entries))
        return [entry.event for entry in stored] == [logged.data for logged in decision.entries]

    async def _append(
        self,
        match_id: str,
        before: Ledger | None,
        events: list[Logged],
        after: Ledger,
        *,
        not_before_ms: int | None = None,
    ) -> AppendResult:
        return await self._log.append(
            match_id,
            0 if before is None else before.head.sequence,
            [Entry(logged.data, logged.private) for logged in events],
            behind=None if before is None else before.newest,
            lobby=self._summary(after),
            not_before_ms=not_before_ms,
        )

    async def _caught_up(self, match_id: str, kept: Ledger | None) -> Ledger:
        """The ledger with everything that other processes have appended since, on top of all that was told.

        The last event that is known is read again, because a log that was put back may be as long as before.
        """
        told = self._lost.told(match_id)
        if kept is not None and (told is None or told.position.sequence < kept.head.sequence):
            told = Told(kept.head, kept.match.sealed is not None)
        ledger = kept
        stored = 0 if ledger is None else ledger.head.sequence - 1
        while True:
            try:
                entries = await self._log.read(match_id, stored, PAGE)
            except Hole as hole:
                known = hole.stored if told is None else told.position.sequence
                raise LogLost(match_id, known, hole.stored) from hole
            self._check_told(match_id, told, stored, entries)
            if ledger is None and entries:
                ledger = self._begun(match_id, entries)
            elif ledger is not None:
                ledger = self._continued(match_id, ledger, entries[ledger.head.sequence - stored :])
            stored += len(entries)
            if len(entries) < PAGE:
                break
        if told is not None and await self._lost.falls_short(match_id, told, stored):
            raise LogLost(match_id, told.position.sequence, await self._log.head(match_id))
        if ledger is None:
            raise await self._missing(match_id)
        self._keep(match_id, ledger)
        return ledger

    async def _missing(self, match_id: str) -> MatchUnknown | LogLost:
        """Why there is nothing to read: a match that the lobby lists has had a log."""
        is_listed = await self._log.summary(match_id) is not None
        if is_listed and not await self._log.read(match_id, 0, 1):
            return LogLost(match_id, max(await self._log.head(match_id), 1), 0)
        return MatchUnknown(match_id)

    def _check_told(self, match_id: str, told: Told | None, after: int, entries: list[Entry]) -> None:
        """Whether the last event that was told is among these entries as it was told, if it is among them at all."""
        if told is None or not after < told.position.sequence <= after + len(entries):
            return
        known = told.position.sequence
        if link(entries[known - after - 1].event) != told.position.link:
            raise LogLost(match_id, known, known - 1)

    async def _check_last(self, match_id: str, ledger: Ledger) -> None:
        """Notice a store that counts on from an entry which it does not have any more, so that nothing can follow."""
        known, stored = await self._log.head(match_id), ledger.head.sequence
        if known > stored and not await self._log.read(match_id, stored, 1):
            raise LogLost(match_id, known, stored)

    def _begun(self, match_id: str, entries: list[Entry]) -> Ledger:
        try:
            return Ledger.fold(match_id, entries)
        except (Misplaced, Refused):
            raise LogLost(match_id, len(entries), 0) from None

    def _continued(self, match_id: str, before: Ledger, entries: list[Entry]) -> Ledger:
        """The ledger with these entries behind it; whoever reads the one before goes on seeing that."""
        if not entries:
            return before
        ledger = before.copy()
        try:
            for entry in entries:
                ledger.take(read_bytes(entry.event, entry.private, ledger.game))
        except (Misplaced, Refused):
            raise LogLost(match_id, before.head.sequence, ledger.head.sequence) from None
        return ledger

    def _keep(self, match_id: str, ledger: Ledger) -> None:
        self._lost.tell(match_id, ledger.head, sealed=ledger.match.sealed is not None)
        self._ledgers[match_id] = ledger
        self._ledgers.move_to_end(match_id)
        if len(self._ledgers) > MOST_LEDGERS:
            self._ledgers.popitem(last=False)

    @asynccontextmanager
    async def _one_at_a_time(self, match_id: str) -> AsyncIterator[None]:
        lock, users = self._busy.get(match_id, (asyncio.Lock(), 0))
        self._busy[match_id] = (lock, users + 1)
        try:
            async with lock:
                try:
                    yield
                except LogLost as lost:
                    self._ledgers.pop(match_id, None)
                    await self._lost.seal(match_id, lost.known, lost.stored, lost.kept)
                    raise
        finally:
            lock, users = self._busy[match_id]
            if users == 1:
                del self._busy[match_id]
            else:
                self._busy[match_id] = (lock, users - 1)


def asked_for(event: Event, position: Position | None = None) -> Callable[[Logged], bool]:
    """Whether a stored event is this one, chosen for this position, whatever it was charged."""

    def asked(logged: Logged) -> bool:
        stored = logged.event
        if isinstance(stored, Chosen):
            stored = replace(stored, charged_ms=0)
        return stored == event and (position is None or position == Position(logged.sequence - 1, logged.previous))

    return asked
