"""Sizes of the bench of the service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The numbers of a round."""

    chosen_matches: int = 8
    """Concurrent matches that are played by single calls."""
    choices_each: int = 40
    played_matches: int = 50
    """Concurrent matches that are played over streams."""
    plays_each: int = 12
    watchers: int = 1_000
    watchers_timed: int = 500
    frames: int = 10
    """Frames sent to all watchers."""
    burst: int = 20
    """Choices that are appended at once."""
    committed_matches: int = 64
    """Matches whose appends are committed together."""
    appends_each: int = 40
    appends_alone: int = 150
    weighed_matches: int = 20
    weighed_choices: int = 250


FULL: Final = Size()
TINY: Final = Size(
    chosen_matches=2,
    choices_each=2,
    played_matches=2,
    plays_each=2,
    watchers=3,
    watchers_timed=2,
    frames=2,
    burst=2,
    committed_matches=3,
    appends_each=2,
    appends_alone=2,
    weighed_matches=1,
    weighed_choices=5,
)
"""The smallest run that executes all code."""
