"""Combines the metrics of a service's processes, including those that have ended.

Counters and histograms are summed, and never decrease when a process dies. Gauges are summed too, except those in
`_TOGETHER`. Metrics of the operating system are kept per process, with a label for the process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from prometheus_client import CollectorRegistry, Metric

Labels: TypeAlias = tuple[tuple[str, str], ...]
Samples: TypeAlias = list[list[Any]]
"""The samples of one process, in JSON."""

OF_A_PROCESS: Final = "process_"
"""Prefix of the operating system's metrics of a process."""

PROCESS: Final = "process"
"""The label that names a process."""

_ADDED_UP: Final = {"counter", "histogram"}
_CREATED: Final = "_created"

_TOGETHER: Final[dict[str, Callable[[Iterable[float]], float]]] = {
    "rollbook_archiving": min,
    "rollbook_archive_backlog": max,
    "rollbook_archive_late_seconds": max,
    "rollbook_data_disk_ratio": max,
    "rollbook_store_memory_ratio": max,
    "rollbook_build_info": max,
    "rollbook_last_sweep_timestamp_seconds": max,
    "rollbook_store_replaced": max,
    "rollbook_store_up": min,
    "rollbook_tls_not_after_seconds": min,
    "rollbook_clock_difference_seconds": lambda values: max(values, key=abs),
}
"""How to combine gauges for which a sum is meaningless. For the creation time of a counter it is the minimum."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One line of the exposition."""

    family: str
    kind: str
    documentation: str
    name: str
    labels: Labels

    @property
    def is_kept(self) -> bool:
        """Whether the sample counts after its process has ended."""
        return self.kind in _ADDED_UP and not self.name.endswith(_CREATED)

    def together(self, values: Sequence[float]) -> float:
        """Combine the values of several processes."""
        return (min if self.name.endswith(_CREATED) else _TOGETHER.get(self.family, sum))(values)


Numbers: TypeAlias = dict[Sample, float]


def samples_of(registry: CollectorRegistry, process: str) -> Samples:
    """The samples of a registry; the operating system's metrics are labelled with `process`."""
    return [
        [family.name, family.type, family.documentation, name, _labels(family, labels, process), value]
        for family in registry.collect()
        for name, labels, value, *_ in family.samples
    ]


def _labels(family: Metric, labels: dict[str, str], process: str) -> dict[str, str]:
    return labels | {PROCESS: process} if family.name.startswith(OF_A_PROCESS) else labels


class Tallies:
    """The metrics of all processes of a service."""

    def __init__(self) -> None:
        self._latest: dict[str, Numbers] = {}
        self._gone: Numbers = {}

    def update(self, process: str, samples: Samples) -> None:
        """Replace the samples of a process by newer ones."""
        self._latest[process] = {
            Sample(family, kind, documentation, name, tuple(sorted(labels.items()))): value
            for family, kind, documentation, name, labels, value in samples
        }

    def add_ended(self, process: str) -> None:
        """Add the last samples of a process that has ended to the totals."""
        for sample, value in self._latest.pop(process, {}).items():
            if sample.is_kept:
                self._gone[sample] = self._gone.get(sample, 0) + value

    def collect(self) -> Iterator[Metric]:
        """The combined metrics, by family."""
        values: dict[Sample, list[float]] = {sample: [value] for sample, value in self._gone.items()}
        for numbers in list(self._latest.values()):
            for sample, value in numbers.items():
                values.setdefault(sample, []).append(value)
        families: dict[str, Metric] = {}
        for sample, found in values.items():
            family = families.setdefault(sample.family, Metric(sample.family, sample.documentation, sample.kind))
            family.add_sample(sample.name, dict(sample.labels), sample.together(found))
        yield from families.values()
