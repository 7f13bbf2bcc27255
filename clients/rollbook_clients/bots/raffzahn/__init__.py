"""The playbook of Raffzahn, with the state for a view; the game has no hidden parts."""

from typing import Final, cast

from rollbook.rules import raffzahn
from rollbook.rules.game import Uniform
from rollbook.rules.options import Options
from rollbook.rules.raffzahn.moves import Rolled, mask
from rollbook.rules.raffzahn.state import ROLL, State
from rollbook.rules.raffzahn.view import View
from rollbook_clients.bots.playbook import Playbook
from rollbook_clients.bots.raffzahn.expected_teeth import ExpectedTeeth


def possible_state(options: Options, view: View, _uniform: Uniform) -> State:
    """The state with this view; everything is open."""
    state = raffzahn.GAME.begin(options, len(view.rows))
    state.seat = cast("int", view.seat)
    state.middle = mask(view.middle)
    state.open_tiles = [mask(row.open_tiles) for row in view.rows]
    state.safe_tiles = [mask(row.safe_tiles) for row in view.rows]
    state.throws = view.throws - 1
    state.announced = view.announced
    state.stage = ROLL
    raffzahn.GAME.play(state, Rolled(view.dice))
    return state


PLAYBOOK: Final = Playbook(possible_state, ExpectedTeeth)
