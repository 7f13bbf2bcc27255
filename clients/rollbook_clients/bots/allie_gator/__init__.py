"""How bots play Allie Gator, and a state that a seat may take a match of it to be in.

Its view tells everything but hidden cards and who started the round. These are drawn, each possibility as likely, so
that the state is one that could be true, and the true one has no say in it.
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
    """The table, and what lies nowhere in sight shuffled over the hidden hands and the stock."""
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
