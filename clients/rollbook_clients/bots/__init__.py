"""Bots: programs that choose for a seat. The house has some, and other packages can add their own.

A bot is created for one seat of one match, and is then asked for one choice after another. It receives the view of its
seat, as returned by `Game.view`, and the legal choices, as returned by `Game.legal`, but never the state. In a duel
both come from the rules; at a service `Chooser` decodes them from messages. The bot sees no difference.

A bot of your own takes a class and an entry point. This one stops whenever it may, and otherwise makes the first legal
choice:

>>> from rollbook.rules.cant_stop.moves import Stop
>>> class Timid:
...     def __init__(self, seat):
...         self.seat = seat
...     def choose(self, view, legal):
...         return Stop() if Stop() in legal else next(iter(legal))

With this entry point in the `pyproject.toml` of its package, `rollbook duel timid random --game cant_stop` finds it:

    [project.entry-points."rollbook.bots"]
    timid = "my_bots:Timid"

Settings of a bot are keyword arguments: with `def __init__(self, seat, *, courage: int = 0)` the command line accepts
`timid:courage=2`. A bot should make all random decisions from the seed of its seat, so that a duel can
be repeated:

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
