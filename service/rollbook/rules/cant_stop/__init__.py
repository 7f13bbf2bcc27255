"""Can't Stop (Sid Sackson; Ravensburger 2007), version 1.

Source: the German rulebook of 2007; quotations in the comments are its section names. Rulings where it is silent:
a second step beyond the number field lapses; a runner on a number field still counts as one of the three; places
after the first go by columns held, then by the height of markers in columns that nobody has won.
"""

from __future__ import annotations

from rollbook.rules.cant_stop import moves, play, state, view
from rollbook.rules.cant_stop.moves import LENGTHS, ROLLED, RUNNERS, Advance, Choice, Outcome, Roll, Rolled, Stop
from rollbook.rules.cant_stop.offers import BASIC_OFFER
from rollbook.rules.cant_stop.play import ONLY_ROLL, ROLL_OR_STOP
from rollbook.rules.cant_stop.state import FOUR_DICE, GO_ON, NOBODY, ROLL, State
from rollbook.rules.cant_stop.view import Column, View
from rollbook.rules.game import Game, everything_is_open

__all__ = [
    "BASIC_OFFER",
    "FOUR_DICE",
    "GAME",
    "GO_ON",
    "LENGTHS",
    "NOBODY",
    "ONLY_ROLL",
    "ROLL",
    "ROLLED",
    "ROLL_OR_STOP",
    "RULESETS",
    "RUNNERS",
    "Advance",
    "Choice",
    "Column",
    "Outcome",
    "Roll",
    "Rolled",
    "State",
    "Stop",
    "View",
]

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
    awaited=state.awaited,
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
