"""`random`: chooses at random."""

import random
from typing import Any

from rollbook.rules.game import Choices
from rollbook_clients.bots.bot import Seat


class ByChance:
    """Makes a random legal choice, with equal probabilities if the choices are listed."""

    def __init__(self, seat: Seat) -> None:
        self._uniform = random.Random(seat.seed).randrange

    def choose(self, _view: Any, legal: Choices[Any], /) -> Any:
        """Return a random choice."""
        return legal.sample(self._uniform)
