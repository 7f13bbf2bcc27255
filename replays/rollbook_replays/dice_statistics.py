"""Dice statistics over many matches: observed and expected counts, and the probability of such a difference."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from rollbook.rules.chance import Value
from rollbook_replays.audit.verdicts import Audited


@dataclass(frozen=True, slots=True)
class Fallen:
    """One face of a die: its observed and its expected count."""

    face: Value
    times: int
    expected: float


@dataclass(frozen=True, slots=True)
class DieStatistics:
    """The statistics of one kind of die in one game."""

    game: str
    faces: tuple[Value, ...]
    fallen: tuple[Fallen, ...]
    """The distinct faces, in the order of the die."""

    @property
    def throws(self) -> int:
        """Number of dice of this kind that were thrown."""
        return sum(face.times for face in self.fallen)

    @property
    def freedom(self) -> int:
        """Degrees of freedom: the number of distinct faces minus one."""
        return len(self.fallen) - 1

    @property
    def chi_square(self) -> float:
        """Pearson's chi-square statistic."""
        return sum((face.times - face.expected) ** 2 / face.expected for face in self.fallen)

    @property
    def likelihood(self) -> float:
        """The probability that fair dice differ at least this much from the expected counts."""
        return chi_square_tail(self.chi_square, self.freedom)


@dataclass(slots=True)
class DiceCount:
    """Counts the dice of one match after the other."""

    _times: dict[tuple[str, tuple[Value, ...]], Counter[Value]] = field(default_factory=dict)

    def add(self, audited: Audited) -> None:
        """Count the dice of a match."""
        for thrown in audited.thrown:
            self._times.setdefault((audited.game, thrown.faces), Counter()).update(thrown.times)

    def statistics(self) -> tuple[DieStatistics, ...]:
        """The statistics of each kind of die, sorted by game."""
        kinds = sorted(self._times, key=lambda kind: (kind[0], tuple(map(str, kind[1]))))
        return tuple(
            DieStatistics(game, faces, tuple(_count_fallen(faces, self._times[game, faces])))
            for game, faces in kinds
            if self._times[game, faces].total()
        )


def _count_fallen(faces: tuple[Value, ...], times: Counter[Value]) -> Iterable[Fallen]:
    for face in dict.fromkeys(faces):
        yield Fallen(face, times[face], times.total() * faces.count(face) / len(faces))


def chi_square_tail(statistic: float, freedom: int) -> float:
    """The probability that a chi-square with `freedom` degrees of freedom is at least `statistic`.

    The result has a closed form for one and two degrees; every two further degrees add a term.

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
