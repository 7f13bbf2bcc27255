"""How far a long command has come: a bar with rate and time left on standard error, and at the end what it did."""

import sys
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from rollbook.cli.exits import counted

QUIET_SECONDS = 1.0
"""Work that is done sooner than this needs no bar."""


class Progress:
    """Work on many matches; a context that tells what was done when it is left, whichever way."""

    def __init__(self, one: str, many: str, total: int) -> None:
        """Begin with what one is called, and several, such as "file" and "files"; nothing is shown yet."""
        self._one = one
        self._many = many
        self._started = time.monotonic()
        self.done = 0
        """So many matches are done."""
        self._total = total
        self._events = 0
        console = Console(stderr=True)
        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task(many, total=total, rate="")

    def __enter__(self) -> Self:
        return self

    def expect(self, more: int) -> None:
        """So many more are to be done than was known."""
        self._total += more
        self._bar.update(self._task, total=self._total)

    def one_more(self, events: int = 0) -> None:
        """One match is done; of so many events, where they count."""
        self.done += 1
        self._events += events
        seconds = time.monotonic() - self._started
        if seconds > QUIET_SECONDS:
            self._bar.start()
            rate = f"{self._events / seconds:,.0f} events/s" if self._events else self._matches_a_second(seconds)
            self._bar.update(self._task, completed=self.done, rate=rate)

    def _matches_a_second(self, seconds: float) -> str:
        return f"{self.done / seconds:,.1f} {self._many}/s"

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Take the bar away and say how much was done how fast."""
        self._bar.stop()
        seconds = max(time.monotonic() - self._started, 1e-9)
        done = counted(self.done, self._one, self._many)
        done += f", {counted(self._events, 'event', 'events')}" if self._events else ""
        rate = self._matches_a_second(seconds)
        rates = f"{rate}, {self._events / seconds:,.0f} events/s" if self._events else rate
        print(f"{done} in {seconds:.1f} s: {rates}", file=sys.stderr)
