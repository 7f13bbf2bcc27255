"""All games at all versions of their rules. A version that has been released stays here for good."""

from __future__ import annotations

from typing import Any

from rollbook.rules import allie_gator, cant_stop, raffzahn, wuerfelzoo
from rollbook.rules.game import Game
from rollbook.rules.options import shortened
from rollbook.rules.refusals import Invalid, Reason

RULESETS: tuple[Game[Any, Any, Any], ...] = (
    raffzahn.GAME,
    cant_stop.GAME,
    wuerfelzoo.GAME,
    allie_gator.GAME,
)

CURRENT: dict[str, Game[Any, Any, Any]] = {game.name: game for game in sorted(RULESETS, key=lambda game: game.version)}
"""The newest version of every game."""


def find(name: str, version: int | None = None) -> Game[Any, Any, Any]:
    """The game of this name at this version of its rules, or at the newest."""
    for game in CURRENT.values() if version is None else RULESETS:
        if game.name == name and version in {None, game.version}:
            return game
    if name in CURRENT:
        raise Invalid(
            Reason.GAME_UNKNOWN,
            f"ruleset {shortened(version)} of {name} is not known here",
            learn=f"newest: {CURRENT[name].version}",
        )
    raise Invalid(Reason.GAME_UNKNOWN, f"there is no game {shortened(name)}", learn=f"games: {', '.join(CURRENT)}")
