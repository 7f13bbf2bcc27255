"""The bots of the house: names, strategies, and the subjects and secrets derived from them."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Self, TypeAlias

from rollbook.identity.tokens import HOUSE, OWN_ISSUER, Role, Subject

_KEYS: Final = {"Uno": "anna", "Duo": "tom", "Trio": "willi", "Quattro": "heike", "Quinto": "rita", "Sesto": "peter"}
"""The part of each bot's subject, older than its name: services of all versions read each other's seats of bots."""

NAMES: Final = tuple(_KEYS)
"""As many as the largest game has seats. No person may choose one of them."""

STRATEGIES: Final = ("random", "heuristic", "monte_carlo")
"""Strategies available in every game, from weak to strong."""

STRATEGY: Final = "heuristic"
"""The default strategy."""


@dataclass(frozen=True, slots=True)
class HouseBot:
    """A bot that can be invited to a table; it takes at most one seat there.

    >>> HouseBot("Quinto", "monte_carlo")
    HouseBot(name='Quinto', strategy='monte_carlo')
    >>> HouseBot.of("house-rita-monte_carlo") == HouseBot("Quinto", "monte_carlo")
    True
    """

    name: str
    strategy: str

    @classmethod
    def of(cls, sub: str) -> Self:
        """The bot with this subject; raises ValueError if there is none."""
        for strategy in STRATEGIES:
            for bot in bots_of(strategy):
                if bot.sub == sub:
                    return cls(bot.name, strategy)
        raise ValueError(f"{sub!r} is no bot of the house")

    @property
    def sub(self) -> str:
        """The bot's subject, which contains the strategy, so that a restarted house knows how the bot plays."""
        return f"{HOUSE}{_KEYS[self.name]}-{self.strategy}"

    @property
    def subject(self) -> Subject:
        """The bot as a caller."""
        return Subject(OWN_ISSUER, self.sub, Role.PLAYER, (), self.name, 0)


Invite: TypeAlias = Callable[[str, HouseBot], None]
"""Notifies the house that a bot sits in a match; a second call for the same seat has no effect."""


def bots_of(strategy: str) -> Iterator[HouseBot]:
    """All bots with a strategy."""
    return (HouseBot(name, strategy) for name in NAMES)


def demo_bots() -> Iterator[Subject]:
    """The bots that play the demo's matches, at random."""
    return (Subject(OWN_ISSUER, f"{HOUSE}{name.lower()}", Role.PLAYER, (), name, 0) for name in NAMES)


def strengths() -> Iterator[tuple[Subject, int]]:
    """Every bot with its strength, from 1."""
    for strength, strategy in enumerate(STRATEGIES, start=1):
        yield from ((bot.subject, strength) for bot in bots_of(strategy))
    yield from ((bot, 1) for bot in demo_bots())


def secret_of(service_key: bytes, sub: str) -> bytes:
    """The secret of a bot, from which its entropy in each match is derived."""
    return hmac.digest(service_key, f"rollbook/1/house/{OWN_ISSUER}:{sub}".encode(), "sha256")
