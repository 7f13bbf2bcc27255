"""What the audit of a file may take of the machine, whoever made the file. These are limits of the whole process."""

from __future__ import annotations

import math
import resource
from typing import Final

MOST_SECONDS: Final = 60
"""Of a processor, for one file; the longest match takes about one."""

MOST_MEMORY_BYTES: Final = 1 << 30
"""Of addresses, of which a process that audits uses less than half."""


def bound_memory() -> None:
    """From now on memory beyond the limit is refused to this process."""
    _bound(resource.RLIMIT_AS, MOST_MEMORY_BYTES)
    _bound(resource.RLIMIT_CORE, 0)


def bound_time() -> None:
    """From now on this process is killed once it has worked as long as no file takes."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _bound(resource.RLIMIT_CPU, math.ceil(used.ru_utime + used.ru_stime) + MOST_SECONDS)


def _bound(what: int, most: int) -> None:
    _, allowed = resource.getrlimit(what)
    resource.setrlimit(what, (most if allowed == resource.RLIM_INFINITY else min(most, allowed), allowed))
