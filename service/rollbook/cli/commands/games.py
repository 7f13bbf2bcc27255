"""`rollbook games`: lists the games."""

import json
from typing import Annotated, Any

from cyclopts import Parameter

from rollbook.cli.exits import Exit, usage
from rollbook.rules.catalogue import current
from rollbook.rules.game import Game
from rollbook.rules.options import write_value


def no_such_game(game: str) -> Exit:
    """Print that there is no such game, with the names of all games."""
    return usage(f"there is no game {game!r}; there are {', '.join(current())}")


def games(*, as_json: Annotated[bool, Parameter(name="--json", negative="")] = False) -> int:
    """List the games with their seats and options.

    Example: `rollbook games --json`

    Parameters
    ----------
    as_json
        For programs: one JSON object for each game, a line each.
    """
    for game in current().values():
        print(json.dumps(_facts(game), ensure_ascii=False) if as_json else _words(game))
    if not as_json:
        print("Play them: rollbook play. The rules of one: rollbook rules GAME. See bots play: rollbook simulate GAME")
    return Exit.GOOD


def _facts(game: Game[Any, Any, Any]) -> dict[str, Any]:
    return {
        "game": game.name,
        "title": game.title,
        "ruleset": game.version,
        "seats": [game.seats[0], game.seats[-1]],
        "options": [
            {
                "option": option.name,
                "default": option.default,
                "values": {"from": option.values[0], "to": option.values[-1]}
                if isinstance(option.values, range)
                else list(option.values),
                "rule": option.rule,
            }
            for option in game.options
        ],
    }


def _words(game: Game[Any, Any, Any]) -> str:
    lines = [f"{game.name}: {game.title}, {game.seats[0]} to {game.seats[-1]} seats, ruleset {game.version}"]
    for option in game.options:
        lines.append(f"  {option.name}: {option.rule}")
        lines.append(f"    {option.allowed} (default {write_value(option.default)})")
    return "\n".join([*lines, ""])
