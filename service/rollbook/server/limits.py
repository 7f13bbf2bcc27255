"""Bounds on what one subject, one address, or all together may ask of a service."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from typing import Any, Final

from cachetools import LRUCache

from rollbook.server.addresses import Addresses
from rollbook.server.refusals import Refusal
from rollbook.server.settings import Limits

MOST_BUCKETS: Final = 100_000
"""Callers remembered at once; whoever is forgotten has not called for longest."""


@dataclass(slots=True)
class _Bucket:
    """So many tokens at that time."""

    left: float
    since_ms: int


class Rates:
    """A bucket for everyone: it holds so many tokens, is refilled steadily, and a call takes out what it weighs."""

    def __init__(self, per_second: float, at_once: int) -> None:
        """Begin with full buckets."""
        self._per_second = per_second
        self._at_once = at_once
        self._buckets: LRUCache[str, _Bucket] = LRUCache(MOST_BUCKETS)

    def wait_ms(self, who: str, now_ms: int, weight: float = 1) -> int:
        """Take so many tokens out and say 0, or say how long it takes until there are; a full bucket is enough."""
        weight = min(weight, self._at_once)
        bucket = self._buckets.get(who)
        if bucket is None:
            bucket = self._buckets[who] = _Bucket(float(self._at_once), now_ms)
        left = bucket.left + max(0, now_ms - bucket.since_ms) * self._per_second / 1_000
        left = min(float(self._at_once), left)
        wait = 0 if left >= weight else ceil((weight - left) * 1_000 / self._per_second)
        bucket.left, bucket.since_ms = left if wait else left - weight, now_ms
        return wait

    def take(self, who: str, now_ms: int, weight: float = 1) -> None:
        """Take so many tokens out, or refuse."""
        wait = self.wait_ms(who, now_ms, weight)
        if wait:
            raise Refusal("RATE_LIMITED", "too many calls in a short time", {"retry_after_ms": wait})


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
