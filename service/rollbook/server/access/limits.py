"""Limits per subject, per address and for all callers together.

Calls use points. The minimum cost of a call is taken before it begins, and the call is refused if the points are
missing. Costs that arise later, such as rows and events read, are owed, and later calls wait until they are repaid.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import Context, ContextVar, copy_context
from math import ceil
from typing import Any, Final

from cachetools import LRUCache

from rollbook.identity.tokens import Role, Subject
from rollbook.server.addresses import FORWARDED, Addresses
from rollbook.server.configuration.limit_table import Limits
from rollbook.server.refusals import Refusal
from rollbook.server.slices import Slices

MOST_BUCKETS: Final = 100_000
"""Cache size: callers with a bucket; the least recently active caller is evicted."""

# Points. A GetMatch costs one; `python -m tests.bench one_caller --only costs` measures the cost of other calls.

OPEN_POINTS: Final = 5
"""OpenMatch, TakeSeat and AddBot, which change the match, the lobby, the index and quotas."""

LIFE_POINTS: Final = 3
"""Other commands that change the lobby."""

STREAM_POINTS: Final = 2
"""A feed or a file of a match, without its events."""

LOBBY_POINTS: Final = 6
"""A feed of the lobby, which compares all parts, without its matches."""

ROWS_A_POINT: Final = 20
"""Matches that a list reads and sends, per point."""

LOBBY_ROWS_A_POINT: Final = 40
"""Matches that a feed of the lobby sends, per point; they are read once for all feeds."""

EVENTS_A_POINT: Final = 30
"""Events read from the store and folded, per point."""

SENT_EVENTS_A_POINT: Final = 400
"""Events that a feed or a file sends, per point."""

EXPENSIVE: Final = 10
"""Calls with more points run one at a time per subject."""

_INEXACT: Final = 1e-6

_THIS_MACHINE: Final = (
    "ipv4:127.",
    "ipv6:%5B::1%5D:",
    "ipv6:%5B::ffff:127.",
    "ipv6:[::1]:",
    "ipv6:[::ffff:127.",
    "unix:",
)
"""Prefixes of gRPC's names for peers on the same machine."""


def is_remote(context: Any, *, is_near: bool = False) -> bool:
    """Whether a call comes from another machine, or is forwarded from one; with `is_near` its peer counts as local."""
    is_here = is_near or context.peer().startswith(_THIS_MACHINE)
    return not is_here or any(key == FORWARDED for key, _ in context.invocation_metadata() or ())


class _Bucket:
    """The points that a caller has left; negative if points are owed."""

    __slots__ = ("left", "rates", "since_ms")

    def __init__(self, rates: Rates, now_ms: int) -> None:
        self.rates = rates
        self.left = float(rates.at_once)
        self.since_ms = now_ms

    def wait_ms(self, now_ms: int, points: float) -> int:
        """Milliseconds until there are enough points, 0 if there are; a full bucket is enough for any call."""
        rates = self.rates
        left = self.left + max(0, now_ms - self.since_ms) * rates.per_second / 1_000
        self.left, self.since_ms = min(float(rates.at_once), left), now_ms
        lacking = min(points, rates.at_once) - self.left
        # Rounding errors must not make a caller wait again after `retry_after_ms`.
        return max(0, ceil(lacking * 1_000 / rates.per_second - _INEXACT))


class Rates:
    """A bucket of `at_once` points for each caller, refilled at `per_second`."""

    def __init__(self, per_second: float, at_once: float) -> None:
        self.per_second = per_second
        self.at_once = at_once
        self._buckets: LRUCache[str, _Bucket] = LRUCache(MOST_BUCKETS)

    def bucket(self, who: str, now_ms: int) -> _Bucket:
        """The caller's bucket; a new one is full."""
        bucket = self._buckets.get(who)
        if bucket is None:
            bucket = self._buckets[who] = _Bucket(self, now_ms)
        return bucket

    def take(self, who: str, now_ms: int, points: float = 1) -> None:
        """Take points from the caller's bucket; raises Refusal if there are too few."""
        _take([self.bucket(who, now_ms)], now_ms, points)


def _take(buckets: Sequence[_Bucket], now_ms: int, points: float) -> None:
    """Take points from all buckets; raises Refusal, and takes none, if one has too few."""
    waits = [bucket.wait_ms(now_ms, points) for bucket in buckets]
    if any(waits):
        raise Refusal("RATE_LIMITED", "too many calls in a short time", {"retry_after_ms": max(waits)})
    for bucket in buckets:
        bucket.left -= min(points, bucket.rates.at_once)


class _Turns:
    """A lock for each caller with an expensive call."""

    def __init__(self) -> None:
        self._locks: dict[str, tuple[asyncio.Lock, int]] = {}

    @asynccontextmanager
    async def of(self, who: str) -> AsyncIterator[None]:
        """Wait for the caller's other expensive calls, and block them within this context.

        A call that had to wait rests first: otherwise calls that take turns would block the loop like one long call.
        """
        lock, users = self._locks.get(who) or (asyncio.Lock(), 0)
        self._locks[who] = lock, users + 1
        slices = Slices()
        try:
            async with lock:
                if users:
                    await slices.rest()
                yield
        finally:
            lock, users = self._locks[who]
            self._locks[who] = lock, users - 1
            if users == 1:
                del self._locks[who]


class Budget:
    """The points of one call's subject and address, and the subject's lock for expensive calls."""

    __slots__ = ("_buckets", "_clock_ms", "_has_turn", "_turns", "_who", "address")

    def __init__(
        self, buckets: Sequence[_Bucket], turns: _Turns, who: str, address: str, clock_ms: Callable[[], int]
    ) -> None:
        """`address` is empty for a call that no limit per address includes."""
        self.address = address
        self._buckets = buckets
        self._turns = turns
        self._who = who
        self._clock_ms = clock_ms
        self._has_turn = False

    def take(self, points: float = 1) -> None:
        """Take points; raises Refusal if there are too few."""
        _take(self._buckets, self._clock_ms(), points)

    def owe(self, points: float) -> None:
        """Subtract points without a check; the balance may become negative."""
        for bucket in self._buckets:
            bucket.left -= points

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Hold the caller's lock, unless this call holds it already or there is no caller to limit."""
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
"""The budget of the current call. A task that outlives its call must be started in `no_budget`."""


def no_budget() -> Context:
    """Return a copy of the current context without a budget: no caller pays for a task in it."""
    context = copy_context()
    context.run(_CURRENT.set, None)
    return context


def limited_address() -> str:
    """The address that the limits per address count the current call for; empty if they do not include it."""
    budget = _CURRENT.get()
    return "" if budget is None else budget.address


def take(points: float = 1) -> None:
    """Take points for the current call; raises Refusal if there are too few."""
    budget = _CURRENT.get()
    if budget is not None:
        budget.take(points)


def owe(points: float) -> None:
    """Charge points to the current call, even if too few are left; no effect outside calls."""
    budget = _CURRENT.get()
    if budget is not None:
        budget.owe(points)


@asynccontextmanager
async def turn(points: float = EXPENSIVE + 1) -> AsyncIterator[None]:
    """Hold the lock of the current caller during work of more than EXPENSIVE points."""
    budget = _CURRENT.get()
    if budget is None or points <= EXPENSIVE:
        yield
        return
    async with budget.turn():
        yield


class Budgets:
    """The points of all subjects and addresses.

    An address has the points of `subjects_per_address` subjects. Calls from this machine without a forwarded address,
    and those of issuers without `by_address`, are not limited by address. A gateway is limited by the addresses that it
    reports, not by subject.
    """

    def __init__(self, of_subjects: Rates, addresses: Addresses, limits: Limits, clock_ms: Callable[[], int]) -> None:
        many = limits.subjects_per_address
        self._of_subjects = of_subjects
        self._of_addresses = Rates(limits.requests_per_second * many, limits.requests_at_once * many)
        self._addresses = addresses
        self._clock_ms = clock_ms
        self._turns = _Turns()

    def begin(self, caller: Subject, context: Any, points: float) -> None:
        """Take the points of a call and make its budget the current one; raises Refusal if there are too few."""
        now_ms, is_gateway = self._clock_ms(), caller.role is Role.GATEWAY
        buckets = [] if is_gateway else [self._of_subjects.bucket(caller.key, now_ms)]
        who = "" if is_gateway else caller.key
        if address := self.address(caller, context):
            buckets.append(self._of_addresses.bucket(address, now_ms))
            who = who or address
        _take(buckets, now_ms, points)
        _CURRENT.set(Budget(buckets, self._turns, who, address, self._clock_ms))

    def address(self, caller: Subject, context: Any) -> str:
        """The address whose calls are limited; empty if this call counts for none."""
        is_limited = caller.by_address and is_remote(context, is_near=caller.role is Role.GATEWAY)
        return self._addresses.of(context) if is_limited else ""


class Strangers:
    """Limits calls without a valid token, by address."""

    def __init__(self, addresses: Addresses, limits: Limits, clock_ms: Callable[[], int]) -> None:
        self.addresses = addresses
        self._rates = Rates(limits.strangers_per_second, limits.strangers_at_once)
        self._clock_ms = clock_ms

    def count(self, context: Any) -> None:
        """Count a call; raises Refusal if there are too many."""
        self._rates.take(self.addresses.of(context), self._clock_ms())


class Held:
    """Limits what is open at the same time, per subject and in total."""

    def __init__(self, each: int, in_all: int, why: str) -> None:
        """At most `each` per subject and `in_all` in total; `why` is the sentence of the refusal."""
        self._each = each
        self._in_all = in_all
        self._why = why
        self._held: dict[str, int] = {}
        self._sum = 0

    @property
    def held(self) -> int:
        """How many are open in total."""
        return self._sum

    @contextmanager
    def by(self, who: str, *, for_many: bool = False) -> Iterator[None]:
        """Count one more within this context, or raise Refusal; with `for_many` only the total is limited."""
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
