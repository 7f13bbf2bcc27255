"""Limits on the memory and processor time of an auditor process; a forged file cannot exceed them."""

from __future__ import annotations

import math
import resource
from typing import Final

MOST_SECONDS: Final = 60
"""Processor time for one file; the longest match takes about one second."""

MOST_MEMORY_BYTES: Final = 1 << 30
"""Address space; an auditor process uses less than half of it."""


def bound_memory() -> None:
    """Limit the address space of this process to `MOST_MEMORY_BYTES`, and write no core dumps."""
    _check_size(resource.RLIMIT_AS, MOST_MEMORY_BYTES)
    _check_size(resource.RLIMIT_CORE, 0)


def bound_time() -> None:
    """Let the kernel kill this process after another `MOST_SECONDS` of processor time."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _check_size(resource.RLIMIT_CPU, math.ceil(used.ru_utime + used.ru_stime) + MOST_SECONDS)


def _check_size(what: int, most: int) -> None:
    _, allowed = resource.getrlimit(what)
    resource.setrlimit(what, (most if allowed == resource.RLIM_INFINITY else min(most, allowed), allowed))
