"""What a run of faults is given, and what it comes to."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class Run:
    """What a run is given."""

    seed: int
    seconds: float
    """How long things go wrong; what is counted instead takes as long as it takes."""
    directory: Path
    say: Callable[[str], None] = print


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to."""

    figures: Mapping[str, int | str]
    broken: Sequence[str] = ()
    """Promises that were broken, a sentence each."""
    history: Sequence[str] = field(default=(), repr=False)
    """What was asked, told and done, a line each."""


Fault: TypeAlias = Callable[[Run], Coroutine[Any, Any, Outcome]]
