"""`monte_carlo`: plays any game by simulating many random matches to their end.

For a choice the bot generates states that fit its view, with hidden cards drawn again each time by the game's playbook.
It makes each of the choices there and lets the rules play on. Choices are compared in lots: all choices of a lot start
from the same state and the same random numbers. Choices that fall clearly behind are dropped, so that the time is spent
on the others.

In the simulation every seat plays like the caretaker, with some random choices. That is fast and needs only the rules,
so it works for every game.
"""

import random
import time
from collections.abc import Iterator
from itertools import islice
from math import sqrt
from statistics import fmean, stdev
from typing import Any, Final

from rollbook.rules.chance import Draw, Throw, Value
from rollbook.rules.game import Choices, Over, ToChoose
from rollbook_clients.bots.bot import Seat, Unsuited
from rollbook_clients.bots.playbook import playbook

CANDIDATES: Final = 32
"""Most choices to compare; if there are more, a random sample of them."""

LONGEST_PLAYOUT: Final = 500
"""Moves after which a simulated match is judged by its standing."""

DISTRACTED: Final = 0.3
"""Probability of a random choice in the simulation."""

SOONER: Final = 1e-5
"""Loss of a victory's value per move, so that the bot does not put off a certain victory."""

FIRST_COMPARISON: Final = 8
"""Number of lots before the first choice can be dropped."""

CLEARLY: Final = 2.0
"""Number of standard errors by which a dropped choice is behind the best."""


class MonteCarlo:
    """Simulates for a time, or for a number of playouts."""

    def __init__(self, seat: Seat, *, think: float = 1.0, playouts: int = 0) -> None:
        """Simulate `playouts` matches per choice, the same on every machine; or, if it is 0, for `think` seconds."""
        if not 0 < think <= 3600:  # noqa: PLR2004 - an hour
            raise Unsuited("think of monte_carlo must be more than 0 and at most 3600 seconds")
        if playouts < 0:
            raise Unsuited("playouts of monte_carlo must not be negative; 0 is as many as the time allows")
        self._seat = seat
        self._game = seat.game
        self._possible_state = playbook(seat.game.name).possible_state
        self._think = think
        self._playouts = playouts
        self._random = random.Random(seat.seed)

    def choose(self, view: Any, legal: Choices[Any], /) -> Any:
        """The choice that wins most simulated matches; the first one if several are equal."""
        candidates = self._candidates(legal)
        if len(candidates) == 1:
            return candidates[0]
        scores: dict[int, list[float]] = {index: [] for index in range(len(candidates))}
        for lot in self._lots(scores):
            uniform = random.Random(lot).randrange
            state = self._possible_state(self._seat.options, view, uniform)
            for index, scored in scores.items():
                scored.append(self._playout(state, candidates[index], random.Random(lot)))
            lots = len(next(iter(scores.values())))
            if lots >= FIRST_COMPARISON and lots.bit_count() == 1:
                _drop_those_behind(scores)
        return candidates[max(scores, key=lambda index: fmean(scores[index]))]

    def _candidates(self, legal: Choices[Any]) -> list[Any]:
        candidates = list(islice(legal, CANDIDATES + 1))
        if len(candidates) <= CANDIDATES:
            return candidates
        uniform = self._random.randrange
        return list(dict.fromkeys(legal.sample(uniform) for _ in range(CANDIDATES)))

    def _lots(self, scores: dict[int, list[float]]) -> Iterator[int]:
        """Yield the seeds of the lots, until one choice is left or time or playouts are used up; at least one."""
        ends = time.monotonic() + self._think
        left = self._playouts
        while len(scores) > 1:
            left -= len(scores)
            yield self._random.getrandbits(64)
            if left < len(scores) if self._playouts else time.monotonic() >= ends:
                return

    def _playout(self, state: Any, choice: Any, chance: random.Random) -> float:
        """Play one simulated match; returns the seat's share of the victory, slightly higher if it comes sooner."""
        game = self._game
        state = game.copy(state)
        game.play(state, choice)
        moves = 0
        while moves < LONGEST_PLAYOUT:
            awaited = game.awaited(state)
            if isinstance(awaited, ToChoose):
                if chance.random() < DISTRACTED:
                    move = game.legal(state).sample(chance.randrange)
                else:
                    move = game.caretaker(state)
            elif isinstance(awaited, Over):
                break
            else:
                move = game.outcome(state, _values(awaited, chance))
            game.play(state, move)
            moves += 1
        places = game.places(state)
        won = (places[self._seat.number] == 1) / places.count(1)
        return won * (1 - SOONER * moves)


def _values(awaited: Throw | Draw, chance: random.Random) -> tuple[Value, ...]:
    if isinstance(awaited, Throw):
        return tuple([chance.choice(faces) for faces in awaited.dice])
    return tuple(chance.sample(awaited.items, awaited.count))


def _drop_those_behind(scores: dict[int, list[float]]) -> None:
    best = max(scores, key=lambda index: fmean(scores[index]))
    for index in list(scores):
        behind = [better - score for better, score in zip(scores[best], scores[index], strict=True)]
        if fmean(behind) > CLEARLY * stdev(behind) / sqrt(len(behind)) > 0:
            del scores[index]
