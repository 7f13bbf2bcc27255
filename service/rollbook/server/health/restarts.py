"""Pauses before a process that exited unasked is restarted."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class RestartPauses:
    """Pauses that double each time, until the process has run for longer than `lived_seconds`.

    >>> pauses = RestartPauses(first_seconds=1.0, longest_seconds=3.0, lived_seconds=30.0)
    >>> [pauses.after(lived) for lived in (0.1, 0.1, 0.1, 31.0)]
    [1.0, 2.0, 3.0, 1.0]
    """

    first_seconds: float
    longest_seconds: float
    lived_seconds: float
    _next_seconds: float = field(default=0.0, init=False)

    def after(self, lived_seconds: float) -> float:
        """How long to wait, in seconds, after the process ran for `lived_seconds`."""
        is_steady = lived_seconds > self.lived_seconds
        pause = self.first_seconds if is_steady else max(self._next_seconds, self.first_seconds)
        self._next_seconds = min(2 * pause, self.longest_seconds)
        return pause
