"""Raffzahn (Rüdiger Koltze; Schmidt Spiele), version 1, in two editions.

Sources: the German rulebooks of the first edition ("original") and of the reworked reprint ("revised"); quotations in
the comments are their section names. Rulings where they are silent: the teeth of the tiles are an even division;
where a hit or an own hit comes first, the star throw is not on offer; a miss costs teeth and the turn on the third
throw only; a seat may pass unless it has to take or to give up teeth; it gives up no tile that is not needed to come
to three teeth; only a tile that can be won may be announced; all places follow the order that finds the winner.
"""

from rollbook.rules.game import Game, any_options, everything_is_open
from rollbook.rules.raffzahn import moves, play, state, view
from rollbook.rules.raffzahn.moves import BLUE, TEETH, YELLOW, Choice, Outcome
from rollbook.rules.raffzahn.state import State

GAME: Game[State, Choice, Outcome] = Game(
    name=moves.NAME,
    version=1,
    title="Raffzahn",
    seats=moves.SEATS,
    options=state.OPTIONS,
    combine=any_options,
    components={"yellow": list(YELLOW), "blue": list(BLUE), "teeth": list(TEETH.values())},
    messages="rollbook.v1.raffzahn_pb2",
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
)

RULESETS = (GAME,)
"""All versions of the rules of this game."""
