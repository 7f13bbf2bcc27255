"""Bots: whoever chooses by a program, for the house or as a stranger's own.

A bot is made for one seat of one match, and is then asked for one choice after the other. It gets what its seat may
know, as `Game.view` gives it, and the legal choices, as `Game.legal` gives them; it never gets a state. In a duel both
come from the rules, over the wire `wire` reads them from messages, and a bot cannot tell the difference.

A bot of one's own takes a class and an entry point. This one stops as soon as it may, and otherwise takes what comes
first:

>>> from rollbook.rules.cant_stop.moves import Stop
>>> class Timid:
...     def __init__(self, seat):
...         self.seat = seat
...     def choose(self, view, legal):
...         return Stop() if Stop() in legal else next(iter(legal))

In the `pyproject.toml` of its package, `rollbook duel timid random --game cant_stop` finds it by

    [project.entry-points."rollbook.bots"]
    timid = "my_bots:Timid"

What can be set about a bot are keyword arguments: after `def __init__(self, seat, *, courage: int = 0)` the command
line takes `timid:courage=2`. Everything that a bot does by chance it draws from the seed of its seat, so that a duel
can be played again:

>>> from rollbook.rules.catalogue import find
>>> from rollbook_clients.bots.bot import Seat
>>> game = find("cant_stop")
>>> bot = Timid(Seat(game, game.settle({}, 2), seats=2, number=0, seed=7))
>>> state = game.start({}, 2)
>>> for values in [(0,), (1, 2, 3, 4)]:
...     game.play(state, game.outcome(state, values))
>>> bot.choose(game.view(state, 0), game.legal(state))
Advance(columns=(3, 7))
"""
