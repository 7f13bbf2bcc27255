"""A simulated network: messages are delayed, reordered, duplicated or lost."""

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
"""Seconds that slow messages take: longer than some clients wait."""


class Unanswered(Exception):
    """No answer came in time: the request may have happened, or may still happen."""


@dataclass
class Weather:
    """The probabilities of message faults; all zero is a network without faults."""

    lost: float = 0.0
    doubled: float = 0.0
    slow: float = 0.0

    def clear_up(self) -> None:
        """Set all probabilities to zero."""
        self.lost = self.doubled = self.slow = 0.0


class Network:
    """Carries messages between machines."""

    def __init__(self, chance: random.Random, weather: Weather) -> None:
        """`chance` draws the fate of every message."""
        self._chance = chance
        self.weather = weather
        self.messages = 0
        """Number of sent messages."""
        self.until: int | None = None
        """Number of messages after which faults end, or None."""

    def travel(self) -> float | None:
        """Return the seconds that the next message takes, or None if it is lost."""
        self.messages += 1
        if self.until is not None and self.messages >= self.until:
            self.weather.clear_up()
        if self._chance.random() < self.weather.lost:
            return None
        return self._chance.uniform(*(SLOW if self._chance.random() < self.weather.slow else QUICK))

    def deliveries(self) -> list[float]:
        """Return the arrival times of all copies of a message without an answer."""
        copies = 2 if self._chance.random() < self.weather.doubled else 1
        return [seconds for _ in range(copies) if (seconds := self.travel()) is not None]

    async def ask(self, work: Callable[[], T], patience_seconds: float) -> T:
        """Run the work at the other end; return its first answer, or raise its exception.

        The work may run twice, or long after the caller has given up.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()

        def arrive() -> None:
            result: T | None = None
            failure: Exception | None = None
            try:
                result = work()
            except Exception as error:  # noqa: BLE001 - the exception travels back to the caller
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
