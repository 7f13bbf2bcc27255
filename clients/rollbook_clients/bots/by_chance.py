"""`random`: whatever comes up."""

import random
from typing import Any

from rollbook.rules.game import Choices
from rollbook_clients.bots.bot import Seat


class ByChance:
    """Any legal choice; where they are listed, each is as likely."""

    def __init__(self, seat: Seat) -> None:
        self._uniform = random.Random(seat.seed).randrange

    def choose(self, _view: Any, legal: Choices[Any], /) -> Any:
        """Some choice."""
        return legal.sample(self._uniform)
