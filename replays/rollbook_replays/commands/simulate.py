"""`rollbook simulate`: matches between bots, from a seed."""

import secrets
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from cyclopts import Parameter

from rollbook.cli.exits import Exit, usage
from rollbook.cli.game_names import GameName
from rollbook.cli.progress import Progress
from rollbook.files import write_file
from rollbook.match.codec.notation import write
from rollbook.match.simulation import Simulation
from rollbook.rules.catalogue import AnyGame, find
from rollbook.rules.options import Options, read_options
from rollbook.rules.refusals import RefusedByRules
from rollbook_replays.narration import tell
from rollbook_replays.text import plain

SEEDS = 10**60

Form: TypeAlias = Literal["jsonl", "rollbook"]
WriteMatch: TypeAlias = Callable[[Path, Simulation], None]


def simulate(  # noqa: PLR0913 - every flag is a parameter
    game: GameName,
    *,
    seats: int | None = None,
    option: Annotated[Sequence[str], Parameter(negative="")] = (),
    matches: int = 1,
    seed: int | None = None,
    out: Path | None = None,
    form: Annotated[Form, Parameter(name="--format")] = "jsonl",
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Let bots play matches with fair dice.

    Without --out one match is narrated on standard output. With --out each match becomes a file GAME-SEED-NUMBER.jsonl
    in the plain form, which `rollbook check` accepts, or GAME-SEED-NUMBER.rollbook, a replay file for `rollbook audit`,
    with the public keys in KEY.pub. The same seed gives the same bytes on every machine; the keys follow from the seed
    too, so do not trust what they sign.

    Example: `rollbook simulate raffzahn --seats 4 --seed 7`

    Parameters
    ----------
    game
        The game, by id or title; `rollbook games` lists them with their seats and options.
    seats
        How many seats. Default: the fewest of the game.
    option
        NAME=VALUE, repeat for each option that differs from its default.
    matches
        How many matches, numbered from 0. More than one needs --out. Default: 1.
    seed
        The seed of everything random, a whole number. Default: a random one, which is printed.
    out
        The folder for the files; created if needed.
    form
        With --out: `jsonl` (default) for the plain form, `rollbook` for replay files.
    as_json
        Without --out: print the plain form instead of the narration.
    """
    try:
        _together(matches, seed, out, form, as_json=as_json)
        rules, seats, options = choose_table(game, seats, option)
    except (RefusedByRules, ValueError) as refused:
        return usage(str(refused))
    if seed is None:
        seed = secrets.randbelow(10**9)
        print(f"seed {seed}", file=sys.stderr)
    if out is None:
        one = Simulation(rules, options, seats, seed, 0)
        if as_json:
            sys.stdout.writelines(write(one.header, one.events()))
        else:
            sys.stdout.write(plain(tell(one.header, one.events())))
        return Exit.GOOD
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_match = _write_plain if form == "jsonl" else _replay_writer(out, seed)
        with Progress("match", "matches", matches) as progress:
            for number in range(matches):
                simulation = Simulation(rules, options, seats, seed, number)
                write_match(out, simulation)
                progress.one_more(simulation.match.sequence)
    except OSError as wrong:
        print(f"cannot write to {out}: {wrong.strerror}", file=sys.stderr)
        return Exit.WRONG
    return Exit.GOOD


def _together(matches: int, seed: int | None, out: Path | None, form: Form, *, as_json: bool) -> None:
    if matches < 1:
        raise ValueError("--matches must be at least 1")
    if seed is not None and abs(seed) >= SEEDS:
        raise ValueError("--seed has too many digits; at most 60 fit into the name of a match")
    if out is None and matches > 1:
        raise ValueError("more than one match needs --out DIR, the folder for their files")
    if out is None and form != "jsonl":
        raise ValueError(f"--format {form} needs --out DIR, the folder for the files")
    if out is not None and as_json:
        raise ValueError("--json is for one match on standard output; files of --out have a --format")


def choose_table(game: str, seats: int | None, option: Sequence[str]) -> tuple[AnyGame, int, Options]:
    """The game of this name, the seats asked for or its fewest, and what `--option NAME=VALUE` made of its options."""
    rules = find(game)
    seats = rules.seats[0] if seats is None else seats
    texts = {name: value for word in option for name, _, value in [word.partition("=")]}
    return rules, seats, rules.settle(read_options(rules.options, texts), seats)


def _write_plain(out: Path, simulation: Simulation) -> None:
    lines = "".join(write(simulation.header, simulation.events()))
    write_file(out / f"{simulation.opened.match_id}.jsonl", lines.encode("utf-8"), durable=False)


def _replay_writer(out: Path, seed: int) -> WriteMatch:
    """Put the keys of the seed beside the files, with those of other seeds, and sign every match with them."""
    # Imported here, because only replay files need these modules.
    from rollbook.replay_file.container import SUFFIX  # noqa: PLC0415
    from rollbook.replay_file.container import write as write_replay  # noqa: PLC0415
    from rollbook.replay_file.recording import Keys, record  # noqa: PLC0415

    keys = Keys.of(seed)
    published = out / "KEY.pub"
    others = published.read_text(encoding="ascii") if published.exists() else ""
    if keys.public not in others:
        write_file(published, (others + keys.public).encode("ascii"), durable=False)

    def write_match(out: Path, simulation: Simulation) -> None:
        data = write_replay(record(simulation, keys.heads), keys.replays)
        write_file(out / f"{simulation.opened.match_id}{SUFFIX}", data, durable=False)

    return write_match
