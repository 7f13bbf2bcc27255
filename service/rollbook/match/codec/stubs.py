"""Finds the protobuf messages of a game by its name, in the module that the game names."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module

from google.protobuf.message import Message

from rollbook.match.codec.wrappers import OTHER, content
from rollbook.rules.catalogue import AnyGame, current
from rollbook.v1 import games_pb2 as proto


@dataclass(frozen=True, slots=True)
class Stubs:
    """The message types for a game's values."""

    options: type[Message]
    choice: type[Message]
    outcome: type[Message]
    view: type[Message]
    legal_choices: type[Message]
    hidden: type[Message] | None
    """The message type for hidden parts; None if the game hides nothing."""


@cache
def stubs_of(game: AnyGame) -> Stubs:
    """The messages of this game, such as `CantStopOptions` of `cant_stop`."""
    module = import_module(game.messages)
    prefix = "".join(part.capitalize() for part in game.name.split("_"))
    return Stubs(
        options=getattr(module, f"{prefix}Options"),
        choice=getattr(module, f"{prefix}Choice"),
        outcome=getattr(module, f"{prefix}Outcome"),
        view=getattr(module, f"{prefix}View"),
        legal_choices=getattr(module, f"{prefix}LegalChoices"),
        hidden=getattr(module, f"{prefix}Hidden", None),
    )


Held = proto.Options | proto.Choice | proto.View | proto.LegalChoices


def game_in(wrapper: Held) -> AnyGame | None:
    """The game, at its newest ruleset, whose message the wrapper contains; None if it is not installed."""
    held = content(wrapper)
    if wrapper.WhichOneof("game") != OTHER:
        return None if held is None else current().get(held)
    return next((game for game in current().values() if held in _full_names(game)), None)


@cache
def _full_names(game: AnyGame) -> frozenset[str]:
    stubs = stubs_of(game)
    kinds = (stubs.options, stubs.choice, stubs.view, stubs.legal_choices)
    return frozenset(kind.DESCRIPTOR.full_name for kind in kinds)
