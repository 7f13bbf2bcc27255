"""Speed of the audit: files of every game with all checks, on one core; beside PyPI's `eventsourcing`.

An audit caches proofs, so each round has new files, like an archive; beside them the files of the first round are
audited again in every round.
"""

from __future__ import annotations

import cProfile
import os
import pstats
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Final

from rollbook.match.simulation import Simulation
from rollbook.replay_file.container import SUFFIX, write
from rollbook.replay_file.key_lines import read_keys
from rollbook.replay_file.recording import Keys, record
from rollbook.rules.catalogue import current, find
from rollbook_replays.audit.audit import audit
from rollbook_replays.audit.sources import sources
from rollbook_replays.audit.verdicts import Verdict
from rollbook_replays.audit.workers import FEW, audit_all
from tests.bench import rules
from tests.bench.measure import Measure, Row, side_by_side

SEED = 1
KEYS = Keys.of(SEED)
PUBLIC = read_keys(KEYS.public)
GOALS = {"cant_stop": 4.0, "raffzahn": 3.5}
GOAL = 2.0
"""The goal for the other games."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The numbers of a round."""

    files: int = 40
    """Files of each game that are audited on one core."""
    many: int = 10_000
    """Files that are audited on all cores, once a run."""
    baseline: rules.Size = rules.FULL


FULL: Final = Size()
TINY: Final = Size(files=1, many=FEW + 1, baseline=rules.TINY)
"""The smallest run that executes all code, workers included."""


def made(name: str, number: int) -> bytes:
    """Return a simulated match as a file, with each number of seats in turn."""
    game = find(name)
    seats = game.seats[number % len(game.seats)]
    return write(record(Simulation(game, {}, seats, SEED, number), KEYS.heads), KEYS.replays)


def audits(batches: Iterable[Sequence[bytes]]) -> Callable[[], int]:
    """Return a function that audits the next batch of files, all of them exact."""
    left = iter(batches)

    def work() -> int:
        events = 0
        for data in next(left):
            audited = audit(data, PUBLIC)
            assert audited.verdict is Verdict.EXACT
            events += audited.events
        return events

    return work


def batches_of(name: str, files: int, count: int) -> list[list[bytes]]:
    """Return batches of files of one game each."""
    return [[made(name, first + number) for number in range(files)] for first in range(0, files * count, files)]


def bench(rounds: int, *, tiny: bool) -> list[Row]:
    """Measure one core by ratio; then many files on all cores, with their memory."""
    size = TINY if tiny else FULL
    measures = [Measure(rules.BASELINE, "events/s", rules.baseline(size.baseline))]
    for name in current():
        first, *new = batches_of(name, size.files, 1 + rounds)
        audits([first])()
        measures.append(Measure(_audit_of(name), "events/s", audits(new), GOALS.get(name, GOAL)))
        measures.append(Measure(f"audit of {name}, the same files in every round", "events/s", audits(repeat(first))))
    rows = side_by_side(measures, rounds)
    with tempfile.TemporaryDirectory() as folder:
        _audit_many(Path(folder), size.many)
    return rows


def _audit_of(name: str) -> str:
    """Signatures are checked once a file, so an event of a long file costs less."""
    seats = find(name).seats
    return f"audit of {name}, {seats[0]} to {seats[-1]} seats in turn, every check"


def _audit_many(folder: Path, many: int) -> None:
    for number in range(many):
        (folder / f"cant_stop-{SEED}-{number}{SUFFIX}").write_bytes(made("cant_stop", number))
    found = list(sources(folder))
    jobs = os.cpu_count() or 1
    for count in (many // 10, many):
        started = time.perf_counter()
        events = 0
        for _, audited in audit_all(found[:count], PUBLIC, (), jobs):
            assert audited.verdict is Verdict.EXACT
            events += audited.events
        seconds = time.perf_counter() - started
        # The workers have ended, so the memory of the largest one is known.
        most = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        print(f"{count:,} files, {events:,} events, {jobs} processes: {seconds:.1f} s, {most:,} KiB at most in one")


def profile(*, tiny: bool) -> None:
    """Print the functions in which the audit spends its time."""
    for name in current():
        work = audits(batches_of(name, (TINY if tiny else FULL).files, 2))
        work()
        profiled = cProfile.Profile(time.process_time)
        profiled.enable()
        events = work()
        profiled.disable()
        print(f"{name}: {events:,} events")
        pstats.Stats(profiled, stream=sys.stdout).sort_stats("tottime").print_stats(30)
