"""Progress of a long command: a bar with rate and time left on standard error, and a summary at the end."""

import sys
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from rollbook.cli.exits import count_noun

QUIET_SECONDS = 1.0
"""Work that takes less time, in seconds, shows no bar."""


class Progress:
    """A context for work on many matches that prints a summary on leaving, also after an error."""

    def __init__(self, one: str, many: str, total: int) -> None:
        """`one` and `many` are the singular and plural noun, such as "file" and "files"; no bar is shown yet."""
        self._one = one
        self._many = many
        self._started = time.monotonic()
        self.done = 0
        """Number of matches that are done."""
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
        """Increase the total."""
        self._total += more
        self._bar.update(self._task, total=self._total)

    def one_more(self, events: int = 0) -> None:
        """Count one more match as done, with its number of events if the summary shall have them."""
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
        """Remove the bar and print the summary."""
        self._bar.stop()
        seconds = max(time.monotonic() - self._started, 1e-9)
        done = count_noun(self.done, self._one, self._many)
        done += f", {count_noun(self._events, 'event', 'events')}" if self._events else ""
        rate = self._matches_a_second(seconds)
        rates = f"{rate}, {self._events / seconds:,.0f} events/s" if self._events else rate
        print(f"{done} in {seconds:.1f} s: {rates}", file=sys.stderr)
