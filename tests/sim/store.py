"""A simulated store: a reference log with its own clock, faults of the store, and clients over a network.

The reference is the log in memory, which passes the contract of all logs, so the meaning of an append is defined only
once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol, TypeVar

from rollbook.match.chain import Entry
from rollbook.storage.port import (
    MOST_BEHIND,
    Announcement,
    Appended,
    AppendResult,
    AppendUnconfirmed,
    Conflict,
    Hole,
    LobbyEntry,
    StoreUnavailable,
    check_append,
)
from tests.sim.network import QUICK, Network, Unanswered
from tests.storage.memory import MemoryLog, _Book, _Indexed, _Stream

T = TypeVar("T")

PATIENCE_SECONDS: Final = 2.0
"""Seconds that a client waits for an answer of the store."""

UNREADABLE: Final = b"\x00\x00\x00\x7f not a summary"


@dataclass(frozen=True, slots=True)
class Attempt:
    """An append as it reached the store, with its result."""

    client: str
    match_id: str
    expected: int
    entries: tuple[Entry, ...]
    result: AppendResult


class Store:
    """The store: its data, whether it is up, and the faults that can happen to it."""

    def __init__(self, clock_ms: Callable[[], int], witness: Callable[[Attempt], None] = lambda _attempt: None) -> None:
        """Begin empty; `witness` receives every append."""
        self.log = MemoryLog(clock_ms)
        self.is_up = True
        self.listeners: dict[asyncio.Future[None], Callable[[Announcement], None]] = {}
        """The subscribers to appends, in order."""
        self._witness = witness
        self._holes: dict[tuple[str, int], None] = {}

    # Requests of clients

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a client's request on the reference, which never waits."""
        if not self.is_up:
            work.close()
            raise StoreUnavailable("the store is down")
        try:
            work.send(None)
        except StopIteration as done:
            result: T = done.value
            return result
        raise AssertionError("the reference waits")

    def append(self, client: str, match_id: str, expected: int, entries: Sequence[Entry], **terms: Any) -> AppendResult:
        """Append, all or nothing; after a hole only in place of everything beyond it."""
        holes = [number for holed, number in self._holes if holed == match_id]
        if holes and (terms["in_place_of"] is None or min(holes) <= expected):
            result: AppendResult = Conflict(self.do(self.log.head(match_id)))
        else:
            result = self.do(self.log.append(match_id, expected, entries, **terms))
        if holes and isinstance(result, Appended):
            for number in holes:
                del self._holes[match_id, number]
        self.witness(client, match_id, expected, entries, result)
        if isinstance(result, Appended):
            said = Announcement(match_id, result.head, terms["lobby"] is not None or not expected)
            for heard in tuple(self.listeners.values()):
                heard(said)
        return result

    def witness(
        self, client: str, match_id: str, expected: int, entries: Sequence[Entry], result: AppendResult
    ) -> None:
        """Record an append and its result."""
        self._witness(Attempt(client, match_id, expected, tuple(entries), result))

    def read(self, match_id: str, after: int, limit: int) -> list[Entry]:
        """Read entries like a store with holes: raises Hole at the first missing entry."""
        entries = self.do(self.log.read(match_id, after, limit + len(self._holes)))
        there = [
            number for number in range(after + 1, after + 1 + len(entries)) if (match_id, number) not in self._holes
        ]
        for place, number in enumerate(there[:limit], after + 1):
            if place != number:
                raise Hole(match_id, place - 1)
        if len(there) < min(limit, len(entries)):
            raise Hole(match_id, after + len(there), after + len(entries))
        return [entries[number - after - 1] for number in there[:limit]]

    def behind(self, after: Mapping[str, int]) -> dict[str, list[Entry]]:
        """Return the entries after the given sequences; an empty list for a match with a hole."""
        found: dict[str, list[Entry]] = {}
        for match_id, sequence in after.items():
            try:
                if entries := self.read(match_id, sequence, MOST_BEHIND):
                    found[match_id] = entries
            except Hole:
                found[match_id] = []
        return found

    # Faults

    def copy(self) -> _Copy:
        """Copy all data, as a replica has it."""
        streams = {
            match_id: _Stream(list(stream.entries), stream.trimmed, stream.until_ms)
            for match_id, stream in self.log._streams.items()
        }
        books = {key: _Book(dict(book.places), book.until_ms) for key, book in self.log._books.items()}
        index = {match_id: replace(one) for match_id, one in self.log._index.items()}
        return _Copy(streams, dict(self.log._lobby), index, books)

    def fail_over(self, copy: _Copy) -> list[str]:
        """Continue with a replica's data; return the matches that lost something."""
        before = self.log._streams
        self.log._streams, self.log._lobby, self.log._books = copy.streams, copy.lobby, copy.books
        self.log._index = copy.index
        return [match_id for match_id, stream in before.items() if stream.head > self._head(match_id)]

    def cut(self, match_id: str, keep: int) -> None:
        """Lose all entries of a match after the first `keep`."""
        del self.log._streams[match_id].entries[keep:]

    def delete(self, match_id: str) -> None:
        """Lose the log of a match; the lobby still lists it."""
        del self.log._streams[match_id]

    def dig(self, match_id: str, sequence: int) -> None:
        """Lose one entry."""
        self._holes[match_id, sequence] = None

    def scribble(self, match_id: str) -> None:
        """Make the lobby entry of a match unreadable."""
        self.log._lobby[match_id] = UNREADABLE

    def _head(self, match_id: str) -> int:
        stream = self.log._streams.get(match_id)
        return 0 if stream is None else stream.head


@dataclass(frozen=True, slots=True)
class _Copy:
    """The data of a replica of the store."""

    streams: dict[str, _Stream]
    lobby: dict[str, bytes]
    index: dict[str, _Indexed]
    books: dict[tuple[str, str], _Book]


class Host(Protocol):
    """The process that a client of the store belongs to."""

    name: str

    def decides(self, match_id: str, expected: int, entries: Sequence[Entry]) -> None:
        """Called before an append."""

    def step(self) -> None:
        """Called before and after every message; raises CancelledError once the process is dead."""


class Bystander:
    """A process that is never killed."""

    name = "bystander"

    def decides(self, match_id: str, expected: int, entries: Sequence[Entry]) -> None:
        """Ignore the append."""

    def step(self) -> None:
        """Never raise."""


class SimulatedLog:
    """A process's log: the store behind a network."""

    def __init__(self, store: Store, network: Network, host: Host) -> None:
        """Connect this process to the store."""
        self.store = store
        self._network = network
        self._host = host
        self._closed = False
        self._appending: list[str] = []
        self._listening: dict[asyncio.Future[None], Callable[[Announcement], None]] = {}

    async def append(
        self,
        match_id: str,
        expected: int,
        entries: Sequence[Entry],
        *,
        behind: bytes | None = None,
        lobby: LobbyEntry | None = None,
        not_before_ms: int | None = None,
        in_place_of: int | None = None,
    ) -> AppendResult:
        """Append after the entry numbered `expected`, all or nothing; raises AppendUnconfirmed without an answer."""
        check_append(match_id, expected, entries)
        self._check_open()
        terms = {"behind": behind, "lobby": lobby, "not_before_ms": not_before_ms, "in_place_of": in_place_of}
        name = self._host.name
        self._host.decides(match_id, expected, entries)
        self._appending.append(match_id)
        try:
            return await self._ask(lambda: self.store.append(name, match_id, expected, entries, **terms))
        except Unanswered:
            raise AppendUnconfirmed("the store does not answer") from None
        finally:
            self._appending.remove(match_id)

    async def read(self, match_id: str, after: int = 0, limit: int = 1_000) -> list[Entry]:
        """Return at most `limit` entries after `after`, in order; raises Hole if one is missing."""
        return [] if limit <= 0 else await self._answer(lambda: self.store.read(match_id, after, limit))

    async def head(self, match_id: str) -> int:
        """Return the sequence of the last entry, or 0 if the match does not exist."""
        return await self._do(lambda log: log.head(match_id))

    async def behind(self, after: Mapping[str, int]) -> dict[str, list[Entry]]:
        """Return the entries after the given sequences, for matches that have any."""
        wanted = dict(after)
        return await self._answer(lambda: self.store.behind(wanted))

    async def listen(self, heard: Callable[[Announcement], None], began: Callable[[], None]) -> None:
        """Call `heard` with every append from now on; the network may delay, repeat or lose it."""
        self._check_open()
        loop = asyncio.get_running_loop()
        listening: asyncio.Future[None] = loop.create_future()

        def hear(announcement: Announcement) -> None:
            for seconds in self._network.deliveries():
                loop.call_later(seconds, arrive, announcement)

        def arrive(announcement: Announcement) -> None:
            with suppress(asyncio.CancelledError):
                self._host.step()
                if announcement.match_id in self._appending:
                    loop.call_later(QUICK[1], arrive, announcement)
                elif not listening.done():
                    heard(announcement)

        self.store.listeners[listening] = self._listening[listening] = hear
        began()
        try:
            await listening
        finally:
            del self.store.listeners[listening], self._listening[listening]

    parts = MemoryLog.parts
    index_parts = MemoryLog.index_parts

    async def lengths(self, match_ids: Sequence[str]) -> dict[str, int]:
        """Return the number of readable entries of each log."""
        found = await self._do(lambda log: log.lengths(match_ids))
        return {
            match_id: length - sum(holed == match_id for holed, _ in self.store._holes)
            for match_id, length in found.items()
        }

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        """Any other method of the store, called over the network."""
        getattr(MemoryLog, name)
        return lambda *given, **named: self._do(lambda log: getattr(log, name)(*given, **named))

    async def close(self) -> None:
        """Refuse all further calls; running appends finish first."""
        self._closed = True
        for listening in self._listening:
            if not listening.done():
                listening.set_result(None)

    async def _do(self, work: Callable[[MemoryLog], Coroutine[Any, Any, T]]) -> T:
        return await self._answer(lambda: self.store.do(work(self.store.log)))

    async def _answer(self, work: Callable[[], T]) -> T:
        self._check_open()
        try:
            return await self._ask(work)
        except Unanswered:
            raise StoreUnavailable("the store does not answer") from None

    async def _ask(self, work: Callable[[], T]) -> T:
        self._host.step()
        try:
            return await self._network.ask(work, PATIENCE_SECONDS)
        finally:
            self._host.step()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreUnavailable("this log has been closed")
