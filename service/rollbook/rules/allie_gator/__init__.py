"""Allie Gator (Klaus Kreowski; Kosmos 2022), version 1.

Source: the German rulebook of 2022; quotations in the comments are its section names. Rulings where it is silent: the
chip starts at pile 0; of several winners the first clockwise from the last starting seat begins the next round; a
steal may be played without a seat when no other seat holds a card; a round ends when a new target is needed and neither
hand nor stock has a number card; the group after a shared first place is second; all places follow the order that
decides the victory.
"""

from rollbook.rules.allie_gator import moves, play, state, view
from rollbook.rules.allie_gator.moves import COPIES, NUMBERS, SPECIALS, Choice, Outcome
from rollbook.rules.allie_gator.state import State
from rollbook.rules.game import Game, any_options

GAME: Game[State, Choice, Outcome] = Game(
    name=moves.NAME,
    version=1,
    title="Allie Gator",
    seats=moves.SEATS,
    options=state.OPTIONS,
    combine=any_options,
    components={"numbers": list(NUMBERS), **{name: COPIES[special] for special, name in SPECIALS.items()}},
    messages="rollbook.v1.allie_gator_pb2",
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
    seen=view.mask_outcome,
    places=view.places,
)

RULESETS = (GAME,)
"""All versions of the rules of this game."""
