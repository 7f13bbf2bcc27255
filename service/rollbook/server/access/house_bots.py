"""The bots of the house as logs and lobby know them: what they are called, and what follows from their subjects."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Self, TypeAlias

from rollbook.identity.tokens import HOUSE, OWN_ISSUER, Role, Subject

NAMES: Final = ("Anna", "Tom", "Willi", "Heike", "Rita", "Peter")
"""As many as any game seats."""

STRATEGIES: Final = ("random", "heuristic", "monte_carlo")
"""What every game can be played by, from weak to strong."""

STRATEGY: Final = "heuristic"
"""What a bot plays by if nothing is said."""


@dataclass(frozen=True, slots=True)
class HouseBot:
    """A bot that can be asked to a table; it sits there once at most.

    >>> HouseBot("Rita", "monte_carlo")
    HouseBot(name='Rita', strategy='monte_carlo')
    >>> HouseBot.of("house-rita-monte_carlo") == HouseBot("Rita", "monte_carlo")
    True
    """

    name: str
    strategy: str

    @classmethod
    def of(cls, sub: str) -> Self:
        """The bot with this subject; ValueError if there is none."""
        name, _, strategy = sub.removeprefix(HOUSE).partition("-")
        bot = cls(name.capitalize(), strategy)
        if bot.name not in NAMES or strategy not in STRATEGIES or bot.sub != sub:
            raise ValueError(f"{sub!r} is no bot of the house")
        return bot

    @property
    def sub(self) -> str:
        """Who it is; its strategy is part of that, so that a house that is started again knows how it plays."""
        return f"{HOUSE}{self.name.lower()}-{self.strategy}"

    @property
    def shown(self) -> str:
        """What it is called at the table."""
        return f"{self.name} (bot, {self.strategy.replace('_', ' ')})"

    @property
    def subject(self) -> Subject:
        """It as a caller."""
        return Subject(OWN_ISSUER, self.sub, Role.PLAYER, (), self.shown, 0)


Invite: TypeAlias = Callable[[str, HouseBot], None]
"""Tells the house in which match one of its bots sits; twice is the same as once."""


def bots_of(strategy: str) -> Iterator[HouseBot]:
    """All bots that play by a strategy."""
    return (HouseBot(name, strategy) for name in NAMES)


def secret_of(service_key: bytes, sub: str) -> bytes:
    """The secret of a bot, from which follows what it brings to the dice of each match."""
    return hmac.digest(service_key, f"rollbook/1/house/{OWN_ISSUER}:{sub}".encode(), "sha256")
