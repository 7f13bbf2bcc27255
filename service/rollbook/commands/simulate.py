"""`rollbook simulate`: matches between bots, from a seed."""

from __future__ import annotations

import secrets
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from rollbook.commands.outcome import Exit, usage
from rollbook.match.notation import write
from rollbook.match.simulation import Simulation
from rollbook.rules.catalogue import find
from rollbook.rules.game import Game
from rollbook.rules.options import Options, read_options
from rollbook.rules.refusals import Refused
from rollbook_replays.telling import tell

SEEDS = 10**60
QUIET_SECONDS = 1.0
"""Work that is done sooner than this needs no progress bar."""


def simulate(  # noqa: PLR0913 - every flag is a parameter
    game: str,
    *,
    seats: int | None = None,
    option: Annotated[Sequence[str], Parameter(negative="")] = (),
    matches: int = 1,
    seed: int | None = None,
    out: Path | None = None,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Let bots play matches with fair dice.

    Without --out one match is told on standard output. With --out each match becomes a file GAME-SEED-NUMBER.jsonl in
    the plain form, which `rollbook check` accepts. The same seed gives the same bytes on every machine.

    Parameters
    ----------
    game
        Which game; `rollbook games` lists them with their seats and options.
    seats
        How many seats. Default: the fewest of the game.
    option
        NAME=VALUE, once for each option that shall differ from its default.
    matches
        How many matches, numbered from 0. More than one needs --out. Default: 1.
    seed
        The whole number that everything follows from; drawn, and told, if not given.
    out
        The folder for the files; made if it is not there.
    as_json
        Without --out: print the plain form instead of telling it.
    """
    try:
        _together(matches, seed, out, as_json=as_json)
        rules = find(game)
        seats = rules.seats[0] if seats is None else seats
        options = rules.settle(read_options(rules.options, _pairs(option)), seats)
    except (Refused, ValueError) as refused:
        return usage(str(refused))
    if seed is None:
        seed = secrets.randbelow(10**9)
        print(f"seed {seed}", file=sys.stderr)
    if out is None:
        _told(Simulation(rules, options, seats, seed, 0), as_json=as_json)
        return Exit.GOOD
    try:
        out.mkdir(parents=True, exist_ok=True)
        _write_all(out, matches, _simulations(rules, options, seats, seed, matches))
    except OSError as wrong:
        print(f"cannot write to {out}: {wrong.strerror}", file=sys.stderr)
        return Exit.WRONG
    return Exit.GOOD


def _together(matches: int, seed: int | None, out: Path | None, *, as_json: bool) -> None:
    if matches < 1:
        raise ValueError("--matches must be at least 1")
    if seed is not None and abs(seed) >= SEEDS:
        raise ValueError("--seed has too many digits; at most 60 fit into the name of a match")
    if out is None and matches > 1:
        raise ValueError("more than one match needs --out DIR, the folder for their files")
    if out is not None and as_json:
        raise ValueError("--json is for one match on standard output; files of --out have the plain form anyway")


def _pairs(words: Sequence[str]) -> dict[str, str]:
    return {name: value for word in words for name, _, value in [word.partition("=")]}


def _simulations(
    rules: Game[Any, Any, Any], options: Options, seats: int, seed: int, matches: int
) -> Iterator[Simulation]:
    for number in range(matches):
        yield Simulation(rules, options, seats, seed, number)


def _told(simulation: Simulation, *, as_json: bool) -> None:
    lines = write(simulation.header, simulation.events()) if as_json else tell(simulation.header, simulation.events())
    for line in lines:
        sys.stdout.write(line)


def _write_all(out: Path, matches: int, simulations: Iterator[Simulation]) -> None:
    started = time.monotonic()
    events = 0
    done = 0
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task("matches", total=matches, rate="")
    try:
        for simulation in simulations:
            _write_match(out, simulation)
            events += simulation.match.sequence
            done += 1
            seconds = time.monotonic() - started
            if seconds > QUIET_SECONDS:
                bar.start()
                bar.update(task, completed=done, rate=f"{events / seconds:,.0f} events/s")
    finally:
        bar.stop()
        seconds = max(time.monotonic() - started, 1e-9)
        print(
            f"{done:,} matches, {events:,} events in {seconds:.1f} s:"
            f" {done / seconds:,.0f} matches/s, {events / seconds:,.0f} events/s",
            file=sys.stderr,
        )


def _write_match(out: Path, simulation: Simulation) -> None:
    """Write under another name first, so that a file with the right name is always whole."""
    path = out / f"{simulation.opened.match_id}.jsonl"
    unfinished = path.with_suffix(".part")
    with unfinished.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(write(simulation.header, simulation.events()))
    unfinished.replace(path)
