"""Speed of the service, beside bare gRPC and bare Redis with as many bytes, in one run.

Choices go through the whole service: token, rate, decision, append, projection, signature, and the layers that log and
count every call. Clients and server share one process and one loop there, as in the baselines. Watchers have their own
processes. All but group commit and memory use a log in memory.
"""

from __future__ import annotations

import asyncio
import cProfile
import gc
import io
import pstats
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from typing import Any, Protocol

from rollbook.server import log_output
from tests.bench.measure import Measure, Row, Run, looked_up, side_by_side
from tests.bench.service.choices import Choices
from tests.bench.service.fan_out import FanOut
from tests.bench.service.size import FULL, TINY
from tests.bench.service.stored import Stored

LATENCY = 1.7
"""The largest time to a frame, as a multiple of the bare server's."""

PROFILED_LINES = 30


class Scene(Protocol):
    """Measures that run side by side on shared servers."""

    async def begin(self, stack: AsyncExitStack) -> None:
        """Set everything up."""

    def measures(self) -> list[list[Measure]]:
        """Return the groups of measures, each after its baseline."""


def bench(rounds: int, *, tiny: bool) -> list[Row]:
    """Run all measures."""
    size = TINY if tiny else FULL
    rows: list[Row] = []
    with _on(lambda run: Choices(run, rounds, size)) as (choices, _):
        rows += _measured(choices, rounds)
        choices.check()
    with _on(lambda run: FanOut(run, size.watchers, size)) as (crowd, _):
        rows += _measured(crowd, rounds)
    with _on(lambda run: FanOut(run, size.watchers_timed, size)) as (crowd, run):
        bare_name = f"bare write to {size.watchers_timed} streams, median"
        bare = Measure(bare_name, "ms", lambda: run(crowd.bare_milliseconds()))
        ours = Measure("append to frame, median", "ms", lambda: run(crowd.milliseconds_to_a_frame()), LATENCY)
        rows += looked_up([bare, ours], rounds)
    with _on(lambda run: Stored(run, size)) as (stored, run):
        rows += _measured(stored, rounds)
        rows += run(stored.weighed())
    return rows


def profile(*, tiny: bool) -> None:
    """Print where the time goes: for single choices, choices over Play, and frames."""
    size = TINY if tiny else FULL
    with _on(lambda run: Choices(run, 2, size)) as (choices, run):
        _profiled(run, choices.one_by_one)
        _profiled(run, choices.played)
    with _on(lambda run: FanOut(run, size.watchers, size)) as (crowd, run):
        _profiled(run, crowd.frames)


def _measured(scene: Scene, rounds: int) -> list[Row]:
    rows: list[Row] = []
    for measures in scene.measures():
        for measure in measures:
            measure.work()
        rows += side_by_side(measures, rounds)
    return rows


@contextmanager
def _on(make: Callable[[Run], Any]) -> Iterator[tuple[Any, Run]]:
    """Set up a scene on its own loop."""
    log_output.configure("info", io.StringIO())
    with asyncio.Runner() as runner:
        scene, stack = make(runner.run), AsyncExitStack()
        try:
            runner.run(scene.begin(stack))
            gc.collect()
            yield scene, runner.run
        finally:
            runner.run(stack.aclose())


def _profiled(run: Run, work: Callable[[], Any]) -> None:
    run(work())
    taken = cProfile.Profile()
    taken.enable()
    run(work())
    taken.disable()
    pstats.Stats(taken).sort_stats("tottime").print_stats(PROFILED_LINES)
