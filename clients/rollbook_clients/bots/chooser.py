"""A strategy on a seat at a service: what the service sends is read into what the rules would give, and back.

So any strategy plays at a service as it does in a duel.
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
    """What a bot knows before the match, from how its seat sees it; its chance follows from the seed."""
    summary = state.summary
    game = find(summary.game, summary.ruleset)
    seats = len(summary.seats)
    options = read_options(game, summary.options, seats)
    return Seat(game, options, seats, state.perspective.seat, seed)


class Chooser:
    """A strategy that has sat down."""

    def __init__(self, strategy: Named, seat: Seat) -> None:
        """Let it sit down here; StrategyBroken if it cannot."""
        self._seat = seat
        try:
            self._bot = strategy.seated(seat)
        except (Exception, SystemExit) as failure:
            raise StrategyBroken(f"it cannot sit down: {failure!r}") from failure

    async def choose(self, view: View, offered: Legal) -> Choice:
        """What it chooses; StrategyBroken if that is nothing legal.

        Whoever thinks must not keep the other bots, nor the connection, from going on.
        """
        return await asyncio.to_thread(self._choose, view, offered)

    def _choose(self, view: View, offered: Legal) -> Choice:
        game = self._seat.game
        choice = legal_choice(self._bot, read_view(game, view), read_legal(game, offered.message))
        return write_choice(game, choice)
