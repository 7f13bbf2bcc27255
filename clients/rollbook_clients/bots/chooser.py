"""Runs a strategy at a seat of a service: converts messages into values of the rules, and choices into messages.

So every strategy plays at a service exactly as in a duel.
"""

import asyncio

from rollbook.match.codec.messages import write_choice
from rollbook.match.codec.views import read_legal, read_options, read_view
from rollbook.rules.catalogue import find
from rollbook.v1.games_pb2 import Choice, View
from rollbook_clients.bots.bot import Seat, StrategyBroken, legal_choice
from rollbook_clients.bots.catalogue import Named
from rollbook_clients.sdk import Legal, State


def read_seat(state: State, seed: int) -> Seat:
    """What a bot receives before the match, from the match's state as its seat sees it."""
    summary = state.summary
    game = find(summary.game, summary.ruleset)
    seats = len(summary.seats)
    options = read_options(game, summary.options, seats)
    return Seat(game, options, seats, state.perspective.seat, seed)


class Chooser:
    """A bot of a strategy at one seat."""

    def __init__(self, strategy: Named, seat: Seat) -> None:
        """Create the bot; raises StrategyBroken if that fails."""
        self._seat = seat
        try:
            self._bot = strategy.create(seat)
        except (Exception, SystemExit) as failure:
            raise StrategyBroken(f"it cannot sit down: {failure!r}") from failure

    async def choose(self, view: View, offered: Legal) -> Choice:
        """Return the bot's choice; raises StrategyBroken if the bot fails or the choice is not legal.

        Runs in a thread, so that a slow bot delays neither other bots nor the connection.
        """
        return await asyncio.to_thread(self._choose, view, offered)

    def _choose(self, view: View, offered: Legal) -> Choice:
        game = self._seat.game
        choice = legal_choice(self._bot, read_view(game, view), read_legal(game, offered.message))
        return write_choice(game, choice)
