"""Planted bugs: each breaks one promise, to prove that its checker detects it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Final
from unittest import mock

from rollbook.match.chain import Entry
from rollbook.match.commands import Resign
from rollbook.match.dice import Dice
from rollbook.rules.game import Watcher
from rollbook.server.out.projection import made_message
from rollbook.server.play.matches import Matches
from rollbook.server.rpc import play
from rollbook.server.timers.sweeper import Sweeper
from rollbook.storage.port import Appended, AppendResult
from rollbook.v1.events_pb2 import Event, Private
from rollbook.v1.refusals_pb2 import RefusalDetail
from rollbook.v1.table_pb2 import PERSPECTIVE_KIND_PUBLIC
from tests.sim.faults import Fault
from tests.sim.process import Process, Refused, running_process
from tests.sim.store import Store
from tests.sim.world import Made


class OtherTime(Process):
    """Acknowledges an event with another time than the stored one."""

    def says(self, method: str, message: Any) -> Any:
        """Change the event of a choice."""
        if method == "Choose":
            message.made.events[0].event = _later(message.made.events[0].event)
        return message


class OtherRequest(Process):
    """Appends a choice with a request id that no client sent."""

    def hears(self, method: str, request: Any) -> Any:
        """Change the request id, alike for all ways of sending the same choice."""
        if method in {"Choose", "Play"}:
            request.request_id = f"own-{request.request_id}"
        return request


class TellsBothThatTheyWon(Store):
    """Reports success for an append of entries that are already stored."""

    def append(self, client: str, match_id: str, expected: int, entries: Sequence[Entry], **terms: Any) -> AppendResult:
        """Append once, and report success every time."""
        stream = self.log._streams.get(match_id)
        if stream is not None and stream.entries[expected : expected + len(entries)] == list(entries):
            result = Appended(expected + len(entries))
            self.witness(client, match_id, expected, entries, result)
            return result
        return super().append(client, match_id, expected, entries, **terms)


class LeavesOut(Process):
    """Leaves an event out of a frame."""

    def says(self, method: str, message: Any) -> Any:
        """Drop an event that is not the last."""
        told = _events(method, message)
        if len(told) > 1 and Event.FromString(told[0].event).HasField("chosen"):
            del told[0]
        return message


class InTwoParts(Store):
    """Appends a command in two parts, one right after the other."""

    def append(self, client: str, match_id: str, expected: int, entries: Sequence[Entry], **terms: Any) -> AppendResult:
        """Append the first entry, then the rest."""
        result = super().append(client, match_id, expected, entries[:1], **terms)
        if len(entries) == 1 or not isinstance(result, Appended):
            return result
        terms["behind"] = entries[0].event
        return super().append(client, match_id, expected + 1, entries[1:], **terms)


class OtherWayRound(Process):
    """Sends two events of a frame in the wrong order."""

    def says(self, method: str, message: Any) -> Any:
        """Move the last event to the front."""
        told = _events(method, message)
        if len(told) > 1 and Event.FromString(told[-1].event).HasField("happened"):
            told.insert(0, told.pop())
        return message


class Twice(Process):
    """Sends an event twice."""

    def says(self, method: str, message: Any) -> Any:
        """Repeat the last event."""
        told = _events(method, message)
        if told and Event.FromString(told[-1].event).HasField("happened"):
            told.append(told[-1])
        return message


class ForgetsTheEnd(Process):
    """Refuses to resume from the end of a finished match."""

    def hears(self, method: str, request: Any) -> Any:
        """Refuse the last position of a sealed log."""
        if method == "WatchMatch" and request.position.sequence:
            stored = self.connect().store.log._streams[request.match_id].entries
            if len(stored) == request.position.sequence and Event.FromString(stored[-1].event).HasField("sealed"):
                raise Refused("OUT_OF_RANGE", "POSITION_AHEAD", "planted", RefusalDetail())
        return request


class NeverCaughtUp(Process):
    """Sends a heartbeat instead of `caught_up`."""

    def says(self, method: str, message: Any) -> Any:
        """Turn `caught_up` into a heartbeat."""
        if method == "WatchMatch" and message.HasField("caught_up"):
            message.heartbeat.head.sequence = message.caught_up.position.sequence
        return message


class OtherBytes(Process):
    """Sends an event with other bytes than the stored ones."""

    def says(self, method: str, message: Any) -> Any:
        """Change the time of outcomes."""
        for told in _events(method, message):
            if Event.FromString(told.event).HasField("happened"):
                told.event = _later(told.event)
        return message


class OtherTable(Process):
    """Shows an empty table."""

    def says(self, method: str, message: Any) -> Any:
        """Clear the view."""
        if method == "GetMatch":
            message.ClearField("view")
        return message


class TellsTheSecret(Process):
    """Sends the secret of a match, from which all its outcomes can be computed."""

    def says(self, method: str, message: Any) -> Any:
        """Put the secret in place of the signature."""
        if method == "GetMatch":
            stored = self.connect().store.log._streams.get(message.summary.match_id)
            if stored is not None and stored.entries:
                message.head.signature = Private.FromString(stored.entries[0].private).secret
        return message


class ShowsCards(Process):
    """Sends the hidden part of an event to the public."""

    def says(self, method: str, message: Any) -> Any:
        """Add a card to events without a hidden part."""
        for told in _events(method, message):
            if Event.FromString(told.event).happened.outcome.allie_gator.HasField("draw"):
                told.hidden.allie_gator.cards.append(1)
        return message


class ForgetsTheDelay(Process):
    """Sends the current head of a delayed match to the public."""

    def says(self, method: str, message: Any) -> Any:
        """Replace the head's sequence."""
        told = message if method == "GetMatch" else message.confirmed if method == "WatchMatch" else None
        if told is not None and told.perspective.kind == PERSPECTIVE_KIND_PUBLIC:
            stored = self.connect().store.log._streams.get(told.head.match_id)
            told.head.sequence = told.head.sequence if stored is None else stored.head
        return message


class ForgetsNames(Process):
    """Leaves out the name of the first seat."""

    def says(self, method: str, message: Any) -> Any:
        """Clear the name."""
        if method == "GetMatch":
            message.summary.seats[0].name = ""
        return message


class ListsNothing(Process):
    """Lists no match at all."""

    def says(self, method: str, message: Any) -> Any:
        """Empty every page."""
        if method == "ListMatches":
            del message.matches[:]
        return message


class OneForAll(Process):
    """Refuses the list of all matches, as if one lost match concerned all."""

    def says(self, method: str, message: Any) -> Any:
        """Refuse with DATA_LOSS."""
        if method == "ListMatches":
            raise Refused("DATA_LOSS", "LOG_LOST", "planted", RefusalDetail())
        return message


class Fails(Process):
    """Fails with an internal error."""

    def says(self, method: str, message: Any) -> Any:
        """Refuse with INTERNAL."""
        if method == "ListMatches":
            raise Refused("INTERNAL", "KeyError", "planted", RefusalDetail())
        return message


@contextmanager
def other_dice() -> Iterator[None]:
    """Give each process different dice."""
    fair = Dice.values

    def values(self: Dice, number: int, awaited: Any) -> Any:
        process = running_process()
        return fair(self, number + (0 if process is None else ord(process.name) * 10_000), awaited)

    with mock.patch.object(Dice, "values", values):
        yield


def nobody_sweeps() -> AbstractContextManager[object]:
    """Disable the sweeper, so that no turn ends."""

    async def sweep(_self: Sweeper) -> None:
        await asyncio.sleep(0)

    return mock.patch.object(Sweeper, "sweep", sweep)


def forgets_resignations() -> AbstractContextManager[object]:
    """Forget that a resignation was already carried out by the same request."""
    remembers = Matches._made_before

    async def forget(self: Matches, replica: Any, ledger: Any, command: Any) -> Any:
        return None if isinstance(command, Resign) else await remembers(self, replica, ledger, command)

    return mock.patch.object(Matches, "_made_before", forget)


def shows_outcomes_to_all() -> AbstractContextManager[object]:
    """Let Play answers with outcomes only show what only judges may see."""

    def show(events: Any, perspective: Any, head: Any) -> Any:
        return made_message(events, Watcher.JUDGE if head is None else perspective, head)

    return mock.patch.object(play, "made_message", show)


def _events(method: str, message: Any) -> Any:
    """The events of a frame; empty for any other message."""
    return message.events.events if method == "WatchMatch" and message.HasField("events") else []


def _later(data: bytes) -> bytes:
    event = Event.FromString(data)
    event.time_ms += 1
    return event.SerializeToString(deterministic=True)


@dataclass(frozen=True, slots=True)
class Planted:
    """A bug, and the checker that has to detect it."""

    checker: str
    made_of: Made
    also: tuple[Fault, ...] = ()
    """Faults that the bug needs to do harm."""
    most_seeds: int = 64
    """The most seeds to try.

    Only some seeds show a bug: different dice need two processes that decide the same event at once.
    """


PLANTED: Final = (
    Planted("acked", Made(process=OtherTime)),
    Planted("acked", Made(around=forgets_resignations), most_seeds=20),
    Planted("no phantom", Made(process=OtherRequest)),
    Planted("one winner", Made(store=TellsBothThatTheyWon)),
    Planted("gapless", Made(process=LeavesOut)),
    Planted("atomic command", Made(store=InTwoParts)),
    Planted("one die", Made(around=other_dice)),
    Planted("sealed", Made(around=nobody_sweeps)),
    Planted("ordered", Made(process=OtherWayRound)),
    Planted("unique", Made(process=Twice)),
    Planted("resumable", Made(process=ForgetsTheEnd)),
    Planted("caught up", Made(process=NeverCaughtUp)),
    Planted("same bytes", Made(process=OtherBytes)),
    Planted("folds equal", Made(process=OtherTable)),
    Planted("no secret", Made(process=TellsTheSecret)),
    Planted("no secret", Made(process=ShowsCards)),
    Planted("no secret", Made(process=ForgetsTheDelay)),
    Planted("no secret", Made(around=shows_outcomes_to_all), most_seeds=20),
    Planted("names kept", Made(process=ForgetsNames)),
    Planted("found", Made(process=ListsNothing)),
    Planted("isolated", Made(process=OneForAll), (Fault.CUT,)),
    Planted("explained", Made(process=Fails)),
)
