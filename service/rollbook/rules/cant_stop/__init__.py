"""Can't Stop (Sid Sackson; Ravensburger 2007), version 1.

Source: the German rulebook of 2007; quotations in the comments are its section names. Rulings where it is silent:
a second step beyond the number field lapses; a runner on a number field still counts as one of the three; places
after the first go by columns held, then by the height of markers in columns that are not won.
"""

from rollbook.rules.cant_stop import moves, play, state, view
from rollbook.rules.cant_stop.moves import LENGTHS, Choice, Outcome
from rollbook.rules.cant_stop.state import State
from rollbook.rules.game import Game, everything_is_open

GAME: Game[State, Choice, Outcome] = Game(
    name=moves.NAME,
    version=1,
    title="Can't Stop",
    seats=moves.SEATS,
    options=state.OPTIONS,
    combine=state.combine,
    components={"columns": {str(column): length for column, length in LENGTHS.items()}},
    messages="rollbook.v1.cant_stop_pb2",
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
