"""One round: a new process plays, while the processor time of server, store and load is read from the system."""

from __future__ import annotations

import json
import platform
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import psutil

FULL_LOAD: Final = 0.8
"""A load that used more of its core may itself have been the bottleneck."""


@dataclass(frozen=True, slots=True)
class Round:
    """The results of one round."""

    moves: int
    frames: int
    seconds: float
    answer_ms: Mapping[str, float]
    """From the time at which a choice was due to its answer: median and 99th percentile."""
    told_ms: Mapping[str, float]
    """From the same time until both players and both spectators had the choice in their feeds."""
    processor: Mapping[str, float]
    """Seconds of processor time of each part, the load included."""

    @property
    def rate(self) -> float:
        """Moves a second."""
        return self.moves / self.seconds

    @property
    def load(self) -> float:
        """The part of its core that the load used."""
        return self.processor["load"] / self.seconds

    @property
    def said(self) -> str:
        """The results in one line."""
        times = (*self.answer_ms.values(), *self.told_ms.values())
        spent_by = ", ".join(f"{part} {self.micros(part):,.0f} µs" for part in self.processor)
        return (
            f"{self.rate:,.0f} moves/s; of each move {spent_by}; answers p50 {times[0]:.1f} p99 {times[1]:.1f} ms, "
            f"feeds p50 {times[2]:.1f} p99 {times[3]:.1f} ms, {self.frames / self.moves:.2f} told a move; "
            f"the load used {100 * self.load:.0f} % of its core{'' if self.counts else ', so its rate does not count'}"
        )

    @property
    def counts(self) -> bool:
        """Whether the server, not the load, was the bottleneck."""
        return self.load <= FULL_LOAD

    def micros(self, part: str) -> float:
        """Microseconds of processor time a move."""
        return 1e6 * self.processor[part] / self.moves


def nothing() -> None:
    """Do no additional work."""


def played(
    words: Sequence[str],
    what: Mapping[str, Any],
    parts: Mapping[str, Sequence[int]],
    *,
    begun: Callable[[], None] = nothing,
    ended: Callable[[], None] = nothing,
    env: Mapping[str, str] | None = None,
) -> Round:
    """Start the load and observe it and these processes; calls back at begin and end of the measurement."""
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env) as load:
        try:
            assert load.stdin is not None
            assert load.stdout is not None
            load.stdin.write(json.dumps(what) + "\n")
            load.stdin.flush()
            watched = {**parts, "load": [load.pid]}
            _expect("begin", load.stdout.readline())
            begun()
            before = {part: spent(pids) for part, pids in watched.items()}
            _expect("end", load.stdout.readline())
            processor = {part: spent(pids) - before[part] for part, pids in watched.items()}
            ended()
            found = load.stdout.readline()
            assert found, "the load ended before it had found anything"
            return Round(**json.loads(found), processor=processor)
        except BaseException:
            load.kill()
            raise


def spent(pids: Sequence[int]) -> float:
    """Return the seconds of processor time that these processes have used."""
    return sum(map(_spent, pids))


def _spent(pid: int) -> float:
    if platform.system() == "Linux":
        # The clock of another process, as clock_getcpuclockid builds it; psutil has a resolution of 10 ms.
        return time.clock_gettime(~pid << 3 | 2)
    return float(sum(psutil.Process(pid).cpu_times()[:2]))


def _expect(wanted: str, line: str) -> None:
    assert line, "the load has ended"
    assert wanted == json.loads(line)
