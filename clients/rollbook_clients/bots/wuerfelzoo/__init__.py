"""The playbook of Würfelzoo, with the state for a view; the game has no hidden parts."""

from typing import Final, cast

from rollbook.rules import wuerfelzoo
from rollbook.rules.game import Uniform
from rollbook.rules.options import Options
from rollbook.rules.wuerfelzoo.moves import DOUBLE, NO_FACE
from rollbook.rules.wuerfelzoo.state import BOX, TABLE, TURN, USE, State
from rollbook.rules.wuerfelzoo.view import View
from rollbook_clients.bots.playbook import Playbook
from rollbook_clients.bots.wuerfelzoo.lightest_zoo import LightestZoo


def possible_state(options: Options, view: View, _uniform: Uniform) -> State:
    """The state with this view; everything is open."""
    state = wuerfelzoo.GAME.begin(options, len(view.dice))
    state.seat = cast("int", view.seat)
    state.round = view.round
    state.points = list(view.points)
    for seat, row in enumerate(view.dice):
        for lying in row:
            state.where[lying.die] = seat
            state.faces[lying.die] = lying.face or NO_FACE
    state.middle, state.doubles, state.uses = view.middle, view.doubles, view.uses
    if view.species is not None and view.owner is not None:
        state.species, state.owner = view.species, view.owner
    for face, dice in ((state.species, view.middle), (DOUBLE, view.doubles)):
        for die in dice:
            state.where[die], state.faces[die] = TABLE, face
    for die in view.box:
        state.where[die] = BOX
    state.stage = USE if view.uses else TURN
    return state


PLAYBOOK: Final = Playbook(possible_state, LightestZoo)
