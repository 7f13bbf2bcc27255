"""Commands on stored matches: decided on the replica, appended, and answered once they are durable.

This process runs one command per match at a time; between processes the log decides which append came first. A repeated
command finds the events it made. A choice is never decided again for another state.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass
from typing import Final, Self

from rollbook.match.chain import Head, Position
from rollbook.match.codec.envelope import Logged
from rollbook.match.commands import Command, Declined, NotDue, OpenMatch, Origin, Why, answers
from rollbook.match.decide import Decision, decide, open_match
from rollbook.match.ledger import EventRange, Ledger, Visible
from rollbook.rules.refusals import RefusedByRules
from rollbook.server.failures import RequestReused, TailLost
from rollbook.server.lobby.beside import NOTHING, Beside
from rollbook.server.replica.lost_logs import LostTails
from rollbook.server.replica.replica import Replica
from rollbook.server.replica.replicas import Replicas
from rollbook.storage.port import Appended, AppendUnconfirmed, Conflict, EventLog, LobbyEntry, StoreUnavailable

ASKED_AGAIN: Final = 3
"""How often an append with an unknown outcome is repeated."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The events that a command made, now or when it was first sent, and the match's state."""

    made: tuple[Visible, ...]
    ledger: Ledger
    """The current state; do not modify it."""

    @property
    def first(self) -> Logged:
        """The first event."""
        return self.made[0].logged

    @property
    def last(self) -> Logged:
        """The last event."""
        return self.made[-1].logged

    @property
    def leads_to(self) -> Position:
        """The position after the last event."""
        head, last = self.ledger.head, self.last
        return head if head.sequence == last.sequence else Position(last.sequence, last.link)


class _Doubt:
    """Remembers an unconfirmed append, so that a later failure is not reported as "nothing was written"."""

    def __init__(self) -> None:
        self.why: AppendUnconfirmed | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: object, failure: BaseException | None, _where: object) -> None:
        """Raise the unconfirmed append in place of StoreUnavailable, which would mean that nothing was written."""
        if self.why is not None and isinstance(failure, StoreUnavailable):
            raise self.why from failure


class _OneAtATime:
    """Gives one command at a time a match's replica; TailLost ends the replica for all its users."""

    __slots__ = ("_replica", "_used")

    def __init__(self, used: AbstractContextManager[Replica]) -> None:
        """`used` keeps the replica in memory: it is entered before this context, and exited after it."""
        self._used = used

    async def __aenter__(self) -> Replica:
        """Wait for the commands before this one."""
        self._replica = self._used.__enter__()
        try:
            await self._replica.commands.acquire()
        except BaseException:
            self._used.__exit__(None, None, None)
            raise
        return self._replica

    async def __aexit__(self, _kind: object, failure: BaseException | None, _where: object) -> None:
        """Let the next command continue."""
        try:
            if isinstance(failure, TailLost):
                await self._replica.fail(failure)
        finally:
            self._replica.commands.release()
            self._used.__exit__(None, None, None)


Summary = Callable[[Ledger, bytes, Beside], AbstractAsyncContextManager[LobbyEntry | None]]


class Matches:
    """Commands on the matches of a log."""

    def __init__(self, log: EventLog, replicas: Replicas, lost: LostTails, summary: Summary) -> None:
        """`summary` is `StoredLobby.summary`."""
        self._log = log
        self._replicas = replicas
        self._lost = lost
        self._summary = summary

    async def open(self, command: OpenMatch, beside: Beside = NOTHING) -> Answer:
        """Open a match, as a rematch if `beside` says so; a repeated request gets the match it opened."""
        match_id = command.opened.match_id
        async with self._one_at_a_time(match_id) as replica:
            if self._lost.furthest_sent(match_id) is not None:
                # The match existed, so a new log must not replace its lost one.
                return await self._opened_before(replica, command)
            first = open_match(command)
            ledger = Ledger(first)
            with _Doubt() as doubt:
                for _ in range(ASKED_AGAIN):
                    try:
                        async with self._summary(ledger, command.origin.player, beside) as lobby:
                            result = await replica.open(first, ledger, lobby)
                    except AppendUnconfirmed as unknown:
                        doubt.why = unknown
                        continue
                    if isinstance(result, Appended):
                        return Answer((Visible(first),), ledger)
                    return await self._opened_before(replica, command)
                raise StoreUnavailable

    async def carry_out(self, match_id: str, command: Command, beside: Beside = NOTHING) -> Answer:
        """Carry out a command once, however often it is sent; raises Declined if another append came first.

        `beside` belongs to a player who takes a seat.
        """
        async with self._one_at_a_time(match_id) as replica:
            ledger = replica.known or await replica.caught_up()
            while (answer := await self._made_before(replica, ledger, command)) is None:
                try:
                    decision = decide(ledger, command)
                except (Declined, NotDue, RefusedByRules):
                    # This process may lack newer events, with which the command may be valid.
                    newer = await replica.caught_up()
                    if newer.head == ledger.head:
                        raise
                    ledger = newer
                    continue
                if await self._append(replica, decision, command.origin.player, beside):
                    return Answer(tuple(decision.made), decision.after)
                await self._check_overtaken(replica, decision, command)
                ledger = replica.ledger
            return answer

    async def end_lost(self, match_id: str, origin: Origin) -> Answer | None:
        """Seal a lost match after what is stored; None if nothing was stored, and it only leaves the lobby.

        For a match that has been sealed, the answer is its seal.
        """
        async with self._one_at_a_time(match_id):
            history = await self._lost.end(match_id, origin)
            return None if history.ledger is None else Answer(tuple(history.events[-1:]), history.ledger)

    async def compare(self, match_id: str, kept: Head) -> None:
        """Raise TailLost, after sealing the match, if the log lacks a head that a client kept and the service signed.

        A head without the service's signature proves nothing.
        """
        if not self._lost.have_signed(match_id, kept):
            return
        async with self._one_at_a_time(match_id) as replica:
            ledger = await replica.caught_up()
            found = await replica.link_at(kept.sequence)
            # The entries of a finished match may be in the archive.
            is_there = kept.sequence <= ledger.head.sequence if found is None else found == kept.link
            if not is_there:
                raise TailLost(match_id, kept.sequence, ledger.head.sequence, kept)

    async def is_gone(self, match_id: str, kept: Head) -> bool:
        """Whether a match has no log at all although a client has a head of it that the service signed."""
        return self._lost.have_signed(match_id, kept) and not await self._log.head(match_id)

    async def _opened_before(self, replica: Replica, command: OpenMatch) -> Answer:
        ledger = await replica.caught_up()
        made = ledger.made_by(command.origin.request)
        if made is None or made.first != 1:
            raise RequestReused
        return await self._answer(replica, ledger, made, command)

    async def _made_before(self, replica: Replica, ledger: Ledger, command: Command) -> Answer | None:
        made = ledger.made_by(command.origin.request)
        return None if made is None else await self._answer(replica, ledger, made, command)

    async def _answer(self, replica: Replica, ledger: Ledger, made: EventRange, command: Command | OpenMatch) -> Answer:
        answer = Answer(tuple(await replica.events_between(made.first, made.last)), ledger)
        if not answers(answer.first, command):
            raise RequestReused
        return answer

    async def _append(self, replica: Replica, decision: Decision, player: bytes, beside: Beside) -> bool:
        """Whether the decision is in the log; False if another append came first."""
        with _Doubt() as doubt:
            for _ in range(ASKED_AGAIN):
                try:
                    async with self._summary(decision.after, player, beside) as lobby:
                        result = await replica.append(decision, lobby)
                except AppendUnconfirmed as unknown:
                    doubt.why = unknown
                    continue
                if isinstance(result, Appended):
                    return True
                if isinstance(result, Conflict):
                    return await self._is_there(replica, decision)
                raise NotDue("by the store's clock the time is not out")
            raise StoreUnavailable

    async def _is_there(self, replica: Replica, decision: Decision) -> bool:
        """Whether the append that came first was this decision, whose confirmation was lost."""
        last = decision.entries[-1]
        await replica.caught_up()
        return await replica.link_at(last.sequence) == last.link

    async def _check_overtaken(self, replica: Replica, decision: Decision, command: Command) -> None:
        """Raise Declined, unless the append that came first was this command."""
        if (lost := await replica.falls_short(decision.before.head.sequence)) is not None:
            raise lost
        if replica.ledger.made_by(command.origin.request) is None:
            head = replica.sequence
            why = f"another command was faster: the log has gone on to event {head}"
            raise Declined(Why.POSITION_BEHIND, why, head=head)

    def _one_at_a_time(self, match_id: str) -> _OneAtATime:
        return _OneAtATime(self._replicas.use(match_id))
