"""The playbook of Can't Stop, with the state for a view; the game has no hidden parts."""

from typing import Final, cast

from rollbook.rules import cant_stop
from rollbook.rules.cant_stop.moves import Rolled
from rollbook.rules.cant_stop.state import GO_ON, ROLL, State
from rollbook.rules.cant_stop.view import View
from rollbook.rules.game import Uniform
from rollbook.rules.options import Options
from rollbook_clients.bots.cant_stop.rule_of_28 import RuleOf28
from rollbook_clients.bots.playbook import Playbook


def possible_state(options: Options, view: View, _uniform: Uniform) -> State:
    """The state with this view; everything is open."""
    state = cant_stop.GAME.begin(options, len(view.places))
    state.seat = cast("int", view.seat)
    for column in view.columns:
        for seat, height in enumerate(column.markers):
            state.markers[seat][column.number] = height
        if column.winner is not None:
            state.winners[column.number] = column.winner
            state.won |= 1 << column.number
    state.reached = state.markers[state.seat].copy()
    state.closed = state.won
    for column in view.columns:
        if column.runner:
            state.reached[column.number] = column.runner
            state.runners |= 1 << column.number
            state.closed |= (column.runner == column.length) << column.number
    state.stage = GO_ON
    if view.dice:
        state.stage = ROLL
        cant_stop.GAME.play(state, Rolled(view.dice))
    return state


PLAYBOOK: Final = Playbook(possible_state, RuleOf28)
