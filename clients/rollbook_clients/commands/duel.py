"""`rollbook duel`: plays two strategies against each other."""

import json
import os
import secrets
import sys
from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import Annotated, Any, Final

from cyclopts import Parameter

from rollbook.cli.exits import Exit, usage
from rollbook.cli.game_names import GameName
from rollbook.cli.progress import Progress
from rollbook.rules.refusals import RefusedByRules
from rollbook_clients.bots.bot import Unsuited
from rollbook_clients.bots.catalogue import Unknown
from rollbook_clients.bots.duel import Duel, check, play_all
from rollbook_clients.bots.tally import Tally
from rollbook_replays.commands.simulate import SEEDS, choose_table

MOST_MATCHES: Final = 1_000_000
MOST_JOBS: Final = 256
FAULTS_TOLD: Final = 3


def duel(  # noqa: PLR0913 - every flag is a parameter
    one: str,
    other: str,
    *,
    game: GameName,
    option: Annotated[Sequence[str], Parameter(negative="")] = (),
    seats: int | None = None,
    matches: int = 1000,
    seed: int | None = None,
    jobs: int | None = None,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Let two strategies play against each other and count how often each wins.

    They sit alternately round the table, and change places after every match. Everything follows from the seed: match 5
    has the dice of match 5 of `rollbook simulate` with the same seed, for any number of jobs. (Only a strategy
    with a time limit may choose differently on a slower machine.)

    A strategy is named as NAME or NAME:SETTING=VALUE,SETTING=VALUE:
    `rollbook duel monte_carlo:think=0.2 rule_of_28 --game cant_stop --matches 100`

    - random: any legal choice
    - heuristic: the built-in one of the game; also by name: rule_of_28 (cant_stop), expected_teeth (raffzahn),
      lightest_zoo (wuerfelzoo), fewest_penalties (allie_gator)
    - monte_carlo: plays the match to its end at random, for think=SECONDS a choice, or playouts=NUMBER times
    - any other name of an installed entry point of the group `rollbook.bots`

    A strategy that fails or makes an illegal choice resigns that match; this is printed, and the exit code is 1. Ctrl-C
    ends the duel and prints the result so far.

    Example: `rollbook duel heuristic random --game raffzahn --matches 200`

    Parameters
    ----------
    one
        A strategy.
    other
        Another, or the same.
    game
        The game, by id or title; `rollbook games` lists them with their seats and options.
    option
        NAME=VALUE, repeat for each option that differs from its default.
    seats
        How many seats. Default: the fewest of the game.
    matches
        How many matches, at most a million. Default: 1000.
    seed
        The seed of everything random, a whole number. Default: a random one, which is printed.
    jobs
        How many processes play. Default: one a core.
    as_json
        For programs: one JSON object.
    """
    try:
        played = _duel(one, other, game=game, option=option, seats=seats, seed=seed)
        jobs = _jobs(matches, jobs)
        check(played)
    except (RefusedByRules, Unknown, Unsuited, ValueError) as refused:
        return usage(str(refused))
    if seed is None:
        print(f"seed {played.seed}", file=sys.stderr)
    tally = Tally(played)
    code = _play(tally, matches, jobs)
    if tally.sides[0].all.matches:
        print(json.dumps(tally.facts(), ensure_ascii=False) if as_json else "\n".join(_tally_lines(tally)))
    _tell_faults(tally)
    return Exit.WRONG if tally.faults and code is Exit.GOOD else code


def _duel(  # noqa: PLR0913 - the setup of a duel
    one: str, other: str, *, game: str, option: Sequence[str], seats: int | None, seed: int | None
) -> Duel:
    rules, seats, options = choose_table(game, seats, option)
    seed = secrets.randbelow(10**9) if seed is None else seed
    if abs(seed) >= SEEDS:
        raise ValueError("--seed has too many digits; at most 60 fit into the name of a match")
    return Duel(rules.name, options, seats, (one, other), seed)


def _jobs(matches: int, jobs: int | None) -> int:
    if not 1 <= matches <= MOST_MATCHES:
        raise ValueError(f"--matches must be 1 to {MOST_MATCHES:,}")
    if jobs is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not 1 <= jobs <= MOST_JOBS:
        raise ValueError(f"--jobs must be 1 to {MOST_JOBS}")
    return jobs


def _play(tally: Tally, matches: int, jobs: int) -> Exit:
    with Progress("match", "matches", matches) as progress:
        try:
            for played in play_all(tally.duel, matches, jobs):
                tally.take(played)
                progress.one_more()
        except KeyboardInterrupt:
            print(f"interrupted: {progress.done:,} of {matches:,} matches have been played", file=sys.stderr)
            return Exit.INTERRUPTED
        except BrokenProcessPool:
            print(f"a process died; {progress.done:,} of {matches:,} matches have been played", file=sys.stderr)
            return Exit.WRONG
    return Exit.GOOD


def _tally_lines(tally: Tally) -> list[str]:
    facts = tally.facts()
    width = 2 + max(len("whoever starts"), *(len(strategy) for strategy in tally.duel.strategies))
    lines = [
        f"{facts['game']}, {facts['seats']} seats, seed {facts['seed']}",
        f"{'':{width}}{'won':>9}   {'95 % interval':<19} {'matches':>10}",
    ]
    for name, side in zip("AB", facts["strategies"], strict=True):
        lines.append(_line(f"{name} {side['strategy']}", width, side))
        lines += [_line(f"    {_turn(rate['turn'])}", width, rate) for rate in side["by_turn"]]
        lines += [_line(f"    seat {rate['seat']}", width, rate) for rate in side["by_seat"]]
    return [*lines, _line("whoever starts", width, facts["by_turn"][0])]


def _line(words: str, width: int, rate: dict[str, Any]) -> str:
    low, high = rate["interval"]
    interval = f"{low:.2%} to {high:.2%}"
    return f"{words:<{width}}{rate['rate']:>9.2%}   {interval:<19} {rate['matches']:>10,}"


def _turn(turn: int) -> str:
    """The place in the order of play, as text.

    >>> _turn(0), _turn(2)
    ('starting', 'playing 3rd')
    """
    return ("starting", "playing 2nd", "playing 3rd")[turn] if turn < 3 else f"playing {turn + 1}th"  # noqa: PLR2004


def _tell_faults(tally: Tally) -> None:
    faults = tally.facts()["faults"] if tally.faults else []
    for strategy in dict.fromkeys(tally.duel.strategies):
        told = [fault for fault in faults if fault["strategy"] == strategy]
        for fault in told[:FAULTS_TOLD]:
            print(f"{strategy} resigned in {fault['match']}, event {fault['seq']}: {fault['why']}", file=sys.stderr)
        if len(told) > FAULTS_TOLD:
            print(f"{strategy} resigned {len(told) - FAULTS_TOLD:,} more times", file=sys.stderr)
