"""Runs `rollbook serve` with a sampling profiler; its arguments are OUT, `serve` and flags.

Between SIGUSR1 and SIGUSR2 a timer of processor time, as fine as the system's, samples the main thread, and writes to
OUT. Unlike cProfile this does not slow calls, so the shares are right. Threads of gRPC's core are not sampled.
"""

from __future__ import annotations

import signal
import sys
from collections import Counter
from collections.abc import Iterable
from itertools import takewhile
from pathlib import Path
from types import CodeType, FrameType
from typing import Final

from rollbook.cli.app import run

EVERY_SECONDS: Final = 0.001
LINES: Final = 45


class Samples:
    """The samples."""

    def __init__(self, out: Path) -> None:
        """`out`: the file for the samples."""
        self._out = out
        self._alone: Counter[CodeType] = Counter()
        self._within: Counter[CodeType] = Counter()
        self._lines: Counter[tuple[CodeType, int]] = Counter()
        self._count = 0
        signal.signal(signal.SIGPROF, self._look)
        signal.signal(signal.SIGUSR1, lambda *_: self._every(EVERY_SECONDS))
        signal.signal(signal.SIGUSR2, lambda *_: self._end())

    def _every(self, seconds: float) -> None:
        signal.setitimer(signal.ITIMER_PROF, seconds, seconds)

    def _look(self, _signal: int, frame: FrameType | None) -> None:
        if frame is None:
            return
        self._count += 1
        self._alone[frame.f_code] += 1
        self._lines[frame.f_code, frame.f_lineno or 0] += 1
        seen = set()
        while frame is not None:
            seen.add(frame.f_code)
            frame = frame.f_back
        self._within.update(seen)

    def _end(self) -> None:
        self._every(0.0)
        parts = (
            ("by itself", self._table((name(code), times) for code, times in self._alone.most_common())),
            ("with what it calls", self._table((name(code), times) for code, times in self._within.most_common())),
            ("by line", self._table((f"{name(code)} at {line}", times) for (code, line), times in self._by_line())),
        )
        text = "".join(f"{title}, of {self._count} samples\n{table}\n" for title, table in parts)
        self._out.with_suffix(".part").write_text(text, "utf-8")
        self._out.with_suffix(".part").rename(self._out)

    def _by_line(self) -> Iterable[tuple[tuple[CodeType, int], int]]:
        return self._lines.most_common(LINES)

    def _table(self, rows: Iterable[tuple[str, int]]) -> str:
        shown = list(takewhile(lambda row: row[1], rows))[:LINES]
        return "".join(f"{100 * times / max(self._count, 1):6.1f} %  {what}\n" for what, times in shown)


def name(code: CodeType) -> str:
    """Return a function's name with its place."""
    path = Path(code.co_filename)
    return f"{'/'.join(path.parts[-4:])}:{code.co_firstlineno} {code.co_qualname}"


if __name__ == "__main__":
    Samples(Path(sys.argv[1]))
    sys.exit(run(sys.argv[2:]))
