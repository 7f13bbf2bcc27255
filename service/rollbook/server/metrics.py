"""Numbers for Prometheus: what is appended, called, refused, watched, swept, lost; no label says who, or which match.

Every service counts into a registry of its own, whether or not anybody looks. `MeasuredLog` stands between the service
and its log, so that whoever appends need not know of it.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter as Tally
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.core import HistogramMetricFamily
from prometheus_client.registry import Collector

from rollbook.match.chain import Entry
from rollbook.match.events import Event
from rollbook.storage.port import Appended, AppendResult, AppendUnconfirmed, Conflict, Log
from rollbook.storage.wrapped import WrappedLog
from rollbook.v1.match_pb2 import (
    MATCH_STATE_GETTING_READY,
    MATCH_STATE_OPEN,
    MATCH_STATE_RUNNING,
    MatchState,
)

_SECONDS: Final = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
_EVENTS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)
_STATES: Final[dict[MatchState.ValueType, str]] = {
    MATCH_STATE_OPEN: "open",
    MATCH_STATE_GETTING_READY: "getting_ready",
    MATCH_STATE_RUNNING: "running",
}
_RESULTS: Final = ("appended", "conflict", "too_early", "unknown", "unavailable")


class _Lag(Collector):
    """A histogram of frames, which are so many that each is only counted until somebody looks."""

    def __init__(self) -> None:
        """No frame was made."""
        self.frames: Tally[int] = Tally()
        """By how many events their watchers were behind."""

    def collect(self) -> Iterator[HistogramMetricFamily]:
        """What has been counted by now; any thread may ask."""
        frames = dict(self.frames)
        buckets = [
            (str(float(most)), sum(times for events, times in frames.items() if events <= most)) for most in _EVENTS
        ]
        buckets.append(("+Inf", sum(frames.values())))
        told = sum(events * times for events, times in frames.items())
        about = "How many events a watcher was behind when a frame was made for it."
        yield HistogramMetricFamily("rollbook_feed_lag_events", about, buckets, told)


class Metrics:
    """All numbers of one service."""

    def __init__(self) -> None:
        """Begin at nothing."""
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        appends = Counter("rollbook_appends", "Appends by result.", ["result"], registry=self.registry)
        self._appends = {result: appends.labels(result) for result in _RESULTS}
        self._append_seconds = Histogram(
            "rollbook_append_seconds", "How long an append took.", buckets=_SECONDS, registry=self.registry
        )
        self._call_seconds = Histogram(
            "rollbook_call_seconds",
            "How long a call took; a stream until it ended.",
            ["method", "code"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._calls: dict[tuple[str, str], Histogram] = {}
        """The same for each method and code, found faster than the library finds it."""
        self._refusals = Counter("rollbook_refusals", "Refusals by reason.", ["reason"], registry=self.registry)
        self._watchers = Gauge("rollbook_watchers", "Feeds of matches under way.", registry=self.registry)
        self._lag = _Lag()
        self.registry.register(self._lag)
        self._matches = Gauge(
            "rollbook_matches",
            "Matches that are not over, some seconds ago at most.",
            ["state"],
            registry=self.registry,
        )
        for state in _STATES.values():
            self._matches.labels(state)
        self._lost_tails = Counter(
            "rollbook_lost_tails", "Matches whose log lost what had been told.", registry=self.registry
        )
        self._archiving = Gauge(
            "rollbook_archiving", "1 if finished matches go to the archive, else 0.", registry=self.registry
        )
        self._archived = Counter("rollbook_archived", "Matches that went to the archive.", registry=self.registry)
        self._archive_failures = Counter(
            "rollbook_archive_failures",
            "Looks at the archive, or matches on their way into it, that failed.",
            registry=self.registry,
        )
        self._loop_failures = Counter(
            "rollbook_loop_failures",
            "Failures of what the service does all the time.",
            ["loop"],
            registry=self.registry,
        )
        self._clocks = Gauge(
            "rollbook_clock_difference_seconds",
            "How far the store's clock is ahead of the service's.",
            registry=self.registry,
        )
        self._audits = Counter(
            "rollbook_audits", "Files that were sent and audited, by verdict.", ["verdict"], registry=self.registry
        )
        self._sweeps = Counter("rollbook_sweeps", "What was due and done, by kind.", ["kind"], registry=self.registry)

    def appended(self, result: str, seconds: float) -> None:
        """An append came to this result."""
        self._appends[result].inc()
        self._append_seconds.observe(seconds)

    def called(self, method: str, code: str, seconds: float) -> None:
        """A call of a method of ours has ended."""
        histogram = self._calls.get((method, code))
        if histogram is None:
            histogram = self._calls[method, code] = self._call_seconds.labels(method, code)
        histogram.observe(seconds)

    def refused(self, reason: str) -> None:
        """A client was refused something."""
        self._refusals.labels(reason.lower()).inc()

    def count_watchers(self, count: Callable[[], int]) -> None:
        """Ask here how many watchers there are; any thread may do so."""
        self._watchers.set_function(count)

    def framed(self, events: int) -> None:
        """A watcher that was so many events behind got a frame."""
        self._lag.frames[events] += 1

    def listed(self, counts: Mapping[MatchState.ValueType, int]) -> None:
        """So many matches are in the lobby, by state."""
        for state, name in _STATES.items():
            self._matches.labels(name).set(counts.get(state, 0))

    def lost_tail(self) -> None:
        """A log has lost what was told."""
        self._lost_tails.inc()

    def archiving(self, *, on: bool) -> None:
        """Whether finished matches go to the archive."""
        self._archiving.set(on)

    def archived(self) -> None:
        """A match is in the archive, whole and verified."""
        self._archived.inc()

    def archive_failed(self) -> None:
        """A match could not be archived, and stays in the log."""
        self._archive_failures.inc()

    def loop_failed(self, name: str) -> None:
        """What the service does all the time has failed, and is tried again."""
        self._loop_failures.labels(name).inc()

    def clocks_differ(self, seconds: float) -> None:
        """The store's clock is so far ahead of the service's."""
        self._clocks.set(seconds)

    def audited(self, verdict: str) -> None:
        """A file that somebody sent was audited."""
        self._audits.labels(verdict).inc()

    def swept(self, event: Event) -> None:
        """The service has done something of its own accord."""
        self._sweeps.labels(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(event).__name__).lower()).inc()


class MeasuredLog(WrappedLog):
    """A log whose appends are counted and timed."""

    def __init__(self, inner: Log, metrics: Metrics) -> None:
        """Measure this log."""
        super().__init__(inner)
        self._metrics = metrics

    async def append(self, match_id: str, expected: int, entries: Sequence[Entry], **terms: Any) -> AppendResult:
        """Append, and count what comes of it."""
        began = time.perf_counter()
        told = "unavailable"
        try:
            result = await self._inner.append(match_id, expected, entries, **terms)
            if isinstance(result, Appended):
                told = "appended"
            else:
                told = "conflict" if isinstance(result, Conflict) else "too_early"
        except (AppendUnconfirmed, asyncio.CancelledError):
            told = "unknown"
            raise
        finally:
            self._metrics.appended(told, time.perf_counter() - began)
        return result
