"""The playbook of Allie Gator, with a generator of states that fit a view.

The view of a seat contains everything but hidden cards and the seat that started the round. Both are drawn at random
with equal probabilities, independent of the true state.
"""

from typing import Final, cast

from rollbook.rules import allie_gator
from rollbook.rules.allie_gator.state import CHOOSE, CLOCKWISE, COUNTERCLOCKWISE, State
from rollbook.rules.allie_gator.view import View
from rollbook.rules.game import Uniform
from rollbook.rules.options import Options
from rollbook_clients.bots.allie_gator.fewest_penalties import FewestPenalties, unseen_cards
from rollbook_clients.bots.playbook import Playbook


def possible_state(options: Options, view: View, uniform: Uniform) -> State:
    """A state with the open table; unseen cards are dealt at random to the hidden hands and the stock."""
    seats = len(view.players)
    state = allie_gator.GAME.begin(options, seats)
    state.round = view.round
    state.seat = cast("int", view.seat)
    state.starter = uniform(seats)
    state.direction = CLOCKWISE if view.clockwise else COUNTERCLOCKWISE
    state.chip = view.chip
    state.targets = [list(pile.targets) for pile in view.piles]
    state.laid = [list(pile.cards) for pile in view.piles]
    state.penalties = [list(player.penalties) for player in view.players]
    state.teeth = [player.teeth for player in view.players]
    unseen = unseen_cards(view)
    for seat, player in enumerate(view.players):
        hand = player.hand
        if hand is None:
            hand = tuple(unseen.pop(uniform(len(unseen))) for _ in range(player.hand_size))
        state.hands[seat] = sorted(hand)
    state.stock = unseen
    state.stage = CHOOSE
    return state


PLAYBOOK: Final = Playbook(possible_state, FewestPenalties)
