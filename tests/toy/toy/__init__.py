"""The toy, version 1: secret cards are dealt and laid; the cards laid at once score their number squared.

The toy is only for tests. It has the features of games that shared code must not know by name: hidden cards, an option
of words, described choices, a number that is written as a word, and a rule of its own that refuses.
"""

from __future__ import annotations

from rollbook.rules.chance import FirstSeat
from rollbook.rules.game import Game, any_options
from toy import rules

GAME: Game[rules.State, rules.Choice, rules.Outcome] = Game(
    name="toy",
    version=1,
    title="The Toy",
    seats=range(2, 4),
    options=rules.OPTIONS,
    combine=any_options,
    components={"cards": list(rules.CARDS)},
    messages="toy.toy_pb2",
    choices={"lay": rules.Lay, "name": rules.Name},
    outcomes={"first_seat": FirstSeat, "dealt": rules.Dealt},
    begin=rules.begin,
    copy=rules.copy,
    awaited=rules.awaited,
    outcome=rules.outcome,
    legal=rules.legal,
    play=rules.play,
    caretaker=rules.caretaker,
    view=rules.view,
    seen=rules.seen,
    places=rules.places,
    described=rules.Subsets,
)

RULESETS = (GAME,)
