"""How often players were not ready when a match was to begin, by the names that they showed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from rollbook_replays.audit.verdicts import Audited, Verdict


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
    """Counts one match after the other; only those that are exact say anything about anybody.

    Whoever has no key can write any names into a file in which nothing diverges. And names are not identities: anybody
    can take any name.
    """

    _times: Counter[str] = field(default_factory=Counter)
    _matches: Counter[str] = field(default_factory=Counter)
    _counted: set[str] = field(default_factory=set)

    def add(self, audited: Audited) -> None:
        """Count a match once, if it says who sat there; a name that sits twice in a match sat in it once."""
        if audited.verdict is not Verdict.EXACT or audited.match_id in self._counted:
            return
        if len(audited.names) != audited.seats:
            return
        self._counted.add(audited.match_id)
        self._matches.update({name for name in audited.names if name})
        self._times.update({audited.names[seat] for seat in audited.seats_not_ready if audited.names[seat]})

    def rows(self) -> Sequence[Absence]:
        """Whoever was not ready most often first, then by name."""
        ranked = sorted(self._times.items(), key=lambda counted: (-counted[1], counted[0]))
        return [Absence(name, times, self._matches[name]) for name, times in ranked]
