"""Limits of one subject, of one address and of all callers together.

Calls use points. What a call costs at least is taken before it begins, and refused if it is not there; what turns out
while it works, such as how many rows and events it had to read, is owed, and the next calls wait until it is paid.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from math import ceil
from typing import Any, Final

from cachetools import LRUCache

from rollbook.identity.tokens import Role, Subject
from rollbook.server.addresses import FORWARDED, Addresses
from rollbook.server.configuration.settings import Limits
from rollbook.server.refusals import Refusal

MOST_BUCKETS: Final = 100_000
"""Callers remembered at once; whoever is forgotten has not called for longest."""

# Points. One is the work of a GetMatch; `python -m tests.bench one_caller --only costs` measures what others come to.

OPEN_POINTS: Final = 5
"""OpenMatch, TakeSeat and AddBot, which change match, lobby, index and quotas."""

LIFE_POINTS: Final = 3
"""Another command that changes the lobby."""

STREAM_POINTS: Final = 2
"""A feed or a file of a match, besides its events."""

LOBBY_POINTS: Final = 6
"""A feed of the lobby, all parts of which are compared, besides its matches."""

ROWS_A_POINT: Final = 20
"""Matches that a list reads and sends."""

LOBBY_ROWS_A_POINT: Final = 40
"""Matches that a feed of the lobby sends, which are read once for all feeds."""

EVENTS_A_POINT: Final = 30
"""Events that are read from the store and folded."""

SENT_EVENTS_A_POINT: Final = 400
"""Events that a feed or a file sends."""

EXPENSIVE: Final = 10
"""A call of more points takes turns with others of its subject."""

_INEXACT: Final = 1e-6

_THIS_MACHINE: Final = ("ipv4:127.", "ipv6:[::1]:", "ipv6:%5B::1%5D:", "unix:")
"""How gRPC begins the names of peers on the same machine."""


class _Bucket:
    """The points that a caller has left at a time; below 0 they are owed."""

    __slots__ = ("left", "rates", "since_ms")

    def __init__(self, rates: Rates, now_ms: int) -> None:
        self.rates = rates
        self.left = float(rates.at_once)
        self.since_ms = now_ms

    def wait_ms(self, now_ms: int, points: float) -> int:
        """Milliseconds until so many points are there, 0 if they are; a full bucket is enough for any call."""
        rates = self.rates
        left = self.left + max(0, now_ms - self.since_ms) * rates.per_second / 1_000
        self.left, self.since_ms = min(float(rates.at_once), left), now_ms
        lacking = min(points, rates.at_once) - self.left
        # Sums of fractions are not exact; a caller that has waited for `retry_after_ms` must not wait again.
        return max(0, ceil(lacking * 1_000 / rates.per_second - _INEXACT))


class Rates:
    """A bucket for each caller, which holds so many points and is refilled steadily."""

    def __init__(self, per_second: float, at_once: float) -> None:
        """Begin with full buckets."""
        self.per_second = per_second
        self.at_once = at_once
        self._buckets: LRUCache[str, _Bucket] = LRUCache(MOST_BUCKETS)

    def bucket(self, who: str, now_ms: int) -> _Bucket:
        """The bucket of a caller."""
        bucket = self._buckets.get(who)
        if bucket is None:
            bucket = self._buckets[who] = _Bucket(self, now_ms)
        return bucket

    def take(self, who: str, now_ms: int, points: float = 1) -> None:
        """Take so many points, or refuse."""
        _take([self.bucket(who, now_ms)], now_ms, points)


def _take(buckets: Sequence[_Bucket], now_ms: int, points: float) -> None:
    """Take so many points out of each of these buckets, or refuse and take none."""
    waits = [bucket.wait_ms(now_ms, points) for bucket in buckets]
    if any(waits):
        raise Refusal("RATE_LIMITED", "too many calls in a short time", {"retry_after_ms": max(waits)})
    for bucket in buckets:
        bucket.left -= min(points, bucket.rates.at_once)


class _Turns:
    """One lock for each caller with an expensive call."""

    def __init__(self) -> None:
        self._locks: dict[str, tuple[asyncio.Lock, int]] = {}

    @asynccontextmanager
    async def of(self, who: str) -> AsyncIterator[None]:
        """Wait until no other call of this caller has its turn, and have it meanwhile."""
        lock, users = self._locks.get(who) or (asyncio.Lock(), 0)
        self._locks[who] = lock, users + 1
        try:
            async with lock:
                yield
        finally:
            lock, users = self._locks[who]
            self._locks[who] = lock, users - 1
            if users == 1:
                del self._locks[who]


class Budget:
    """What one call may use: the points of its subject and of its address, and the turn of expensive calls."""

    __slots__ = ("_buckets", "_clock_ms", "_has_turn", "_turns", "_who")

    def __init__(self, buckets: Sequence[_Bucket], turns: _Turns, who: str, clock_ms: Callable[[], int]) -> None:
        self._buckets = buckets
        self._turns = turns
        self._who = who
        self._clock_ms = clock_ms
        self._has_turn = False

    def take(self, points: float = 1) -> None:
        """Take so many points, or refuse."""
        _take(self._buckets, self._clock_ms(), points)

    def owe(self, points: float) -> None:
        """Note what the call has cost beyond what was taken."""
        for bucket in self._buckets:
            bucket.left -= points

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for the turn of the caller, unless this call has it or there is no caller to count."""
        if self._has_turn or not self._who:
            yield
            return
        async with self._turns.of(self._who):
            self._has_turn = True
            try:
                yield
            finally:
                self._has_turn = False


_CURRENT: Final[ContextVar[Budget | None]] = ContextVar("budget", default=None)
"""That of the call that is handled. A task that outlives its call has to be started with a context of its own."""


def take(points: float = 1) -> None:
    """Take so many points more for the call that is handled, or refuse."""
    budget = _CURRENT.get()
    if budget is not None:
        budget.take(points)


def owe(points: float) -> None:
    """Let the call that is handled owe so many points; work that no call has asked for owes nothing."""
    budget = _CURRENT.get()
    if budget is not None:
        budget.owe(points)


@asynccontextmanager
async def turn(points: float = EXPENSIVE + 1) -> AsyncIterator[None]:
    """Have the turn of the caller of the call that is handled, for a piece of work of so many points."""
    budget = _CURRENT.get()
    if budget is None or points <= EXPENSIVE:
        yield
        return
    async with budget.turn():
        yield


class Budgets:
    """The points of all subjects and addresses.

    An address has as many as `subjects_per_address` subjects. A call from this machine that names no other address has
    no limit by address; a gateway has none by subject, and is counted by the addresses that it names.
    """

    def __init__(self, of_subjects: Rates, addresses: Addresses, limits: Limits, clock_ms: Callable[[], int]) -> None:
        """Begin with full buckets."""
        many = limits.subjects_per_address
        self._of_subjects = of_subjects
        self._of_addresses = Rates(limits.requests_per_second * many, limits.requests_at_once * many)
        self._addresses = addresses
        self._clock_ms = clock_ms
        self._turns = _Turns()

    def begin(self, caller: Subject, context: Any, points: float) -> None:
        """Take the points of a call, or refuse; its budget is the current one from now on."""
        now_ms, is_gateway = self._clock_ms(), caller.role is Role.GATEWAY
        buckets = [] if is_gateway else [self._of_subjects.bucket(caller.key, now_ms)]
        who = "" if is_gateway else caller.key
        is_here = is_gateway or context.peer().startswith(_THIS_MACHINE)
        if not is_here or any(key == FORWARDED for key, _ in context.invocation_metadata() or ()):
            address = self._addresses.of(context)
            buckets.append(self._of_addresses.bucket(address, now_ms))
            who = who or address
        _take(buckets, now_ms, points)
        _CURRENT.set(Budget(buckets, self._turns, who, self._clock_ms))


class Strangers:
    """Bounds calls by where they come from, for want of a token that says whose they are."""

    def __init__(self, addresses: Addresses, limits: Limits, clock_ms: Callable[[], int]) -> None:
        """Begin with nobody known."""
        self.addresses = addresses
        self._rates = Rates(limits.strangers_per_second, limits.strangers_at_once)
        self._clock_ms = clock_ms

    def count(self, context: Any) -> None:
        """Count a call, or refuse it."""
        self._rates.take(self.addresses.of(context), self._clock_ms())


class Held:
    """Counts what is held open, for each subject and in all."""

    def __init__(self, each: int, in_all: int, why: str) -> None:
        """Begin with nothing held."""
        self._each = each
        self._in_all = in_all
        self._why = why
        self._held: dict[str, int] = {}
        self._sum = 0

    @property
    def held(self) -> int:
        """How many are held, in all."""
        return self._sum

    @contextmanager
    def by(self, who: str, *, for_many: bool = False) -> Iterator[None]:
        """Hold one more meanwhile, or refuse; who does so for many others is only bounded by what all may hold."""
        mine = 0 if for_many else self._held.get(who, 0)
        if mine >= self._each or self._sum >= self._in_all:
            limit = self._each if mine >= self._each else self._in_all
            raise Refusal("TOO_MANY_WATCHES", self._why, {"limit": limit})
        self._held[who] = self._held.get(who, 0) + 1
        self._sum += 1
        try:
            yield
        finally:
            self._sum -= 1
            self._held[who] -= 1
            if not self._held[who]:
                del self._held[who]
