"""The metrics of several processes combined into those of one service."""

from __future__ import annotations

import json

from prometheus_client import CollectorRegistry, Gauge

from rollbook.server.health.metrics import Metrics
from rollbook.server.process.worker_metrics import Tallies, samples_of


def tell(tallies: Tallies, process: str, metrics: Metrics) -> None:
    """Send the samples of a process as through a pipe."""
    tallies.update(process, json.loads(json.dumps(samples_of(metrics.registry, process))))


def numbers(tallies: Tallies) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Every sample by name and labels; fails on duplicates."""
    samples = [sample for family in tallies.collect() for sample in family.samples]
    found = {(sample.name, tuple(sorted(sample.labels.items()))): sample.value for sample in samples}
    assert len(found) == len(samples)
    return found


def test_counters_and_histograms_are_summed_and_outlive_their_process() -> None:
    """A restarted worker counts from zero, but the service's counters do not."""
    tallies, first, second = Tallies(), Metrics(), Metrics()
    for metrics, times in ((first, 2), (second, 3)):
        for _ in range(times):
            metrics.count_append("appended", 0.003)
    tell(tallies, "1", first)
    tell(tallies, "2", second)
    appended = ("rollbook_appends_total", (("result", "appended"),))
    bucket = ("rollbook_append_seconds_bucket", (("le", "0.005"),))
    assert (5, 5) == (numbers(tallies)[appended], numbers(tallies)[bucket])
    tallies.add_ended("1")
    assert (5, 5) == (numbers(tallies)[appended], numbers(tallies)[bucket])
    again = Metrics()
    again.count_append("appended", 0.3)
    tell(tallies, "1", again)
    assert (6, 5) == (numbers(tallies)[appended], numbers(tallies)[bucket])
    tallies.add_ended("1")
    tallies.add_ended("1")
    assert 6 == numbers(tallies)[appended]


def test_a_counter_began_when_the_first_process_began_it() -> None:
    """Creation times must not be summed."""
    tallies, first, second = Tallies(), Metrics(), Metrics()
    tell(tallies, "1", first)
    created = ("rollbook_archived_created", ())
    began = numbers(tallies)[created]
    tell(tallies, "2", second)
    assert began == numbers(tallies)[created]


def test_gauges_come_to_what_is_true_of_the_service_now() -> None:
    """Watchers are summed without those of dead workers; the service archives only if all workers do."""
    tallies, first, second = Tallies(), Metrics(), Metrics()
    first.count_watchers(lambda: 3)
    second.count_watchers(lambda: 4)
    first.archiving(on=True)
    second.archiving(on=True)
    first.clocks_differ(0.25)
    second.clocks_differ(-1.5)
    tell(tallies, "1", first)
    tell(tallies, "2", second)
    gauges = ("rollbook_watchers", "rollbook_archiving", "rollbook_clock_difference_seconds")
    assert [7, 1, -1.5] == [numbers(tallies)[name, ()] for name in gauges]
    first.archiving(on=False)
    tell(tallies, "1", first)
    assert 0 == numbers(tallies)["rollbook_archiving", ()]
    tallies.add_ended("1")
    assert [4, 1, -1.5] == [numbers(tallies)[name, ()] for name in gauges]


def test_what_the_system_says_of_a_process_is_told_of_each() -> None:
    """The summed memory of all workers would hide one that grows."""
    tallies = Tallies()
    for process, size in (("1", 5), ("2", 6)):
        registry = CollectorRegistry()
        Gauge("process_resident_memory_bytes", "Memory.", registry=registry).set(size)
        tallies.update(process, samples_of(registry, process))
    name = "process_resident_memory_bytes"
    assert {(name, (("process", "1"),)): 5, (name, (("process", "2"),)): 6} == numbers(tallies)
