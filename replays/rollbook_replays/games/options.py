"""Options and their values in words; those that nobody has given words to are called by their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rollbook.rules.game import Game
from rollbook.rules.options import Option, OptionValue, written
from rollbook_replays.games.words import Words


def option_name(option: Option, words: Words) -> str:
    """What the option is called where somebody chooses its value."""
    key = f"option.{option.name}"
    return words(key) if key in words else option.name


def option_value(option: Option, value: OptionValue, words: Words) -> str:
    """A value that is a word or a number, in words."""
    key = f"option.{option.name}.{value}"
    return words(key) if key in words else written(value)


def differing(game: Game[Any, Any, Any], options: Mapping[str, OptionValue], words: Words) -> list[str]:
    """The options that are not as usual, in words."""
    said = []
    for option in game.options:
        value = options[option.name]
        if value == option.default:
            continue
        keys = (f"differs.{option.name}.{value}", f"differs.{option.name}")
        known = next((key for key in keys if key in words), None)
        said.append(f"{option.name} {written(value)}" if known is None else words(known, value=value))
    return said
