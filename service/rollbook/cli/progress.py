"""How far a long command has come: a bar with rate and time left on standard error, and at the end what it did."""

import sys
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

QUIET_SECONDS = 1.0
"""Work that is done sooner than this needs no bar."""

_ONE = {"events": "event", "files": "file", "matches": "match"}


def counted(number: int, things: str) -> str:
    """So many of them.

    >>> counted(1, "files"), counted(1, "matches"), counted(1_200, "events")
    ('1 file', '1 match', '1,200 events')
    """
    return f"{number:,} {_ONE.get(things, things) if number == 1 else things}"


class Progress:
    """Work on many matches; a context that tells what was done when it is left, whichever way."""

    def __init__(self, what: str, total: int) -> None:
        """Begin with several things, such as "files"; nothing is shown yet."""
        self._what = what
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
        self._task = self._bar.add_task(what, total=total, rate="")

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
        return f"{self.done / seconds:,.1f} {self._what}/s"

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Take the bar away and say how much was done how fast."""
        self._bar.stop()
        seconds = max(time.monotonic() - self._started, 1e-9)
        done = counted(self.done, self._what) + (f", {counted(self._events, 'events')}" if self._events else "")
        rate = self._matches_a_second(seconds)
        rates = f"{rate}, {self._events / seconds:,.0f} events/s" if self._events else rate
        print(f"{done} in {seconds:.1f} s: {rates}", file=sys.stderr)
