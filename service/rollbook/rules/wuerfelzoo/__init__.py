"""Würfelzoo / Dice's Zoo (Cang Mucun; Smiling Monster), version 1.

Source: the German rulebook; quotations in the comments are its section names. Rulings where it is silent: which animals
share a kind of die is the table `KINDS`; the starting seat is drawn again for every round; a seat that others robbed of
its last die wins when its own turn begins and it still has none; the squirrel's target is another seat.
"""

from rollbook.rules.game import Game, any_options, everything_is_open
from rollbook.rules.wuerfelzoo import moves, play, state, view
from rollbook.rules.wuerfelzoo.moves import AXES, Choice, Outcome
from rollbook.rules.wuerfelzoo.state import State
from rollbook.rules.wuerfelzoo.turn_choices import TurnChoices

GAME: Game[State, Choice, Outcome] = Game(
    name=moves.NAME,
    version=1,
    title="Würfelzoo",
    seats=moves.SEATS,
    options=state.OPTIONS,
    combine=any_options,
    components={"dice": [[list(axis) for axis in axes] for axes in AXES]},
    messages="rollbook.v1.wuerfelzoo_pb2",
    choices=moves.CHOICES,
    outcomes=moves.OUTCOMES,
    begin=state.begin,
    copy=state.copy,
    awaited=state.find_awaited,
    outcome=state.outcome,
    legal=play.legal,
    play=play.play,
    caretaker=play.caretaker,
    view=view.view,
    seen=everything_is_open,
    places=view.places,
    described=TurnChoices,
)

RULESETS = (GAME,)
"""All versions of the rules of this game."""
