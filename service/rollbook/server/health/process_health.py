"""What a process knows of its own state: for metrics, for health over HTTP, and for operators who ask."""

from __future__ import annotations

from dataclasses import dataclass


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
    archive_is_up: bool = False
    archive_backlog: int = 0
    """Finished matches that the lobby still lists."""
    lost_tails: int = 0
