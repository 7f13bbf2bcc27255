"""A process's knowledge of its own state, for metrics, for health over HTTP, and for operators."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Vitals:
    """The last observed state; any thread may read it."""

    store_is_up: bool = False
    serves: bool = False
    """Whether the process's health is good."""
    clock_ahead_ms: int = 0
    """How far the store's clock is ahead of the process's."""
    sweeps: bool = False
    """Whether this process has the lease of the sweeper."""
    archive_is_up: bool = False
    archive_backlog: int = 0
    """Finished matches in the lobby."""
    lost_tails: int = 0
