"""Speed of the rules: folds, whole random games, the check; beside PyPI's `eventsourcing` as the baseline."""

from __future__ import annotations

import cProfile
import pstats
import random
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any, Final

from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, event

from rollbook.match.check import check
from rollbook.match.codec.notation import write
from rollbook.match.dice import Dice
from rollbook.match.events import Chosen, Happened
from rollbook.match.simulation import Simulation
from rollbook.rules import cant_stop
from rollbook.rules.cant_stop.offers import BASIC_OFFER
from rollbook.rules.catalogue import current, find
from rollbook.rules.game import Over, ToChoose, Uniform
from tests.bench.measure import Measure, Row, side_by_side

FOLDS_OF_EACH_LOG = 4
BASELINE = "baseline: eventsourcing repository.get"

FOLD_GOALS = {"cant_stop": 15.0}
FOLD_GOAL = 5.0
"""The goal for the other games."""
GAMES_FOR_EACH_BASELINE_EVENT = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The numbers of a round."""

    aggregates: int = 40
    """Aggregates of the baseline."""
    events_each: int = 250
    logs: int = 60
    """Logs of each game that are folded."""
    games: int = 600
    """Games that are played at random."""
    checked_each: int = 10
    """Matches of each game whose plain forms are checked."""
    remembered: tuple[int, int] = (2_000, 8_000)
    """Two numbers of games whose memory is compared."""


FULL: Final = Size()
TINY: Final = Size(aggregates=2, events_each=5, logs=1, games=2, checked_each=1, remembered=(2, 4))
"""The smallest run that executes all code."""


class Rolls(Aggregate):
    """The baseline's aggregate, as small as a match can be."""

    @event("Opened")
    def __init__(self, seats: int) -> None:
        """Begin without throws."""
        self.seats = seats
        self.last: list[int] = []

    @event("Rolled")
    def rolled(self, dice: list[int]) -> None:
        """Dice were thrown."""
        self.last = dice

    @event("Chosen")
    def chosen(self, columns: list[int]) -> None:
        """Columns were chosen."""
        self.last = columns


def baseline(size: Size) -> Callable[[], int]:
    """`Application.repository.get` of aggregates in memory (POPO, JSON, no snapshots)."""
    application: Application[Any] = Application(env={"PERSISTENCE_MODULE": "eventsourcing.popo"})
    ids = []
    for _ in range(size.aggregates):
        aggregate = Rolls(seats=2)
        for number in range(size.events_each - 1):
            if number % 2:
                aggregate.chosen([4, 5])
            else:
                aggregate.rolled([1, 2, 3, 4])
        application.save(aggregate)
        ids.append(aggregate.id)

    def work() -> int:
        for aggregate_id in ids:
            application.repository.get(aggregate_id)
        return size.aggregates * size.events_each

    return work


def fold(name: str, matches: int) -> Callable[[], int]:
    """Fold simulated matches with two seats, or the fewest of the game, and validate every choice."""
    game = find(name)
    logs = []
    for number in range(matches):
        simulation = Simulation(game, {}, game.seats[0], 1, number)
        moves: list[Any] = []
        for _, happened in simulation.events():
            if isinstance(happened, Happened):
                moves.append(happened.outcome)
            elif isinstance(happened, Chosen):
                moves.append(happened.choice)
        logs.append((game.start({}, game.seats[0]), moves))
    repeated = list(islice(cycle(logs), matches * FOLDS_OF_EACH_LOG))

    def work() -> int:
        for start, moves in repeated:
            game.fold(start, moves)
        return sum(len(moves) for _, moves in repeated)

    return work


def play_at_random(key: bytes, uniform: Uniform) -> int:
    """Play a whole random game of Can't Stop for two seats; returns the number of its throws."""
    game = cant_stop.GAME
    state = game.start({}, 2)
    awaited, legal, play, outcome = game.awaited, game.legal, game.play, game.outcome
    values = Dice(key).values
    draws = 0
    while True:
        wanted = awaited(state)
        if isinstance(wanted, ToChoose):
            play(state, legal(state).sample(uniform))
        elif isinstance(wanted, Over):
            return draws
        else:
            draws += 1
            play(state, outcome(state, values(draws, wanted)))


def random_games(games: int) -> Callable[[], int]:
    """Play whole random games, each with its own key."""
    rng = random.Random(1)

    def uniform(size: int) -> int:
        return int(rng.random() * size)

    def work() -> int:
        for _ in range(games):
            play_at_random(rng.randbytes(32), uniform)
        return games

    return work


def plain_forms(matches: int) -> list[list[str]]:
    """Return the lines of this many matches of each game."""
    found = []
    for name, game in current().items():
        for number in range(matches):
            simulation = Simulation(find(name), {}, game.seats[0], 2, number)
            found.append([line.removesuffix("\n") for line in write(simulation.header, simulation.events())])
    return found


def checks(matches: int) -> Callable[[], int]:
    """`check` of plain forms of all games, dice proved."""
    files = plain_forms(matches)

    def work() -> int:
        return sum(check(lines).events for lines in files)

    return work


def memory_of(games: int) -> int:
    """Return the largest memory in bytes during this many random games, with the bounded cache of offers."""
    rng = random.Random(2)

    def uniform(size: int) -> int:
        return int(rng.random() * size)

    BASIC_OFFER.cache_clear()
    tracemalloc.start()
    for _ in range(games):
        play_at_random(rng.randbytes(32), uniform)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def bench(rounds: int, *, tiny: bool) -> list[Row]:
    """Run all measures."""
    size = TINY if tiny else FULL
    at_random = random_games(size.games)
    measures = [Measure(BASELINE, "events/s", baseline(size))]
    measures += [
        Measure(f"validating fold of {name}", "events/s", fold(name, size.logs), FOLD_GOALS.get(name, FOLD_GOAL))
        for name in current()
    ]
    measures.append(
        Measure("random games of Can't Stop, fair dice", "games/s", at_random, GAMES_FOR_EACH_BASELINE_EVENT)
    )
    measures.append(Measure("check of plain forms, dice proved", "events/s", checks(size.checked_each)))
    rows = side_by_side(measures, rounds)
    peaks = [f"{memory_of(games):,} bytes over {games:,} games" for games in size.remembered]
    print(f"peak memory {', '.join(peaks)}")
    return rows


def profile(*, tiny: bool) -> None:
    """Print the functions in which the check spends its time."""
    files = plain_forms((TINY if tiny else FULL).checked_each)
    profiled = cProfile.Profile()
    profiled.enable()
    for lines in files:
        check(lines)
    profiled.disable()
    pstats.Stats(profiled).sort_stats("tottime").print_stats(25)
