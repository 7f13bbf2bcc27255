"""How dice fell in many matches, beside how they should fall, and how likely so great a difference is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from rollbook.rules.chance import Value
from rollbook_replays.audit.verdicts import Audited


@dataclass(frozen=True, slots=True)
class Fallen:
    """One face of a die: how often it lay up, and how often it should."""

    face: Value
    times: int
    expected: float


@dataclass(frozen=True, slots=True)
class DieStatistics:
    """One kind of die of one game."""

    game: str
    faces: tuple[Value, ...]
    fallen: tuple[Fallen, ...]
    """Different faces in the order of the die."""

    @property
    def throws(self) -> int:
        """How many dice of this kind were thrown."""
        return sum(face.times for face in self.fallen)

    @property
    def freedom(self) -> int:
        """Degrees of freedom: one less than there are different faces."""
        return len(self.fallen) - 1

    @property
    def chi_square(self) -> float:
        """Pearson's statistic."""
        return sum((face.times - face.expected) ** 2 / face.expected for face in self.fallen)

    @property
    def likelihood(self) -> float:
        """How likely fair dice differ at least so much."""
        return chi_square_tail(self.chi_square, self.freedom)


@dataclass(slots=True)
class DiceCount:
    """Counts the dice of one match after the other."""

    _times: dict[tuple[str, tuple[Value, ...]], Counter[Value]] = field(default_factory=dict)

    def add(self, audited: Audited) -> None:
        """Count what the match has thrown."""
        for thrown in audited.thrown:
            self._times.setdefault((audited.game, thrown.faces), Counter()).update(thrown.times)

    def statistics(self) -> tuple[DieStatistics, ...]:
        """Of every kind of die, by game."""
        kinds = sorted(self._times, key=lambda kind: (kind[0], tuple(map(str, kind[1]))))
        return tuple(
            DieStatistics(game, faces, tuple(_fallen(faces, self._times[game, faces])))
            for game, faces in kinds
            if self._times[game, faces].total()
        )


def _fallen(faces: tuple[Value, ...], times: Counter[Value]) -> Iterable[Fallen]:
    for face in dict.fromkeys(faces):
        yield Fallen(face, times[face], times.total() * faces.count(face) / len(faces))


def chi_square_tail(statistic: float, freedom: int) -> float:
    """The chance that a chi-square of so many degrees of freedom is at least this.

    It is known for one and two degrees; every two more add a term.

    >>> round(chi_square_tail(11.0705, 5), 4), round(chi_square_tail(5.9915, 2), 4)
    (0.05, 0.05)
    """
    half = statistic / 2
    tail = math.erfc(math.sqrt(half)) if freedom % 2 else math.exp(-half)
    for below in range(2 - freedom % 2, freedom, 2):
        if half > 0:
            tail += math.exp(below / 2 * math.log(half) - half - math.lgamma(below / 2 + 1))
        else:
            return 1.0
    return min(tail, 1.0)
