"""Every game with every combination of its options at every number of seats."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

from rollbook.rules.catalogue import current
from rollbook.rules.game import Game
from rollbook.rules.options import Options, OptionValue, write_value
from rollbook.rules.refusals import Invalid

VALUES: dict[str, tuple[OptionValue, ...]] = {"rounds_to": (0, 1, 30)}
"""Sample values of options with too many values; 999 has its own test."""


@dataclass(frozen=True)
class Case:
    """A game with options and a number of seats."""

    game: Game[Any, Any, Any]
    options: Options
    seats: int

    def __str__(self) -> str:
        """Return the id of the case for tests and files."""
        differing = [
            f"{option.name}={write_value(self.options[option.name])}"
            for option in self.game.options
            if self.options[option.name] != option.default
        ]
        return "-".join([self.game.name, *differing, f"{self.seats}-seats"])


def all_cases() -> list[Case]:
    """Return every combination that the game accepts."""
    cases = []
    for game in current().values():
        values = [VALUES.get(option.name, tuple(option.values)) for option in game.options]
        for chosen, seats in product(product(*values), game.seats):
            options = dict(zip((option.name for option in game.options), chosen, strict=True))
            try:
                cases.append(Case(game, game.settle(options, seats), seats))
            except Invalid:
                continue
    return cases


CASES = all_cases()
