"""Speed of the rules: folds, whole random games, the check; beside PyPI's `eventsourcing` as the baseline."""

from __future__ import annotations

import cProfile
import pstats
import random
import tracemalloc
from collections.abc import Callable
from itertools import cycle, islice
from typing import Any

from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, event

from rollbook.match.check import check
from rollbook.match.codec.notation import write
from rollbook.match.dice import Dice
from rollbook.match.events import Chosen, Happened
from rollbook.match.simulation import Simulation
from rollbook.rules import cant_stop
from rollbook.rules.cant_stop import BASIC_OFFER
from rollbook.rules.catalogue import current, find
from rollbook.rules.game import Over, ToChoose, Uniform
from tests.bench.measure import Measure, Row, side_by_side

AGGREGATES = 40
EVENTS_EACH = 250
LOGS = 60
GAMES = 600

FOLD_GOALS = {"cant_stop": 15.0}
FOLD_GOAL = 5.0
"""Of every other game."""
GAMES_FOR_EACH_BASELINE_EVENT = 0.05


class Rolls(Aggregate):
    """The baseline's aggregate: as little as a match can be."""

    @event("Opened")
    def __init__(self, seats: int) -> None:
        """Begin with nothing thrown."""
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


def baseline() -> Callable[[], int]:
    """`Application.repository.get` of aggregates in memory (POPO, JSON, no snapshots)."""
    application: Application[Any] = Application(env={"PERSISTENCE_MODULE": "eventsourcing.popo"})
    ids = []
    for _ in range(AGGREGATES):
        aggregate = Rolls(seats=2)
        for number in range(EVENTS_EACH - 1):
            if number % 2:
                aggregate.chosen([4, 5])
            else:
                aggregate.rolled([1, 2, 3, 4])
        application.save(aggregate)
        ids.append(aggregate.id)

    def work() -> int:
        for aggregate_id in ids:
            application.repository.get(aggregate_id)
        return AGGREGATES * EVENTS_EACH

    return work


def fold(name: str) -> Callable[[], int]:
    """Validating folds of simulated matches, two seats or as few as the game has, every choice checked."""
    game = find(name)
    logs = []
    for number in range(LOGS):
        simulation = Simulation(game, {}, game.seats[0], 1, number)
        moves: list[Any] = []
        for _, happened in simulation.events():
            if isinstance(happened, Happened):
                moves.append(happened.outcome)
            elif isinstance(happened, Chosen):
                moves.append(happened.choice)
        logs.append((game.start({}, game.seats[0]), moves))
    repeated = list(islice(cycle(logs), LOGS * 4))

    def work() -> int:
        for start, moves in repeated:
            game.fold(start, moves)
        return sum(len(moves) for _, moves in repeated)

    return work


def play_at_random(key: bytes, uniform: Uniform) -> int:
    """One whole game of Can't Stop for two seats: fair dice, choices at random; the number of its throws."""
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


def random_games() -> Callable[[], int]:
    """Whole random games, each with a key of its own."""
    rng = random.Random(1)

    def uniform(size: int) -> int:
        return int(rng.random() * size)

    def work() -> int:
        for _ in range(GAMES):
            play_at_random(rng.randbytes(32), uniform)
        return GAMES

    return work


def plain_forms(matches: int = 40) -> list[list[str]]:
    """Lines of matches of all games."""
    found = []
    for name, game in current().items():
        for number in range(matches // len(current())):
            simulation = Simulation(find(name), {}, game.seats[0], 2, number)
            found.append([line.removesuffix("\n") for line in write(simulation.header, simulation.events())])
    return found


def checks() -> Callable[[], int]:
    """`check` of plain forms of all games, dice proved."""
    files = plain_forms()

    def work() -> int:
        return sum(check(lines).events for lines in files)

    return work


def memory_of(games: int) -> int:
    """The most memory, in bytes, that so many random games ever hold, the bounded table of offers included."""
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


def bench(rounds: int) -> list[Row]:
    """All of it."""
    measures = [Measure("baseline: eventsourcing repository.get", "events/s", baseline())]
    measures += [
        Measure(f"validating fold of {name}", "events/s", fold(name), FOLD_GOALS.get(name, FOLD_GOAL))
        for name in current()
    ]
    measures.append(
        Measure("random games of Can't Stop, fair dice", "games/s", random_games(), GAMES_FOR_EACH_BASELINE_EVENT)
    )
    measures.append(Measure("check of plain forms, dice proved", "events/s", checks()))
    rows = side_by_side(measures, rounds)
    few, many = memory_of(2_000), memory_of(8_000)
    print(f"peak memory over 2,000 games {few:,} bytes, over 8,000 games {many:,} bytes")
    return rows


def profile_check() -> None:
    """Where the time of the check goes."""
    files = plain_forms()
    profile = cProfile.Profile()
    profile.enable()
    for lines in files:
        check(lines)
    profile.disable()
    pstats.Stats(profile).sort_stats("tottime").print_stats(25)
