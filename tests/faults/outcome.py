"""The input and the result of a run of faults."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class Run:
    """The input of a run."""

    seed: int
    seconds: float
    """Seconds during which faults happen; runs that count instead take as long as they need."""
    directory: Path
    say: Callable[[str], None] = print


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a run."""

    figures: Mapping[str, int | str]
    broken: Sequence[str] = ()
    """One sentence per broken promise."""
    history: Sequence[str] = field(default=(), repr=False)
    """One line per request, answer and fault."""


Fault: TypeAlias = Callable[[Run], Coroutine[Any, Any, Outcome]]
