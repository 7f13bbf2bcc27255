"""States that a seat may take a match to be in: what its view says, and dice for what the view does not.

A view of a seat that is to choose tells everything but hidden cards and, in Allie Gator, who started the round. These
are drawn, each possibility as likely, so that the state is one that could be true, and the true one has no say in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Final, cast

from rollbook.rules import allie_gator, cant_stop, raffzahn, wuerfelzoo
from rollbook.rules.allie_gator.moves import DECK, Card
from rollbook.rules.allie_gator.state import CHOOSE, CLOCKWISE, COUNTERCLOCKWISE
from rollbook.rules.allie_gator.state import State as AllieGatorState
from rollbook.rules.allie_gator.view import View as AllieGatorView
from rollbook.rules.cant_stop.moves import Rolled as CantStopRolled
from rollbook.rules.cant_stop.state import GO_ON
from rollbook.rules.cant_stop.state import ROLL as CANT_STOP_ROLL
from rollbook.rules.cant_stop.state import State as CantStopState
from rollbook.rules.cant_stop.view import View as CantStopView
from rollbook.rules.game import Uniform
from rollbook.rules.options import Options
from rollbook.rules.raffzahn.moves import Rolled as RaffzahnRolled
from rollbook.rules.raffzahn.state import ROLL as RAFFZAHN_ROLL
from rollbook.rules.raffzahn.state import State as RaffzahnState
from rollbook.rules.raffzahn.tiles import mask
from rollbook.rules.raffzahn.view import View as RaffzahnView
from rollbook.rules.wuerfelzoo.moves import DOUBLE, NO_FACE
from rollbook.rules.wuerfelzoo.state import BOX, TABLE, TURN, USE
from rollbook.rules.wuerfelzoo.state import State as WuerfelzooState
from rollbook.rules.wuerfelzoo.view import View as WuerfelzooView


def cant_stop_state(options: Options, view: CantStopView, _uniform: Uniform) -> CantStopState:
    """The board; everything on it is open."""
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
        state.stage = CANT_STOP_ROLL
        cant_stop.GAME.play(state, CantStopRolled(view.dice))
    return state


def raffzahn_state(options: Options, view: RaffzahnView, _uniform: Uniform) -> RaffzahnState:
    """The table; everything on it is open."""
    state = raffzahn.GAME.begin(options, len(view.rows))
    state.seat = cast("int", view.seat)
    state.middle = mask(view.middle)
    state.open_tiles = [mask(row.open_tiles) for row in view.rows]
    state.safe_tiles = [mask(row.safe_tiles) for row in view.rows]
    state.throws = view.throws - 1
    state.announced = view.announced
    state.stage = RAFFZAHN_ROLL
    raffzahn.GAME.play(state, RaffzahnRolled(view.dice))
    return state


def wuerfelzoo_state(options: Options, view: WuerfelzooView, _uniform: Uniform) -> WuerfelzooState:
    """The table; everything on it is open."""
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


def allie_gator_state(options: Options, view: AllieGatorView, uniform: Uniform) -> AllieGatorState:
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
    unseen = _unseen(view)
    for seat, player in enumerate(view.players):
        hand = player.hand
        if hand is None:
            hand = tuple(unseen.pop(uniform(len(unseen))) for _ in range(player.hand_size))
        state.hands[seat] = sorted(hand)
    state.stock = unseen
    state.stage = CHOOSE
    return state


def _unseen(view: AllieGatorView) -> list[Card]:
    """The cards that lie nowhere in sight, ascending."""
    seen = Counter(card for pile in view.piles for card in (*pile.targets, *pile.cards))
    for player in view.players:
        seen.update(player.penalties)
        seen.update(player.hand or ())
    return sorted((Counter(DECK) - seen).elements())


STATES: Final[dict[str, Callable[[Options, Any, Uniform], Any]]] = {
    "cant_stop": cant_stop_state,
    "raffzahn": raffzahn_state,
    "wuerfelzoo": wuerfelzoo_state,
    "allie_gator": allie_gator_state,
}
"""By game: a state that has this view and these legal choices, for a seat that is to choose."""
