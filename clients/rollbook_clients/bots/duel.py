"""Matches between two strategies, with the same result for any number of processes.

Match number n of a duel has the dice of match number n of `rollbook simulate` with the same seed. The strategies
alternate around the table and swap seats in every other match, so that neither has better seats. The seed of every bot
is derived from the match and its seat.

A bot that fails or makes an illegal choice resigns, like at a table of the service: its caretaker plays on, it cannot
win, and the other bots finish the match.
"""

import hashlib
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import active_children, get_context, parent_process
from typing import Any, Final

from rollbook.match.events import Chosen, Happened, Resigned
from rollbook.match.fold import MatchFold
from rollbook.match.simulation import Simulation
from rollbook.rules.catalogue import find
from rollbook.rules.chance import FirstSeat
from rollbook.rules.options import Options
from rollbook_clients.bots import catalogue
from rollbook_clients.bots.bot import Bot, Seat, StrategyBroken, legal_choice

SIDES: Final = 2
CHUNKS_OF_A_PROCESS: Final = 100
LARGEST_CHUNK: Final = 100


@dataclass(frozen=True, slots=True)
class Duel:
    """The setup of a duel, which determines all its matches."""

    game: str
    options: Options
    seats: int
    strategies: tuple[str, str]
    seed: int

    def sides(self, number: int) -> tuple[int, ...]:
        """The side, 0 or 1, at each seat in the match of this number.

        >>> duel = Duel("raffzahn", {}, 3, ("heuristic", "random"), seed=7)
        >>> duel.sides(0), duel.sides(1)
        ((0, 1, 0), (1, 0, 1))
        """
        return tuple((seat + number) % SIDES for seat in range(self.seats))


@dataclass(frozen=True, slots=True)
class StrategyFault:
    """The reason why a bot had to resign."""

    strategy: str
    match_id: str
    sequence: int
    """The sequence of the event `resigned`."""
    why: str


@dataclass(frozen=True, slots=True)
class Played:
    """The result of one match of a duel."""

    number: int
    sides: tuple[int, ...]
    first_seat: int
    places: tuple[int, ...]
    faults: tuple[StrategyFault, ...]


def check(duel: Duel) -> None:
    """Raise Unknown for unknown strategies, and Unsuited for strategies that cannot play the game."""
    _seat_bots(duel, f"{duel.game}-check", duel.sides(0))
    _seat_bots(duel, f"{duel.game}-check", duel.sides(1))


def play(duel: Duel, number: int) -> Played:
    """Play the match of this number and return its result."""
    simulation = Simulation(find(duel.game), duel.options, duel.seats, duel.seed, number)
    sides = duel.sides(number)
    bots = _seat_bots(duel, simulation.opened.match_id, sides)
    faults: list[StrategyFault] = []

    def decide(match: MatchFold, seat: int) -> Chosen[Any] | Resigned:
        if match.played_by_caretaker(seat):
            return Chosen(seat, match.game.caretaker(match.state), by_caretaker=True)
        try:
            view, legal = match.game.view(match.state, seat), match.game.legal(match.state)
            return Chosen(seat, legal_choice(bots[seat], view, legal))
        except StrategyBroken as broken:
            strategy, match_id = duel.strategies[sides[seat]], match.opened.match_id
            faults.append(StrategyFault(strategy, match_id, match.sequence + 1, str(broken)))
            return Resigned(seat)

    first_seat = 0
    for _, event in simulation.events(decide):
        if isinstance(event, Happened) and isinstance(event.outcome, FirstSeat) and simulation.match.chance_events == 1:
            first_seat = event.outcome.seat
    return Played(number, sides, first_seat, simulation.match.places(), tuple(faults))


def play_all(duel: Duel, matches: int, jobs: int) -> Iterator[Played]:
    """Play matches 0 to `matches` - 1 in `jobs` processes; yields their results in the order in which they end."""
    if jobs == 1:
        for number in range(matches):
            yield play(duel, number)
        return
    size = max(1, min(matches // (jobs * CHUNKS_OF_A_PROCESS), LARGEST_CHUNK))
    # Spawned instead of forked: gRPC does not survive a fork if it has been imported.
    context = get_context("spawn")
    with ProcessPoolExecutor(min(jobs, matches), context, initializer=_end_with_parent) as processes:
        try:
            with _interrupts_held_back():
                chunks: list[Future[list[Played]]] = [
                    processes.submit(_play_chunk, duel, range(start, min(start + size, matches)))
                    for start in range(0, matches, size)
                ]
            for chunk in as_completed(chunks):
                yield from chunk.result()
        except BaseException:
            processes.shutdown(wait=False, cancel_futures=True)
            for process in active_children():
                process.terminate()
            raise


def _end_with_parent() -> None:
    """End this worker process when its parent is killed."""
    parent = parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _play_chunk(duel: Duel, numbers: range) -> list[Played]:
    return [play(duel, number) for number in numbers]


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Block SIGINT while workers are started: they inherit the mask, and the parent ends them after Ctrl-C."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _seat_bots(duel: Duel, match_id: str, sides: tuple[int, ...]) -> list[Bot]:
    game = find(duel.game)
    return [
        _strategy(duel.strategies[side]).create(Seat(game, duel.options, duel.seats, seat, seed(match_id, seat)))
        for seat, side in enumerate(sides)
    ]


@lru_cache
def _strategy(text: str) -> catalogue.Named:
    return catalogue.find(text)


def seed(match_id: str, seat: int) -> int:
    """The seed of the bot at this seat of this match."""
    return int.from_bytes(hashlib.sha256(f"rollbook/1/duel{match_id}/{seat}".encode("ascii")).digest()[:8], "big")
