"""What bots know of a game: a value a game, found by its name in the entry points `rollbook.playbooks`."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Any, Final

from rollbook.rules.game import Uniform
from rollbook.rules.options import Options
from rollbook_clients.bots.bot import Bot, Seat, Strategy, Unsuited

GROUP: Final = "rollbook.playbooks"


@dataclass(frozen=True, slots=True)
class Playbook:
    """How a game is played by whoever does not know the rules by heart."""

    possible_state: Callable[[Options, Any, Uniform], Any]
    """A state that has this view, for a seat that is to choose; what the view does not tell is drawn."""
    strategy: Strategy
    """The house's own, by rule of thumb."""


@cache
def playbook(game: str) -> Playbook:
    """What bots know of the game of this name."""
    points = entry_points(group=GROUP)
    if game not in points.names:
        raise Unsuited(f"bots have no playbook for {game}; they have one for {', '.join(sorted(points.names))}")
    found: Playbook = points[game].load()
    return found


def heuristic(seat: Seat) -> Bot:
    """The bot that plays the game of this table by rule of thumb."""
    return playbook(seat.game.name).strategy(seat)
