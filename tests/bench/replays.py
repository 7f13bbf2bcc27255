"""Speed of the audit: Can't Stop files with every check on, on one core; beside PyPI's `eventsourcing`."""

from __future__ import annotations

import cProfile
import os
import pstats
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rollbook.match.simulation import Simulation
from rollbook.replay_file.container import SUFFIX, write
from rollbook.replay_file.key_lines import read_keys
from rollbook.replay_file.recording import Keys, record
from rollbook.rules.catalogue import current, find
from rollbook_replays.audit.audit import audit
from rollbook_replays.audit.sources import sources
from rollbook_replays.audit.verdicts import Verdict
from rollbook_replays.audit.workers import audit_all
from tests.bench.measure import Measure, Row, side_by_side
from tests.bench.rules import baseline

SEED = 1
KEYS = Keys.of(SEED)
PUBLIC = read_keys(KEYS.public)
FILES = 40
MANY = 10_000
GOAL = 2.5


def made(name: str, number: int) -> bytes:
    """A simulated match as a file, by each number of seats in turn."""
    game = find(name)
    seats = game.seats[number % len(game.seats)]
    return write(record(Simulation(game, {}, seats, SEED, number), KEYS.heads), KEYS.replays)


def audits(name: str) -> Callable[[], int]:
    """Audits of files of one game, all of them exact."""
    files = [made(name, number) for number in range(FILES)]

    def work() -> int:
        events = 0
        for data in files:
            audited = audit(data, PUBLIC)
            assert audited.verdict is Verdict.EXACT
            events += audited.events
        return events

    return work


def bench(rounds: int) -> list[Row]:
    """One core by ratio; then very many files on all cores, and how much memory that takes."""
    measures = [Measure("baseline: eventsourcing repository.get", "events/s", baseline())]
    measures += [
        Measure(_audit_of(name), "events/s", audits(name), GOAL if name == "cant_stop" else None) for name in current()
    ]
    rows = side_by_side(measures, rounds)
    with tempfile.TemporaryDirectory() as folder:
        _audit_many(Path(folder))
    return rows


def _audit_of(name: str) -> str:
    """Signatures are checked once a file, so that the long files of many seats cost less an event."""
    seats = find(name).seats
    return f"audit of {name}, {seats[0]} to {seats[-1]} seats in turn, every check"


def _audit_many(folder: Path) -> None:
    for number in range(MANY):
        (folder / f"cant_stop-{SEED}-{number}{SUFFIX}").write_bytes(made("cant_stop", number))
    found = list(sources(folder))
    jobs = os.cpu_count() or 1
    for count in (MANY // 10, MANY):
        started = time.perf_counter()
        events = 0
        for _, audited in audit_all(found[:count], PUBLIC, (), jobs):
            assert audited.verdict is Verdict.EXACT
            events += audited.events
        seconds = time.perf_counter() - started
        # The workers have ended, so what the largest of them held is known.
        most = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        print(f"{count:,} files, {events:,} events, {jobs} processes: {seconds:.1f} s, {most:,} KiB at most in one")


def profile() -> None:
    """Where the time of the audit goes."""
    work = audits("cant_stop")
    work()
    profiled = cProfile.Profile()
    profiled.enable()
    work()
    profiled.disable()
    pstats.Stats(profiled, stream=sys.stdout).sort_stats("tottime").print_stats(30)
