"""The bots of the house: names, strategies, and the subjects and secrets derived from them."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Self, TypeAlias

from rollbook.identity.tokens import HOUSE, OWN_ISSUER, Role, Subject

NAMES: Final = ("Anna", "Tom", "Willi", "Heike", "Rita", "Peter")
"""As many as the largest game has seats."""

STRATEGIES: Final = ("random", "heuristic", "monte_carlo")
"""Strategies available in every game, from weak to strong."""

STRATEGY: Final = "heuristic"
"""The default strategy."""


@dataclass(frozen=True, slots=True)
class HouseBot:
    """A bot that can be invited to a table; it takes at most one seat there.

    >>> HouseBot("Rita", "monte_carlo")
    HouseBot(name='Rita', strategy='monte_carlo')
    >>> HouseBot.of("house-rita-monte_carlo") == HouseBot("Rita", "monte_carlo")
    True
    """

    name: str
    strategy: str

    @classmethod
    def of(cls, sub: str) -> Self:
        """The bot with this subject; raises ValueError if there is none."""
        name, _, strategy = sub.removeprefix(HOUSE).partition("-")
        bot = cls(name.capitalize(), strategy)
        if bot.name not in NAMES or strategy not in STRATEGIES or bot.sub != sub:
            raise ValueError(f"{sub!r} is no bot of the house")
        return bot

    @property
    def sub(self) -> str:
        """The bot's subject, which contains the strategy, so that a restarted house knows how the bot plays."""
        return f"{HOUSE}{self.name.lower()}-{self.strategy}"

    @property
    def shown(self) -> str:
        """The bot's name at the table."""
        return f"{self.name} (bot, {self.strategy.replace('_', ' ')})"

    @property
    def subject(self) -> Subject:
        """The bot as a caller."""
        return Subject(OWN_ISSUER, self.sub, Role.PLAYER, (), self.shown, 0)


Invite: TypeAlias = Callable[[str, HouseBot], None]
"""Notifies the house that a bot sits in a match; a second call for the same seat has no effect."""


def bots_of(strategy: str) -> Iterator[HouseBot]:
    """All bots with a strategy."""
    return (HouseBot(name, strategy) for name in NAMES)


def secret_of(service_key: bytes, sub: str) -> bytes:
    """The secret of a bot, from which its entropy in each match is derived."""
    return hmac.digest(service_key, f"rollbook/1/house/{OWN_ISSUER}:{sub}".encode(), "sha256")
