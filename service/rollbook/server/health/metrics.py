"""Prometheus metrics: appends, calls, refusals, watchers, sweeps, losses; no label names a player or a match.

Every service has its own registry, whether it is scraped or not. `MeasuredLog` wraps the log, so that callers of
`append` need no code for metrics.
"""

from __future__ import annotations

import asyncio
import platform
import re
import time
from collections import Counter as Tally
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector

from rollbook import __version__
from rollbook.match.chain import Entry
from rollbook.match.events import Event
from rollbook.rules.catalogue import current
from rollbook.server.health.collectors import SECONDS, Appends, Lag
from rollbook.server.health.process_health import Vitals
from rollbook.storage.port import (
    MATCHES_LOST,
    NO_ANSWER,
    REPLICAS_DIFFER,
    STORE_REPLACED,
    Appended,
    AppendResult,
    AppendUnconfirmed,
    Conflict,
    EventLog,
    StoreUnavailable,
)
from rollbook.v1.match_pb2 import (
    MATCH_STATE_GETTING_READY,
    MATCH_STATE_OPEN,
    MATCH_STATE_RUNNING,
    MatchState,
)
from rollbook.v1.refusals_pb2 import RefusalReason

_STATES: Final[dict[MatchState.ValueType, str]] = {
    MATCH_STATE_OPEN: "open",
    MATCH_STATE_GETTING_READY: "getting_ready",
    MATCH_STATE_RUNNING: "running",
}

STORE_ERRORS: Final = {
    NO_ANSWER: "no_answer",
    REPLICAS_DIFFER: "not_durable",
    STORE_REPLACED: "replaced",
    MATCHES_LOST: "matches_lost",
    "the store is out of memory": "out_of_memory",
    "the store has too few replicas": "too_few_replicas",
    "the store's cluster is down": "cluster_down",
    "the store cannot write to its disk": "disk",
    "the store takes no writes": "read_only",
    "the store does not let the service do this": "not_permitted",
    "a key of the store is not what it should be": "wrong_key",
    "the store would not keep what it acknowledges": "not_durable",
    "the store refuses": "refused",
}
"""The metric label for a failure of the store, by the cause that clients receive."""

_UNCONFIRMED: Final = "unconfirmed"
_OTHER: Final = "other"
OTHER_GAMES: Final = "other"
"""The label for games that are not installed here."""

_GUESTS: Final = ("new", "returned")


class Metrics:
    """All metrics of one service."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.vitals = Vitals()
        ProcessCollector(registry=self.registry)
        self._count_calls()
        self._count_matches()
        self._count_store()
        self._count_archive()
        self._count_loops()

    def _count_calls(self) -> None:
        self._build = Gauge(
            "rollbook_build_info", "1, by what runs here.", ["version", "python", "durability"], registry=self.registry
        )
        self._call_seconds = Histogram(
            "rollbook_call_seconds",
            "How long a call took; a stream until it ended.",
            ["method", "code"],
            buckets=SECONDS,
            registry=self.registry,
        )
        self._calls: dict[tuple[str, str], Histogram] = {}
        """Cache of the histogram for each method and code, because the library's lookup is slower."""
        self._refusals = Counter("rollbook_refusals", "Refusals by reason.", ["reason"], registry=self.registry)
        # From 0 on, so that the first refusal is an increase.
        for reason in RefusalReason.keys()[1:]:
            self._refusals.labels(reason.removeprefix("REFUSAL_REASON_").lower())
        self._not_after: Gauge | None = None
        self._serving = Gauge("rollbook_serving", "Processes whose health is good.", registry=self.registry)
        self._watchers = Gauge("rollbook_watchers", "Feeds of matches under way.", registry=self.registry)
        self._lobby_watchers = Gauge("rollbook_lobby_watchers", "Feeds of the lobby under way.", registry=self.registry)
        self._plays = Gauge("rollbook_plays", "Streams of Play under way.", registry=self.registry)
        self._lag = Lag()
        self.registry.register(self._lag)
        self._guests = Counter("rollbook_guests", "Guests who signed in, by kind.", ["kind"], registry=self.registry)
        for kind in _GUESTS:
            self._guests.labels(kind)
        self._audits = Counter(
            "rollbook_audits", "Files that were sent and audited, by verdict.", ["verdict"], registry=self.registry
        )

    def _count_matches(self) -> None:
        self._found: Tally[tuple[str, str]] = Tally()
        """Matches by state and game, as last listed."""
        self._matches = Gauge(
            "rollbook_matches",
            "Matches that are not over, some seconds ago at most.",
            ["state", "game"],
            registry=self.registry,
        )
        for state in _STATES.values():
            for game in current():
                self._matches.labels(state, game)
        self._lost_tails = Counter(
            "rollbook_lost_tails", "Matches whose log lost events that had been sent.", registry=self.registry
        )
        self._sweeps = Counter("rollbook_sweeps", "What was due and done, by kind.", ["kind"], registry=self.registry)
        self._sweep_seconds = Histogram(
            "rollbook_sweep_seconds", "How long a sweep took.", buckets=SECONDS, registry=self.registry
        )
        self._swept = Gauge(
            "rollbook_last_sweep_timestamp_seconds", "When the last sweep ended; 0: never.", registry=self.registry
        )
        self._sweepers = Gauge("rollbook_sweepers", "Processes that have the sweeper's lease.", registry=self.registry)

    def _count_store(self) -> None:
        self._appends = Appends()
        self.registry.register(self._appends)
        self._store_up = Gauge("rollbook_store_up", "1 if the store can be written to, else 0.", registry=self.registry)
        self._store_replaced = Gauge(
            "rollbook_store_replaced", "1 while the store is not the one that it was, else 0.", registry=self.registry
        )
        self._store_errors = Counter(
            "rollbook_store_errors",
            "Appends, and proofs that the store can be written to, that failed, by kind.",
            ["kind"],
            registry=self.registry,
        )
        for kind in (*STORE_ERRORS.values(), _UNCONFIRMED, _OTHER):
            self._store_errors.labels(kind)
        self._proof_seconds = Histogram(
            "rollbook_store_proof_seconds",
            "How long one write on every master took, under fsync until it was on disk; there is one a second.",
            buckets=SECONDS,
            registry=self.registry,
        )
        self._store_memory = Gauge(
            "rollbook_store_memory_ratio",
            "The share of its memory (maxmemory, or the machine's) that the fullest master uses.",
            registry=self.registry,
        )
        self._data_disk = Gauge(
            "rollbook_data_disk_ratio",
            "The used share of the disk that has the data directory.",
            registry=self.registry,
        )
        self._clocks = Gauge(
            "rollbook_clock_difference_seconds",
            "How far the store's clock is ahead of the service's.",
            registry=self.registry,
        )

    def _count_archive(self) -> None:
        self._archiving = Gauge(
            "rollbook_archiving", "1 if finished matches go to the archive, else 0.", registry=self.registry
        )
        self._archive_backlog = Gauge(
            "rollbook_archive_backlog", "Finished matches that still lie in the store.", registry=self.registry
        )
        self._archive_late = Gauge(
            "rollbook_archive_late_seconds",
            "For how long the oldest finished match in the store should have been in the archive.",
            registry=self.registry,
        )
        self._archived = Counter("rollbook_archived", "Matches that went to the archive.", registry=self.registry)
        self._archive_failures = Counter(
            "rollbook_archive_failures",
            "Looks at the archive, or matches on their way into it, that failed.",
            registry=self.registry,
        )

    def _count_loops(self) -> None:
        self._loop_failures = Counter(
            "rollbook_loop_failures",
            "Failures of what the service does all the time.",
            ["loop"],
            registry=self.registry,
        )
        self._loop_lag = Histogram(
            "rollbook_event_loop_lag_seconds",
            "By how much the event loop was late, looked at twice a second.",
            buckets=SECONDS,
            registry=self.registry,
        )

    def runs(self, durability: str) -> None:
        """Set the build information."""
        self._build.labels(__version__, platform.python_version(), durability).set(1)

    def certificate_ends(self, seconds: float) -> None:
        """Set when the certificate of gRPC expires, in Unix seconds; without TLS there is no such metric."""
        if self._not_after is None:
            about = "When the certificate of gRPC expires, in Unix seconds."
            self._not_after = Gauge("rollbook_tls_not_after_seconds", about, registry=self.registry)
        self._not_after.set(seconds)

    def count_append(self, result: str, seconds: float) -> None:
        """Count an append by its result."""
        self._appends.count(result, seconds)

    def count_call(self, method: str, code: str, seconds: float) -> None:
        """Count a finished call of a registered method."""
        histogram = self._calls.get((method, code))
        if histogram is None:
            histogram = self._calls[method, code] = self._call_seconds.labels(method, code)
        histogram.observe(seconds)

    def count_refusal(self, reason: str) -> None:
        """Count a refusal by its reason."""
        self._refusals.labels(reason.lower()).inc()

    def serves(self, *, serves: bool) -> None:
        """Set whether the process's health is good."""
        self.vitals.serves = serves
        self._serving.set(serves)

    def guest(self, *, returned: bool) -> None:
        """Count a sign-in of a guest."""
        self._guests.labels(_GUESTS[returned]).inc()

    def count_watchers(self, count: Callable[[], int]) -> None:
        """Register the function that returns the number of watchers; it is called on any thread."""
        self._watchers.set_function(count)

    def count_lobby_watchers(self, count: Callable[[], int]) -> None:
        """Register the function that returns the number of watchers of the lobby; it is called on any thread."""
        self._lobby_watchers.set_function(count)

    def count_plays(self, count: Callable[[], int]) -> None:
        """Register the function that returns the number of open Play streams; it is called on any thread."""
        self._plays.set_function(count)

    def count_frame(self, events: int) -> None:
        """Count a frame whose watcher was this many events behind."""
        self._lag.frames[events] += 1

    def set_matches(self, counts: Mapping[tuple[MatchState.ValueType, str], int]) -> None:
        """Set the number of matches by state and game."""
        found = Tally({(_STATES[state], game): count for (state, game), count in counts.items() if count})
        # Combinations that have disappeared are set to 0.
        for labels in self._found | found:
            self._matches.labels(*labels).set(found[labels])
        self._found = found

    def sweeping(self, *, sweeps: bool) -> None:
        """Set whether this process has the sweeper's lease."""
        self.vitals.sweeps = sweeps
        self._sweepers.set(sweeps)

    def swept_all(self, now_ms: int, seconds: float) -> None:
        """Record the end and the duration of a sweep."""
        self._swept.set(now_ms / 1_000)
        self._sweep_seconds.observe(seconds)

    def lost_tail(self) -> None:
        """Count a log that lost events which were sent."""
        self.vitals.lost_tails += 1
        self._lost_tails.inc()

    def store_found(self, *, is_up: bool) -> None:
        """Set whether the store can be written to."""
        self.vitals.store_is_up = is_up
        self._store_up.set(is_up)
        if is_up:
            self._store_replaced.set(0)

    def store_proved(self, seconds: float) -> None:
        """Record the duration of a write on every master."""
        self._proof_seconds.observe(seconds)

    def store_measured(self, memory_ratio: float) -> None:
        """Set the share of its memory that the fullest master uses."""
        self._store_memory.set(memory_ratio)

    def disk_measured(self, ratio: float) -> None:
        """Set the used share of the data directory's disk."""
        self._data_disk.set(ratio)

    def store_failed(self, failure: BaseException) -> None:
        """Count a failure of the store by its kind."""
        kind = _OTHER
        if isinstance(failure, AppendUnconfirmed) and failure.cause == NO_ANSWER:
            kind = _UNCONFIRMED
        elif isinstance(failure, AppendUnconfirmed | StoreUnavailable):
            if failure.cause == STORE_REPLACED:
                self._store_replaced.set(1)
            kind = STORE_ERRORS.get(failure.cause, _OTHER)
        elif isinstance(failure, TimeoutError):
            kind = STORE_ERRORS[NO_ANSWER]
        self._store_errors.labels(kind).inc()

    def archiving(self, *, on: bool) -> None:
        """Set whether finished matches go to the archive."""
        self.vitals.archive_is_up = on
        self._archiving.set(on)

    def waiting(self, matches: int) -> None:
        """Set the number of finished matches in the store."""
        self.vitals.archive_backlog = matches
        self._archive_backlog.set(matches)

    def archive_late(self, seconds: float) -> None:
        """Set for how long the oldest finished match in the store should have been in the archive."""
        self._archive_late.set(seconds)

    def count_archived(self) -> None:
        """Count a match that was archived and verified."""
        self._archived.inc()

    def archive_failed(self) -> None:
        """Count a match that could not be archived and stays in the log."""
        self._archive_failures.inc()

    def loop_failed(self, name: str) -> None:
        """Count a failed round of a background loop."""
        self._loop_failures.labels(name).inc()

    def loop_lagged(self, seconds: float) -> None:
        """Record by how much the event loop was late."""
        self._loop_lag.observe(seconds)

    def clocks_differ(self, seconds: float) -> None:
        """Set how far the store's clock is ahead of the service's."""
        self.vitals.clock_ahead_ms = round(seconds * 1_000)
        self._clocks.set(seconds)

    def count_audit(self, verdict: str) -> None:
        """Count an audit of an uploaded file."""
        self._audits.labels(verdict).inc()

    def count_swept(self, event: Event) -> None:
        """Count an event that the sweeper caused."""
        self._sweeps.labels(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(event).__name__).lower()).inc()


class MeasuredLog:
    """A log that counts and times appends."""

    def __init__(self, inner: EventLog, metrics: Metrics) -> None:
        self.read, self.head, self.behind, self.listen = inner.read, inner.head, inner.behind, inner.listen
        self._inner = inner
        self._metrics = metrics

    async def append(self, match_id: str, expected: int, entries: Sequence[Entry], **terms: Any) -> AppendResult:
        """Append, and count the result."""
        began = time.perf_counter()
        told = "unavailable"
        try:
            result = await self._inner.append(match_id, expected, entries, **terms)
            if isinstance(result, Appended):
                told = "appended"
            else:
                told = "conflict" if isinstance(result, Conflict) else "too_early"
        except (AppendUnconfirmed, asyncio.CancelledError) as failure:
            told = "unknown"
            if isinstance(failure, AppendUnconfirmed):
                self._metrics.store_failed(failure)
            raise
        except StoreUnavailable as failure:
            self._metrics.store_failed(failure)
            raise
        finally:
            self._metrics.count_append(told, time.perf_counter() - began)
        return result
