"""Counts by display name how often a match was aborted because its players were not ready."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from rollbook_replays.audit.verdicts import Audited, Verdict


@dataclass(frozen=True, slots=True)
class Absence:
    """The count for one name."""

    name: str
    times: int
    """Number of matches aborted because this player was not ready."""
    matches: int
    """Number of matches in which the name sat."""


@dataclass(slots=True)
class Absences:
    """Counts one match after the other; only matches with the verdict EXACT count.

    Without a key, a forger can write any names into a file in which nothing diverges. Names are not identities: a
    player can take any name.
    """

    _times: Counter[str] = field(default_factory=Counter)
    _matches: Counter[str] = field(default_factory=Counter)
    _counted: set[str] = field(default_factory=set)

    def add(self, audited: Audited) -> None:
        """Count the match if it is new, exact and has names; a name in two seats counts as one."""
        if audited.verdict is not Verdict.EXACT or audited.match_id in self._counted:
            return
        if len(audited.names) != audited.seats:
            return
        self._counted.add(audited.match_id)
        self._matches.update({name for name in audited.names if name})
        self._times.update({audited.names[seat] for seat in audited.seats_not_ready if audited.names[seat]})

    def rows(self) -> Sequence[Absence]:
        """The most frequent name first, equal counts by name."""
        ranked = sorted(self._times.items(), key=lambda counted: (-counted[1], counted[0]))
        return [Absence(name, times, self._matches[name]) for name, times in ranked]
