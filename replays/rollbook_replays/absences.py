"""How often players were not ready when a match was to begin, by the names that they showed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from rollbook_replays.audit.verdicts import Audited


@dataclass(frozen=True, slots=True)
class Absence:
    """Of one name."""

    name: str
    times: int
    """How many matches were aborted because it was not ready."""
    matches: int
    """In how many it sat."""


@dataclass(slots=True)
class Absences:
    """Counts one match after the other; those of which something diverged say nothing about anybody.

    Names are not identities: anybody can take any name.
    """

    _times: Counter[str] = field(default_factory=Counter)
    _matches: Counter[str] = field(default_factory=Counter)

    def add(self, audited: Audited) -> None:
        """Count a match, if it says who sat there; a name that sits twice in a match sat in it once."""
        if audited.divergence is not None or len(audited.names) != audited.seats:
            return
        self._matches.update({name for name in audited.names if name})
        self._times.update({audited.names[seat] for seat in audited.seats_not_ready if audited.names[seat]})

    def rows(self) -> Sequence[Absence]:
        """Whoever was not ready most often first, then by name."""
        ranked = sorted(self._times.items(), key=lambda counted: (-counted[1], counted[0]))
        return [Absence(name, times, self._matches[name]) for name, times in ranked]
