"""What a process knows of its own state: for metrics, for health over HTTP, and for operators who ask."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class Vitals:
    """The last that was seen of everything; any thread may read it."""

    store_is_up: bool = False
    serves: bool = False
    """Whether health says so."""
    clock_ahead_ms: int = 0
    """How far the store's clock is ahead of the process's."""
    sweeps: bool = False
    """Whether this process has the lease of the sweeper."""
    swept_ms: int = 0
    """When it last swept to the end, in Unix milliseconds; 0: never."""
    archive_is_up: bool = False
    archive_backlog: int = 0
    """Finished matches that the lobby still lists."""
    matches: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Of the last sweep, by state and game; empty where another process sweeps."""
    lost_tails: int = 0
