"""All installed strategies, and the syntax for them on the command line.

Each is an entry point of the group `rollbook.bots`, loaded on demand. `monte_carlo:think=0.5` is the strategy
`monte_carlo` with one setting; the settings of a strategy are its keyword arguments.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from rollbook_clients.bots.bot import Bot, Seat, Strategy, Unsuited

GROUP: Final = "rollbook.bots"


class Unknown(ValueError):
    """There is no strategy, or no setting, of this name, or its value is wrong; the message lists the possible ones."""


@dataclass(frozen=True, slots=True)
class Named:
    """A strategy with its settings, as written on the command line."""

    text: str
    strategy: Strategy
    settings: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The name of the strategy without settings."""
        return self.text.partition(":")[0]

    def create(self, seat: Seat) -> Bot:
        """Create a bot for this seat; raises Unsuited if the strategy cannot play there."""
        return self.strategy(seat, **self.settings)


def names() -> list[str]:
    """The names of the installed strategies, sorted."""
    return sorted(_points())


def find(text: str) -> Named:
    """Parse and load a strategy: `NAME` or `NAME:SETTING=VALUE,SETTING=VALUE`.

    Raises Unknown for a wrong name, setting or value, and Unsuited if the strategy cannot be loaded.
    """
    name, _, settings = text.partition(":")
    points = _points()
    if name not in points:
        raise Unknown(f"there is no strategy {name!r}; strategies: {', '.join(sorted(points))}")
    try:
        strategy = points[name].load()
    except Exception as failure:  # the module may be of another package and fail in any way
        raise Unsuited(f"strategy {name} cannot be loaded: {failure!r}") from failure
    return Named(text, strategy, _settings(name, strategy, settings))


def _points() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def _settings(name: str, strategy: Strategy, text: str) -> dict[str, Any]:
    known = {
        parameter.name: parameter
        for parameter in inspect.signature(strategy).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
    }
    settings: dict[str, Any] = {}
    for word in text.split(",") if text else ():
        key, _, value = word.partition("=")
        if key not in known:
            settable = ", ".join(f"{known_key}={it.default}" for known_key, it in known.items()) or "none"
            raise Unknown(f"{name} has no setting {key!r}; its settings with their defaults: {settable}")
        read, wanted = _reader(known[key].default)
        try:
            settings[key] = read(value)
        except ValueError:
            raise Unknown(f"{key} of {name} must be {wanted}, not {value!r}") from None
    return settings


def _reader(default: Any) -> tuple[Callable[[str], Any], str]:
    """The parser for values of the default's type, and a description of them."""
    if isinstance(default, bool):
        return _truth, "true or false"
    if isinstance(default, int):
        return int, "a whole number"
    return (float, "a number") if isinstance(default, float) else (str, "a text")


def _truth(text: str) -> bool:
    if text not in {"true", "false"}:
        raise ValueError
    return text == "true"
