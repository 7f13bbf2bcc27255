"""Results of a duel: win rates with their Wilson intervals."""

from collections import defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from math import sqrt
from statistics import NormalDist
from typing import Any, Final

from rollbook_clients.bots.duel import SIDES, Duel, Played, StrategyFault

CONFIDENCE: Final = 0.95
_Z: Final = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


def wilson(wins: float, matches: int) -> tuple[float, float]:
    """The interval that contains the true win rate with a confidence of 95 %.

    >>> [round(end, 4) for end in wilson(8, 10)], [round(end, 4) for end in wilson(0, 20)]
    ([0.4902, 0.9433], [0.0, 0.1611])
    """
    rate = wins / matches
    narrower = 1 + _Z**2 / matches
    middle = (rate + _Z**2 / (2 * matches)) / narrower
    reach = _Z / narrower * sqrt(rate * (1 - rate) / matches + _Z**2 / (4 * matches**2))
    return max(0.0, middle - reach), min(1.0, middle + reach)


@dataclass(slots=True)
class Rate:
    """A win rate: the numbers of matches and of victories; a shared victory counts as a fraction."""

    wins: Fraction = Fraction(0)
    matches: int = 0

    def add(self, part: Fraction) -> None:
        """Add a match with this share of the victory."""
        self.wins += part
        self.matches += 1

    def facts(self) -> dict[str, Any]:
        """The values for JSON."""
        low, high = wilson(float(self.wins), self.matches)
        return {
            "matches": self.matches,
            "wins": float(self.wins),
            "rate": round(float(self.wins / self.matches), 6),
            "interval": [round(low, 6), round(high, 6)],
        }


def _rates() -> dict[int, Rate]:
    return defaultdict(Rate)


@dataclass(slots=True)
class Side:
    """The results of one of the two strategies of a duel."""

    strategy: str
    all: Rate = field(default_factory=Rate)
    by_seat: dict[int, Rate] = field(default_factory=_rates)
    """Win rate of this side's bots, by seat."""
    by_turn: dict[int, Rate] = field(default_factory=_rates)
    """Win rate of this side's bots, by order of play: 0 is the seat that started."""


class Tally:
    """The results of a duel so far, independent of the order in which matches are taken."""

    def __init__(self, duel: Duel) -> None:
        self.duel = duel
        self.sides = [Side(strategy) for strategy in duel.strategies]
        self.by_turn = _rates()
        """Win rate of both sides together, by order of play."""
        self.faults: list[StrategyFault] = []

    def take(self, played: Played) -> None:
        """Add a match."""
        winners = [seat for seat, place in enumerate(played.places) if place == 1]
        for side in range(SIDES):
            mine = sum(played.sides[seat] == side for seat in winners)
            self.sides[side].all.add(Fraction(mine, len(winners)))
        for seat, side in enumerate(played.sides):
            part = Fraction(seat in winners, len(winners))
            turn = (seat - played.first_seat) % len(played.sides)
            self.sides[side].by_seat[seat].add(part)
            self.sides[side].by_turn[turn].add(part)
            self.by_turn[turn].add(part)
        self.faults += played.faults

    def facts(self) -> dict[str, Any]:
        """All values for JSON."""
        duel = self.duel
        return {
            "game": duel.game,
            "options": duel.options,
            "seats": duel.seats,
            "seed": duel.seed,
            "matches": self.sides[0].all.matches,
            "strategies": [
                {
                    "strategy": side.strategy,
                    **side.all.facts(),
                    "by_seat": _list_rates(side.by_seat, "seat"),
                    "by_turn": _list_rates(side.by_turn, "turn"),
                }
                for side in self.sides
            ],
            "by_turn": _list_rates(self.by_turn, "turn"),
            "faults": [
                {"strategy": fault.strategy, "match": fault.match_id, "seq": fault.sequence, "why": fault.why}
                for fault in sorted(
                    self.faults, key=lambda fault: (len(fault.match_id), fault.match_id, fault.sequence)
                )
            ],
        }


def _list_rates(rates: dict[int, Rate], name: str) -> list[dict[str, Any]]:
    return [{name: number, **rates[number].facts()} for number in sorted(rates)]
