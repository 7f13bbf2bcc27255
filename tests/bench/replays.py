"""Speed of the audit: files of every game with every check on, on one core; beside PyPI's `eventsourcing`.

An audit remembers what it has proved, so each round has files that nobody has seen before, as an archive has; beside
them stand the files of the first round, which are audited again in every round.
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
"""Of every other game."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much a round is made of."""

    files: int = 40
    """Of each game, that are audited on one core."""
    many: int = 10_000
    """That are audited on all cores, once a run."""
    baseline: rules.Size = rules.FULL


FULL: Final = Size()
TINY: Final = Size(files=1, many=FEW + 1, baseline=rules.TINY)
"""Next to nothing, to see that all of it runs, the workers as well."""


def made(name: str, number: int) -> bytes:
    """A simulated match as a file, by each number of seats in turn."""
    game = find(name)
    seats = game.seats[number % len(game.seats)]
    return write(record(Simulation(game, {}, seats, SEED, number), KEYS.heads), KEYS.replays)


def audits(batches: Iterable[Sequence[bytes]]) -> Callable[[], int]:
    """Audits of the next batch of files, all of them exact."""
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
    """So many batches of so many files of one game each."""
    return [[made(name, first + number) for number in range(files)] for first in range(0, files * count, files)]


def bench(rounds: int, *, tiny: bool) -> list[Row]:
    """One core by ratio; then very many files on all cores, and how much memory that takes."""
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
    """Signatures are checked once a file, so that the long files of many seats cost less an event."""
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
        # The workers have ended, so what the largest of them held is known.
        most = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        print(f"{count:,} files, {events:,} events, {jobs} processes: {seconds:.1f} s, {most:,} KiB at most in one")


def profile(*, tiny: bool) -> None:
    """Where the time of the audit goes."""
    for name in current():
        work = audits(batches_of(name, (TINY if tiny else FULL).files, 2))
        work()
        profiled = cProfile.Profile(time.process_time)
        profiled.enable()
        events = work()
        profiled.disable()
        print(f"{name}: {events:,} events")
        pstats.Stats(profiled, stream=sys.stdout).sort_stats("tottime").print_stats(30)
