"""Commands on stored matches: retries, races, and stores that answer late or lose data."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

import pytest

from rollbook.match.chain import Entry, Position
from rollbook.match.commands import (
    Abort,
    Choose,
    Command,
    Declined,
    GetReady,
    OpenMatch,
    Origin,
    Resign,
    TakeSeat,
    Why,
)
from rollbook.match.dice import commitment
from rollbook.match.events import Opened, Terms
from rollbook.match.ledger import Ledger
from rollbook.rules.cant_stop.moves import Advance
from rollbook.rules.catalogue import find
from rollbook.rules.refusals import RefusedByRules
from rollbook.server.failures import MatchUnknown, RequestReused, TailLost
from rollbook.server.play.matches import Answer
from rollbook.storage.port import AppendResult, AppendUnconfirmed
from tests.server.replica.keeping import Process
from tests.storage.memory import MemoryLog

SECRET = bytes(32)
NOW_MS = 1_700_000_000_000


def opened(match_id: str = "m", seats: int = 2) -> Opened:
    """The first event of a match of Can't Stop."""
    rules = find("cant_stop")
    return Opened(match_id, "cant_stop", 1, rules.settle({}, seats), ("",) * seats, commitment(SECRET), Terms())


class Client:
    """A player at one process of the service."""

    def __init__(self, process: Process, player: str) -> None:
        """Play through this process."""
        self.process = process
        self.player = player.encode()

    def origin(self, request: str) -> Origin:
        """The origin of a command with this request id."""
        return Origin(NOW_MS, self.player, sha256(self.player + request.encode()).digest()[:16])

    async def open(self, request: str = "open", match: Opened | None = None) -> Answer:
        """Open a match."""
        return await self.process.matches.open(OpenMatch(self.origin(request), match or opened(), SECRET))

    async def ask(self, command: Command) -> Answer:
        """Send a command to the match."""
        return await self.process.matches.carry_out("m", command)

    async def sit(self, seat: int, request: str = "sit") -> Answer:
        """Take a seat."""
        return await self.ask(TakeSeat(self.origin(request), seat))

    async def ready(self, request: str = "ready") -> Answer:
        """Get ready."""
        ledger = await self.process.ledger("m")
        assert ledger.closing is not None
        return await self.ask(GetReady(self.origin(request), ledger.closing.link))

    async def choose(self, choice: Any, position: Position, request: str, seat: int) -> Answer:
        """Choose at a position."""
        return await self.ask(Choose(self.origin(request), position, choice, seat))

    async def resign(self, seat: int, request: str = "resign") -> Answer:
        """Resign."""
        return await self.ask(Resign(self.origin(request), seat))


class Table:
    """Two processes over one store, and two players at one match."""

    def __init__(self, log: Any = None) -> None:
        """Begin with an empty store, or with this log."""
        self.log: Any = MemoryLog() if log is None else log
        self.one, self.other = Process(self.log), Process(self.log)
        self.players = [Client(self.one, "p0"), Client(self.one, "p1")]

    async def start(self) -> Ledger:
        """Open the match, sit down, get ready."""
        await self.players[0].open()
        for seat, player in enumerate(self.players):
            await player.sit(seat)
        for player in self.players:
            await player.ready()
        return await self.one.ledger("m")

    async def through(self, process: Process, choice: Any = None, request: str = "choice") -> Answer:
        """The awaited seat's choice through a process; the default is the caretaker's choice."""
        ledger = await self.one.ledger("m")
        seat = ledger.awaited_seat
        assert seat is not None
        choice = ledger.game.caretaker(ledger.match.state) if choice is None else choice
        player = Client(process, f"p{seat}")
        return await player.choose(choice, ledger.head, request, seat)


def run(scenario: Callable[[], Any]) -> None:
    """Run a scenario to its end."""
    asyncio.run(scenario())


def test_a_match_is_opened_played_and_read_through_any_process() -> None:
    """Each process continues after the events that the other appended."""

    async def scenario() -> None:
        table = Table()
        await table.start()
        for number in range(20):
            answer = await table.through((table.one, table.other)[number % 2], request=f"c{number}")
            assert answer.first.sequence == answer.last.sequence - len(answer.made) + 1
        one, other = await table.one.ledger("m"), await table.other.ledger("m")
        assert one.head == other.head == Position(await table.log.head("m"), one.head.link)

    run(scenario)


def test_the_same_request_is_answered_with_the_events_it_made() -> None:
    """Directly, after later events, through another process, after a restart, and after the seal."""

    async def scenario() -> None:
        table = Table()
        ledger = await table.start()
        seat, position = ledger.awaited_seat, ledger.head
        assert seat is not None
        choice = ledger.game.caretaker(ledger.match.state)

        async def again(process: Process) -> list[bytes]:
            answer = await Client(process, f"p{seat}").choose(choice, position, "same", seat)
            return [made.logged.data for made in answer.made]

        first = await again(table.one)
        assert first == await again(table.one)
        await table.through(table.one, request="later")
        assert first == await again(table.one) == await again(table.other)
        await table.players[0].resign(0)
        assert (await table.one.ledger("m")).match.sealed is not None
        assert first == await again(table.one) == await again(Process(table.log))

    run(scenario)


def test_the_same_request_twice_at_once_from_two_processes_is_carried_out_once() -> None:
    """Both processes answer with the same events, in either order of the requests."""

    async def scenario() -> None:
        for _ in range(20):
            table = Table()
            await table.start()
            before = await table.log.head("m")
            ledger = await table.one.ledger("m")
            seat, choice = ledger.awaited_seat, ledger.game.caretaker(ledger.match.state)
            assert seat is not None
            one, other = await asyncio.gather(
                *[
                    Client(process, f"p{seat}").choose(choice, ledger.head, "same", seat)
                    for process in (table.one, table.other)
                ]
            )
            assert [made.logged.data for made in one.made] == [made.logged.data for made in other.made]
            assert before + len(one.made) == await table.log.head("m")

    run(scenario)


def test_a_request_id_used_for_something_else_is_refused() -> None:
    """Both processes refuse the id; the first answer stays valid."""

    async def scenario() -> None:
        table = Table()
        ledger = await table.start()
        first, *others = ledger.game.legal(ledger.match.state)
        assert others
        await table.through(table.one, first, request="same")
        for process in (table.one, table.other):
            seat = ledger.awaited_seat
            assert seat is not None
            with pytest.raises(RequestReused):
                await Client(process, f"p{seat}").choose(others[0], ledger.head, "same", seat)
            with pytest.raises(RequestReused):
                await Client(process, f"p{seat}").resign(seat, "same")

    run(scenario)


def test_the_request_id_of_another_subject_is_another_request() -> None:
    """Requests are identified by a hash of subject and request id, so no other subject gets the answer."""

    async def scenario() -> None:
        table = Table()
        await table.start()
        answer = await table.through(table.one, request="same")
        seat = answer.first.event.seat  # type: ignore[union-attr]
        stranger = Client(table.one, "stranger")
        with pytest.raises(Declined) as declined:
            await stranger.ask(Resign(Origin(NOW_MS, stranger.player, b"of the stranger."), seat))
        assert Why.NOT_SEATED == declined.value.reason

    run(scenario)


def test_a_match_is_opened_once_however_often_it_is_asked_for() -> None:
    """A repeated OpenMatch returns the same match; other terms under its request id are refused."""

    async def scenario() -> None:
        table = Table()
        first = await table.players[0].open()
        again = await Client(table.other, "p0").open()
        assert [made.logged.data for made in first.made] == [made.logged.data for made in again.made]
        with pytest.raises(RequestReused):
            await Client(table.other, "p0").open(match=opened(seats=3))
        with pytest.raises(RequestReused):
            await Client(table.other, "p0").open("another")
        with pytest.raises(MatchUnknown):
            await table.one.ledger("nothing")

    run(scenario)


def test_two_choices_for_one_position_one_wins_and_the_other_is_told_so() -> None:
    """A choice is never applied to a state that its player has not seen."""

    async def scenario() -> None:
        table = Table()
        ledger = await table.start()
        seat, position = ledger.awaited_seat, ledger.head
        assert seat is not None
        choice = ledger.game.caretaker(ledger.match.state)
        results = await asyncio.gather(
            *[
                Client(process, f"p{seat}").choose(choice, position, f"of {number}", seat)
                for number, process in enumerate((table.one, table.other, table.one, table.other))
            ],
            return_exceptions=True,
        )
        won = [result for result in results if isinstance(result, Answer)]
        lost = [result for result in results if isinstance(result, Declined)]
        assert (1, 3) == (len(won), len(lost))
        assert {Why.POSITION_BEHIND} == {result.reason for result in lost}

    run(scenario)


def test_a_process_that_is_behind_catches_up_before_it_says_no() -> None:
    """A client that has seen more than this process must not be refused as ahead."""

    async def scenario() -> None:
        table = Table()
        await table.start()
        await table.other.ledger("m")
        await table.through(table.one, request="first")
        await table.through(table.other, request="second")
        ledger = await table.one.ledger("m")
        seat = ledger.awaited_seat
        assert seat is not None
        with pytest.raises(RefusedByRules):
            await Client(table.other, f"p{seat}").choose(Advance((2, 2, 2)), ledger.head, "third", seat)

    run(scenario)


class Forgetful:
    """A store that loses answers to appends: the append may have happened or not."""

    def __init__(self, happens: bool, times: int) -> None:
        """Lose the answers of the next `times` appends once the test sets `times`."""
        self.inner = MemoryLog()
        self.happens = happens
        self.times = 0
        self.lose = times

    def __getattr__(self, name: str) -> Any:
        """Delegate everything else."""
        return getattr(self.inner, name)

    async def append(self, match_id: str, expected: int, entries: Sequence[Entry], **how: Any) -> AppendResult:
        """Append, and perhaps lose the answer."""
        if self.times:
            self.times -= 1
            if self.happens:
                await self.inner.append(match_id, expected, entries, **how)
            raise AppendUnconfirmed
        return await self.inner.append(match_id, expected, entries, **how)


@pytest.mark.parametrize("happens", [False, True])
def test_an_append_of_unknown_outcome_is_settled_before_anything_is_told(happens: bool) -> None:
    """In both cases the command is carried out once and answered."""

    async def scenario() -> None:
        log = Forgetful(happens, 2)
        table = Table(log)
        await table.start()
        before = await log.head("m")
        log.times = 2
        answer = await table.through(table.one)
        assert before + len(answer.made) == await log.head("m")
        assert len(answer.made) > 0

    run(scenario)


def test_an_append_that_belongs_to_no_request_is_recognised_as_ones_own() -> None:
    """A sweeper's event has no request id; its process recognises it by the last appended event."""

    async def scenario() -> None:
        log = Forgetful(True, 2)
        table = Table(log)
        ledger = await table.start()
        before = await log.head("m")
        log.times = 1
        origin = Origin(ledger.time_ms + 1_000)
        answer = await table.one.matches.carry_out("m", Abort(origin))
        assert (before + 1, await log.head("m")) == (answer.first.sequence, answer.last.sequence)
        assert answer.ledger.match.sealed is not None

    run(scenario)


def test_a_store_that_never_answers_is_unavailable_and_the_retry_is_safe() -> None:
    """The client gets "unconfirmed", never "failed": the same request again returns the outcome."""

    async def scenario() -> None:
        log = Forgetful(happens=True, times=3)
        table = Table(log)
        ledger = await table.start()
        seat, position = ledger.awaited_seat, ledger.head
        assert seat is not None
        choice = ledger.game.caretaker(ledger.match.state)
        log.times = 3
        with pytest.raises(AppendUnconfirmed):
            await table.players[seat].choose(choice, position, "same", seat)
        answer = await table.players[seat].choose(choice, position, "same", seat)
        assert [position.sequence + 1, await log.head("m")] == [answer.first.sequence, answer.last.sequence]

    run(scenario)


class Cut:
    """A store that is restored to an earlier state while the service runs."""

    def __init__(self) -> None:
        """Begin with a complete store."""
        self.inner = MemoryLog()
        self.end = 10**9

    def __getattr__(self, name: str) -> Any:
        """Delegate everything else."""
        return getattr(self.inner, name)

    async def restore(self, end: int) -> None:
        """Lose all events after this one."""
        entries = await self.inner.read("m", 0, end)
        self.inner = MemoryLog()
        await self.inner.append("m", 0, entries)


def test_a_lost_tail_is_noticed_and_nothing_is_built_on_it() -> None:
    """A log that is shorter than announced, or that continues differently, is never extended."""

    async def scenario() -> None:
        log = Cut()
        table = Table(log)
        await table.start()
        await table.through(table.one, request="first")
        told = (await table.one.ledger("m")).head.sequence
        await log.restore(told - 1)
        with pytest.raises(TailLost) as lost:
            await table.one.ledger("m")
        assert (told, told - 1) == (lost.value.known, lost.value.stored)
        sealed = (await table.one.ledger("m")).match.sealed
        assert sealed is not None
        assert "log_lost" == sealed.aborted

    run(scenario)
