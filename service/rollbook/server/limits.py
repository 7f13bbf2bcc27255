"""Bounds on what one subject, one address, or all together may ask of a service."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from typing import Final

from cachetools import LRUCache

from rollbook.server.refusals import Refusal

MOST_BUCKETS: Final = 100_000
"""Callers remembered at once; whoever is forgotten has not called for longest."""


@dataclass(frozen=True, slots=True)
class Limits:
    """All bounds of a service."""

    matches: int = 10_000
    """Open and running, of all."""
    matches_per_subject: int = 50
    """Open and running, opened by one."""
    seats_per_subject: int = 100
    requests_per_second: float = 200.0
    """By one subject, for long."""
    requests_at_once: int = 400
    """By one subject, after a rest."""
    plays_per_subject: int = 32
    plays: int = 10_000
    watches_per_subject: int = 64
    watches: int = 20_000
    replays_per_subject: int = 4
    """Files on their way to one."""
    replays: int = 64
    audits_per_subject: int = 1
    audits: int = 16
    """Under way or waiting."""
    guests_per_address_per_hour: int = 100
    guests_per_hour: int = 10_000
    guest_token_seconds: int = 7 * 24 * 3_600
    open_seconds: int = 3_600
    """Without an event, while seats are free, if whoever opens a match does not say; then it expires, with 0 never."""
    idle_seconds: int = 14 * 24 * 3_600
    """Without an event, in a running match without a turn clock, if whoever opens it does not say; 0 as above."""


class Rates:
    """A bucket for everyone: it holds so many tokens, is refilled steadily, and every call takes one out."""

    def __init__(self, per_second: float, at_once: int) -> None:
        """Begin with full buckets."""
        self._per_second = per_second
        self._at_once = at_once
        self._buckets: LRUCache[str, tuple[float, int]] = LRUCache(MOST_BUCKETS)

    def wait_ms(self, who: str, now_ms: int) -> int:
        """Take a token out and say 0, or say how long it takes until there is one."""
        left, since_ms = self._buckets.get(who, (float(self._at_once), now_ms))
        left = min(float(self._at_once), left + max(0, now_ms - since_ms) * self._per_second / 1_000)
        wait = 0 if left >= 1 else ceil((1 - left) * 1_000 / self._per_second)
        self._buckets[who] = (left if wait else left - 1, now_ms)
        return wait

    def take(self, who: str, now_ms: int) -> None:
        """Take a token out, or refuse."""
        wait = self.wait_ms(who, now_ms)
        if wait:
            raise Refusal("RATE_LIMITED", "too many calls in a short time", {"retry_after_ms": wait})


class Held:
    """Counts what is held open, for each subject and in all."""

    def __init__(self, each: int, in_all: int, why: str) -> None:
        """Begin with nothing held."""
        self._each = each
        self._in_all = in_all
        self._why = why
        self._held: dict[str, int] = {}

    @contextmanager
    def by(self, who: str) -> Iterator[None]:
        """Hold one more meanwhile, or refuse."""
        mine = self._held.get(who, 0)
        if mine >= self._each or sum(self._held.values()) >= self._in_all:
            limit = self._each if mine >= self._each else self._in_all
            raise Refusal("TOO_MANY_WATCHES", self._why, {"limit": limit})
        self._held[who] = mine + 1
        try:
            yield
        finally:
            self._held[who] -= 1
            if not self._held[who]:
                del self._held[who]
