"""`rollbook bot`: plays with bots at a service."""

import asyncio
import secrets
import sys
from collections.abc import Sequence
from typing import Annotated, Final

from cyclopts import Parameter

from rollbook.cli.exits import Exit, Failed, usage
from rollbook.cli.game_names import GameName
from rollbook.cli.service_options import LOCAL_SERVICE, ServiceOptions
from rollbook.rules.refusals import RefusedByRules
from rollbook_clients.bots import catalogue
from rollbook_clients.bots.bot import Seat, Unsuited
from rollbook_clients.bots.catalogue import Unknown
from rollbook_clients.bots.player import BotTerms, keep_company
from rollbook_clients.sdk import Unreachable
from rollbook_replays.commands.simulate import choose_table

MOST_BOTS: Final = 100


def bot(  # noqa: PLR0913 - every flag is a parameter
    *,
    game: GameName,
    strategy: str = "heuristic",
    count: int = 1,
    name: str = "",
    at: ServiceOptions = LOCAL_SERVICE,
    seed: int | None = None,
    match: str = "",
    invitation: str = "",
    seats: int | None = None,
    option: Annotated[Sequence[str], Parameter(negative="")] = (),
) -> int:
    """Let bots play at a service, one match after the other, until Ctrl-C.

    Each sits down in an open match of the game or, if there is none, opens one and waits for others; a match opened by
    a bot has a clock of 60 seconds a turn. Without --token, which is for one bot only, each is a guest. For each bot a
    line is printed when a match has ended. A bot that is stopped leaves its seat, or resigns if its match has begun.
    One that fails or makes an illegal choice resigns as well; its name and traceback are printed.

    The exit code is 1 if a bot failed; 3 if no service answers, or it has no such match.

    Example: `rollbook bot --game cant_stop --count 2 --name Robo`

    Parameters
    ----------
    game
        The game, by id or title; `rollbook games` lists them.
    strategy
        NAME or NAME:SETTING=VALUE, as `rollbook duel --help` explains. Default: heuristic.
    count
        How many bots, at most 100. Default: 1.
    name
        Their display name; several bots get a number behind it. Default: the strategy and a number.
    seed
        The seed of the bots' random choices. Default: a random one, which is printed.
    match
        The id of a match. The bots play this one and end.
    invitation
        The invitation code of that match, if it is private.
    seats
        Seats of the matches that bots open. Default: the fewest of the game.
    option
        NAME=VALUE, for the matches that bots open; repeat for each option that differs from its default.
    """
    try:
        rules, seats, options = choose_table(game, seats, option)
        named = catalogue.find(strategy)
        named.create(Seat(rules, options, seats, number=0, seed=0))
        _together(count, at.token, match, invitation)
        authorities = at.authorities
    except (RefusedByRules, Unknown, Unsuited, ValueError) as refused:
        return usage(str(refused))
    except Failed as failed:
        _tell(failed.why)
        return failed.code
    if seed is None:
        seed = secrets.randbelow(10**9)
        _tell(f"seed {seed}")

    terms = BotTerms(rules, seats, options, named, seed, match, invitation)
    company = keep_company(
        terms,
        count,
        address=at.service,
        token=at.token,
        authorities=authorities,
        name=name,
        result=_result,
        trouble=_tell,
    )
    try:
        return asyncio.run(company)
    except Unreachable as nobody:
        _tell(f"{nobody}; `rollbook serve` starts a service, --service HOST:PORT names another")
        return Exit.UNREADABLE


def _together(count: int, token: str, match: str, invitation: str) -> None:
    if not 1 <= count <= MOST_BOTS:
        raise ValueError(f"--count must be 1 to {MOST_BOTS}")
    if token and count > 1:
        raise ValueError("--token is one player, who holds one seat of a match: it goes with --count 1 only")
    if invitation and not match:
        raise ValueError("--invitation opens a seat of the match that --match names")


def _result(line: str) -> None:
    print(line, flush=True)


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
