"""Protobuf messages by the name of a game: games that games.proto lists, and installed games."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf.message import Message

from rollbook.match.codec.wrappers import list_games
from rollbook.v1.games_pb2 import Choice, Options

if TYPE_CHECKING:
    from rollbook.rules.catalogue import AnyGame


def list_installed() -> dict[str, AnyGame]:
    """Return the newest ruleset of each installed game, by name."""
    from rollbook.rules.catalogue import current  # noqa: PLC0415 - most clients need no rules

    return current()


def list_known() -> list[str]:
    """Return the names of all games with messages in this environment, sorted."""
    return sorted({*list_games(Options), *list_installed()})


def message_of(wrapper: type[Choice | Options], game: str) -> type[Message] | None:
    """Return the game's own message of this kind, such as CantStopChoice for Choice; None if the game is unknown."""
    if game in list_games(wrapper):
        return type(getattr(wrapper(), game))
    if game not in list_installed():
        return None
    from rollbook.match.codec.stubs import stubs_of  # noqa: PLC0415 - most clients need no rules

    stubs = stubs_of(list_installed()[game])
    return stubs.choice if wrapper is Choice else stubs.options
