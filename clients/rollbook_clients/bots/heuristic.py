"""`heuristic`: the house's own strategy for whatever game is played."""

from __future__ import annotations

from rollbook_clients.bots.bot import Bot, Seat, Strategy, Unsuited
from rollbook_clients.bots.expected_teeth import ExpectedTeeth
from rollbook_clients.bots.fewest_penalties import FewestPenalties
from rollbook_clients.bots.lightest_zoo import LightestZoo
from rollbook_clients.bots.rule_of_28 import RuleOf28

OF_GAMES: dict[str, Strategy] = {
    "cant_stop": RuleOf28,
    "raffzahn": ExpectedTeeth,
    "wuerfelzoo": LightestZoo,
    "allie_gator": FewestPenalties,
}


def heuristic(seat: Seat) -> Bot:
    """The bot that plays the game of this table by rule of thumb."""
    if seat.game.name not in OF_GAMES:
        raise Unsuited(f"there is no heuristic for {seat.game.name} yet; there is for {', '.join(OF_GAMES)}")
    return OF_GAMES[seat.game.name](seat)
