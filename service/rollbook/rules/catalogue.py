"""The installed games with all versions of their rules. A released version is kept for good.

A distribution adds a game by an entry point of the group `rollbook.games`, which has the name of the game and refers to
a tuple of its rulesets. The games of this distribution are found in the same way.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Container, Iterable
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from rollbook.rules.game import AROUND_A_CHOICE, AROUND_AN_OUTCOME, Game
from rollbook.rules.options import shorten_value
from rollbook.rules.refusals import Invalid, Reason

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP: Final = "rollbook.games"
OWN_DISTRIBUTION: Final = "rollbook"
NAME: Final = re.compile("[a-z][a-z0-9]*(_[a-z0-9]+)*")
"""Pattern for the names of games, which are used in options, files and messages."""

RESERVED_NAMES: Final = frozenset({"other"})
"""Names that no game may have, because they are other fields of the wrapper messages."""

AnyGame: TypeAlias = Game[Any, Any, Any]


@cache
def rulesets() -> tuple[AnyGame, ...]:
    """All installed rulesets by game and version; loaded once in a process.

    An unusable entry point is skipped with a warning, so that it does not affect other games.
    """
    from importlib.metadata import entry_points  # noqa: PLC0415 - it loads much that rules have no use for

    return collect(entry_points(group=GROUP))


def current() -> dict[str, AnyGame]:
    """The newest ruleset of every game, by name and in the order of the names."""
    return {game.name: game for game in rulesets()}


def find(name: str, version: int | None = None) -> AnyGame:
    """The game of this name at this version of its rules, or at the newest."""
    newest = None
    for game in rulesets():
        if game.name == name:
            if game.version == version:
                return game
            newest = game
    if newest is None:
        why = f"there is no game {shorten_value(name)}"
        raise Invalid(Reason.GAME_UNKNOWN, why, learn=f"games: {', '.join(current())}")
    if version is None:
        return newest
    raise Invalid(
        Reason.GAME_UNKNOWN,
        f"ruleset {shorten_value(version)} of {name} is not known here",
        learn=f"newest: {newest.version}",
    )


def collect(points: Iterable[EntryPoint]) -> tuple[AnyGame, ...]:
    """The rulesets of these entry points; of two for one game this distribution's counts, else the first one's."""
    found: dict[str, tuple[AnyGame, ...]] = {}
    for point in sorted(points, key=_precedence):
        try:
            found[point.name] = _load(point, found)
        except Exception as failure:  # noqa: BLE001 - a stranger's module may fail in any way
            reason = f"{type(failure).__name__}: {failure}"
            message = f"game {shorten_value(point.name)} of {_distribution(point)} is left out ({reason})"
            warnings.warn(message, RuntimeWarning, stacklevel=2)
    return tuple(game for name in sorted(found) for game in found[name])


def _is_misnamed(game: AnyGame) -> bool:
    kinds = ((game.choices, AROUND_A_CHOICE), (game.outcomes, AROUND_AN_OUTCOME))
    return any(field.name in around for moves, around in kinds for kind in moves.values() for field in fields(kind))


def _precedence(point: EntryPoint) -> tuple[str, bool, str]:
    distribution = _distribution(point)
    return point.name, distribution != OWN_DISTRIBUTION, distribution


def _distribution(point: EntryPoint) -> str:
    return "an unknown distribution" if point.dist is None else point.dist.name


def _load(point: EntryPoint, found: Container[str]) -> tuple[AnyGame, ...]:
    if point.name in found:
        raise ValueError("another distribution has a game of this name")
    games = point.load()
    if not isinstance(games, tuple) or not games or not all(isinstance(game, Game) for game in games):
        raise TypeError(f"{point.value} is no tuple of games")
    versions = [game.version for game in games]
    if not NAME.fullmatch(point.name) or point.name in RESERVED_NAMES or {game.name for game in games} != {point.name}:
        raise ValueError("the name of the entry point is not that of the game, or cannot be a name")
    if any(_is_misnamed(game) for game in games):
        raise ValueError("a field of a move is called as notation calls what stands around it")
    if len(set(versions)) < len(versions):
        raise ValueError("two rulesets have the same version")
    return tuple(sorted(games, key=lambda game: game.version))
