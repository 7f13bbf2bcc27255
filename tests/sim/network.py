"""A simulated network: messages take their time, overtake each other, come twice, or never."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

T = TypeVar("T")

QUICK: Final = (0.0002, 0.003)
"""Seconds that most messages take."""

SLOW: Final = (0.05, 4.0)
"""Seconds that slow ones take: longer than some wait for an answer."""


class Unanswered(Exception):
    """No answer came in time: what was asked for may have happened or not, or may happen yet."""


@dataclass
class Weather:
    """How messages fare; all zero is a network without faults."""

    lost: float = 0.0
    doubled: float = 0.0
    slow: float = 0.0

    def clear_up(self) -> None:
        """Lose, double and delay no more."""
        self.lost = self.doubled = self.slow = 0.0


class Network:
    """Carries messages between any two machines."""

    def __init__(self, chance: random.Random, weather: Weather) -> None:
        """Draw the fate of every message from this source."""
        self._chance = chance
        self.weather = weather
        self.messages = 0
        """How many have been sent."""
        self.until: int | None = None
        """After so many messages the weather clears up; never if not set."""

    def travel(self) -> float | None:
        """How many seconds the next message takes; none if it is lost."""
        self.messages += 1
        if self.until is not None and self.messages >= self.until:
            self.weather.clear_up()
        if self._chance.random() < self.weather.lost:
            return None
        return self._chance.uniform(*(SLOW if self._chance.random() < self.weather.slow else QUICK))

    def deliveries(self) -> list[float]:
        """After how many seconds each copy arrives of the next message, which nobody answers."""
        copies = 2 if self._chance.random() < self.weather.doubled else 1
        return [seconds for _ in range(copies) if (seconds := self.travel()) is not None]

    async def ask(self, work: Callable[[], T], patience_seconds: float) -> T:
        """Have the work done at the other end and return what comes back first; raises what the work raises.

        The work may be done twice, or late, long after whoever asked has given up.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()

        def arrive() -> None:
            result: T | None = None
            failure: Exception | None = None
            try:
                result = work()
            except Exception as error:  # noqa: BLE001 - it travels back to whoever asked
                failure = error
            back = self.travel()
            if back is not None:
                loop.call_later(back, _settle, answer, result, failure)

        for seconds in self.deliveries():
            loop.call_later(seconds, arrive)
        expiry = loop.call_later(patience_seconds, _settle, answer, None, Unanswered())
        try:
            return await answer
        finally:
            expiry.cancel()


def _settle(answer: asyncio.Future[Any], result: Any, failure: Exception | None) -> None:
    if answer.done():
        return
    if failure is None:
        answer.set_result(result)
    else:
        answer.set_exception(failure)
