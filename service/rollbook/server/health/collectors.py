"""Prometheus collectors for what is counted so often that buckets are made only when they are scraped."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter as Tally
from collections.abc import Iterator
from itertools import accumulate
from typing import Final

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

SECONDS: Final = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
_EVENTS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)
_RESULTS: Final = ("appended", "conflict", "too_early", "unknown", "unavailable")


class Lag(Collector):
    """A histogram of frames. Frames are frequent, so they are only counted, and the buckets made when scraped."""

    def __init__(self) -> None:
        self.frames: Tally[int] = Tally()
        """The number of frames by the number of events that their watchers were behind."""

    def collect(self) -> Iterator[HistogramMetricFamily]:
        """The current histogram; may be called on any thread."""
        frames = dict(self.frames)
        buckets = [
            (str(float(most)), sum(times for events, times in frames.items() if events <= most)) for most in _EVENTS
        ]
        buckets.append(("+Inf", sum(frames.values())))
        told = sum(events * times for events, times in frames.items())
        about = "How many events a watcher was behind when a frame was made for it."
        yield HistogramMetricFamily("rollbook_feed_lag_events", about, buckets, told)


class Appends(Collector):
    """Appends by result, and a histogram of their durations, whose buckets are made when scraped."""

    def __init__(self) -> None:
        self._results = dict.fromkeys(_RESULTS, 0)
        self._within = [0] * (len(SECONDS) + 1)
        """Appends by the bucket of their duration; the last bucket has no upper bound."""
        self._seconds = 0.0

    def count(self, result: str, seconds: float) -> None:
        """Count an append."""
        self._results[result] += 1
        self._within[bisect_left(SECONDS, seconds)] += 1
        self._seconds += seconds

    def collect(self) -> Iterator[CounterMetricFamily | HistogramMetricFamily]:
        """The current counts; may be called on any thread."""
        results = CounterMetricFamily("rollbook_appends", "Appends by result.", labels=["result"])
        for result, times in self._results.items():
            results.add_metric([result], times)
        yield results
        bounds = [*(str(float(bound)) for bound in SECONDS), "+Inf"]
        buckets = list(zip(bounds, accumulate(self._within), strict=True))
        yield HistogramMetricFamily("rollbook_append_seconds", "How long an append took.", buckets, self._seconds)
