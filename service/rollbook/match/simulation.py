"""Simulates a whole match from a seed, with fair dice and every event that a real match would have."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, Final, TypeAlias

from rollbook.match.codec.notation import Header
from rollbook.match.dice import BOT_LABEL, Dice, commitment, match_key
from rollbook.match.events import Chosen, Event, Happened, Opened, Ready, Resigned, Sealed, SeatTaken, Started
from rollbook.match.fold import MatchFold
from rollbook.rules.game import Game, Over, ToChoose
from rollbook.rules.options import Options

NAMES: Final = ("Anna", "Tom", "Willi", "Heike", "Rita", "Peter")
"""The players of a simulated match; no game has more than six seats."""

Decide: TypeAlias = Callable[[MatchFold, int], Chosen[Any] | Resigned]
"""Chooses for the awaited seat."""


class Simulation:
    """One simulated match: its header, and its events in order."""

    def __init__(self, game: Game[Any, Any, Any], options: Options, seats: int, seed: int, number: int) -> None:
        """Game, options, seats, seed and the number of the match determine everything."""
        match_id = f"{game.name}-{seed}-{number}"
        self.secret = hashlib.sha256(b"rollbook/1/simulate" + match_id.encode("ascii")).digest()
        self.opened = Opened(
            match_id=match_id,
            game=game.name,
            ruleset=game.version,
            options=game.settle(options, seats),
            names=NAMES[:seats],
            commitment=commitment(self.secret),
        )
        self.header = Header(self.opened, entropy=(b"",) * seats)
        self.match = MatchFold(game, self.opened)

    def events(self, decide: Decide | None = None) -> Iterator[tuple[int, Event]]:
        """The events after the first, with their numbers; the fold has taken each before it is yielded.

        Without `decide`, bots choose at random.
        """
        for event in self._lifecycle():
            yield self._take_seat(event)
        key = match_key(self.secret, self.opened.match_id, self.header.entropy)
        dice = Dice(key)
        decide = decide or _by_chance(Dice(key, BOT_LABEL))
        match = self.match
        while not match.must_be_sealed:
            awaited = match.awaited
            if isinstance(awaited, ToChoose):
                yield self._take_seat(decide(match, awaited.seat))
            elif not isinstance(awaited, Over):
                values = dice.values(match.chance_events + 1, awaited)
                yield self._take_seat(Happened(match.game.outcome(match.state, values)))
        yield self._take_seat(Sealed(match.places(), None, self.secret))

    def _lifecycle(self) -> Iterator[Event]:
        seats = range(len(self.opened.names))
        for seat in seats:
            yield SeatTaken(seat)
        for seat in seats:
            yield Ready(seat)
        yield Started()

    def _take_seat(self, event: Event) -> tuple[int, Event]:
        self.match.take(event)
        return self.match.sequence, event


def _by_chance(bots: Dice) -> Decide:
    """Bots that choose at random; each choice draws from the stream of its number."""
    numbers = count(1)

    def decide(match: MatchFold, seat: int) -> Chosen[Any]:
        return Chosen(seat, match.game.legal(match.state).sample(bots.uniform(next(numbers))))

    return decide
