"""What a bot is: something that chooses for a seat, from what that seat may know."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from rollbook.rules.game import Choices, Game
from rollbook.rules.options import Options


@dataclass(frozen=True, slots=True)
class Seat:
    """What a bot knows before the match: what is played, where it sits, and what its chance follows from."""

    game: Game[Any, Any, Any]
    options: Options
    """All of them, as `Game.settle` gives them."""
    seats: int
    """How many there are at the table."""
    number: int
    """The bot's own, from 0."""
    seed: int
    """The same seed, views and legal choices give the same choices."""


class Bot(Protocol):
    """Chooses for one seat of one match."""

    def choose(self, view: Any, legal: Choices[Any], /) -> Any:
        """One of the legal choices; `view` is what `Game.view` gives this seat, and there is at least one choice."""


Strategy: TypeAlias = Callable[..., Bot]
"""Makes a bot for a `Seat`; keyword arguments are what can be set about it, each with a default."""


class Unsuited(ValueError):
    """This bot does not play that game, or not with these settings; the message says what it wants."""


def must_play(seat: Seat, game: Game[Any, Any, Any], strategy: str) -> None:
    """Refuse a seat at a table of another game."""
    if seat.game.name != game.name:
        raise Unsuited(f"{strategy} plays {game.name} only, not {seat.game.name}")


class StrategyBroken(Exception):
    """A strategy has failed, or chosen what is not legal."""


def legal_choice(bot: Bot, view: Any, legal: Choices[Any]) -> Any:
    """What a bot chooses; StrategyBroken for whatever a stranger's bot may do instead."""
    try:
        choice = bot.choose(view, legal)
        wrong = "" if choice in legal else f"it chose {choice!r:.200}, which is not legal"
    except (Exception, SystemExit) as failure:
        raise StrategyBroken(f"it failed: {failure!r}") from failure
    if wrong:
        raise StrategyBroken(wrong)
    return choice
