"""Knowledge of bots about a game: a `Playbook` per game, found by the entry points `rollbook.playbooks`."""

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
    """What bots need besides the rules to play a game."""

    possible_state: Callable[[Options, Any, Uniform], Any]
    """Generates a state that fits this view of the seat to choose; draws hidden parts at random."""
    strategy: Strategy
    """The house's own strategy, by rules of thumb."""


@cache
def playbook(game: str) -> Playbook:
    """The playbook of the game; raises Unsuited if there is none."""
    points = entry_points(group=GROUP)
    if game not in points.names:
        raise Unsuited(f"bots have no playbook for {game}; they have one for {', '.join(sorted(points.names))}")
    found: Playbook = points[game].load()
    return found


def heuristic(seat: Seat) -> Bot:
    """A bot that plays the game of this table by rules of thumb."""
    return playbook(seat.game.name).strategy(seat)
