"""The interface of a bot: it chooses for a seat, from what the seat may see."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from rollbook.rules.game import Choices, Game
from rollbook.rules.options import Options


@dataclass(frozen=True, slots=True)
class Seat:
    """What a bot receives before the match: the game, its seat, and the seed of its random decisions."""

    game: Game[Any, Any, Any]
    options: Options
    """All options, as returned by `Game.settle`."""
    seats: int
    """Number of seats at the table."""
    number: int
    """The bot's own seat, from 0."""
    seed: int
    """With the same seed, views and legal choices, a bot should make the same choices."""


class Bot(Protocol):
    """Chooses for one seat of one match."""

    def choose(self, view: Any, legal: Choices[Any], /) -> Any:
        """Return one of the legal choices, of which there is at least one; `view` is `Game.view` for this seat."""


Strategy: TypeAlias = Callable[..., Bot]
"""Creates a bot for a `Seat`. Its settings are keyword arguments, each with a default."""


class Unsuited(ValueError):
    """The bot does not play this game, or not with these settings; the message explains what it requires."""


def must_play(seat: Seat, game: Game[Any, Any, Any], strategy: str) -> None:
    """Raise Unsuited if the seat is at a table of another game."""
    if seat.game.name != game.name:
        raise Unsuited(f"{strategy} plays {game.name} only, not {seat.game.name}")


class StrategyBroken(Exception):
    """A strategy raised an exception, or made a choice that is not legal."""


def legal_choice(bot: Bot, view: Any, legal: Choices[Any]) -> Any:
    """The bot's choice; raises StrategyBroken if the bot fails or the choice is not legal."""
    try:
        choice = bot.choose(view, legal)
        wrong = "" if choice in legal else f"it chose {choice!r:.200}, which is not legal"
    except (Exception, SystemExit) as failure:
        raise StrategyBroken(f"it failed: {failure!r}") from failure
    if wrong:
        raise StrategyBroken(wrong)
    return choice
