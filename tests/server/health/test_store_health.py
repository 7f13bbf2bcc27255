"""Health does not flap: a single failed or successful beat does not change it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from rollbook.server.health import store_health
from rollbook.server.health.metrics import Metrics
from rollbook.storage.port import StoreUnavailable

FAILS, SUCCEEDS = False, True


class Beats:
    """A store whose beats succeed or fail in a given order."""

    def __init__(self, *beats: bool) -> None:
        """True is a beat that succeeds."""
        self._beats = list(beats)

    async def prove(self) -> None:
        """Succeed, or raise StoreUnavailable."""
        if not self._beats.pop(0):
            raise StoreUnavailable("not now")


@pytest.mark.parametrize(
    ("beats", "told"),
    [
        ((SUCCEEDS,), [True]),
        ((FAILS,), [True]),
        ((FAILS, SUCCEEDS, FAILS), [True, True, True]),
        ((FAILS, FAILS), [True, False]),
        ((FAILS, FAILS, SUCCEEDS, SUCCEEDS), [True, False, False, False]),
        ((FAILS, FAILS, SUCCEEDS, SUCCEEDS, FAILS, SUCCEEDS), [True, False, False, False, False, False]),
        ((FAILS, FAILS, SUCCEEDS, SUCCEEDS, SUCCEEDS), [True, False, False, False, True]),
    ],
)
def test_two_failures_or_three_successes_in_a_row_change_what_is_told(
    monkeypatch: pytest.MonkeyPatch, beats: tuple[bool, ...], told: list[bool]
) -> None:
    """A store that is slow for a second keeps its clients, and an unstable store does not call them back."""
    monkeypatch.setattr(store_health, "BEAT_SECONDS", 0.0)
    said: list[bool] = []

    async def tell(serves: bool) -> None:
        said.append(serves)

    async def main() -> None:
        log: Any = Beats(*beats)
        look = store_health._Look(log, tell, Metrics())
        for _ in beats:
            await look.again()

    asyncio.run(main())
    assert told == said


def test_whatever_a_beat_comes_to_the_watch_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unexpected exception counts as a failed beat."""
    monkeypatch.setattr(store_health, "BEAT_SECONDS", 0.0)
    said: list[bool] = []

    class Odd:
        async def prove(self) -> None:
            raise KeyError("odd")

    async def tell(serves: bool) -> None:
        said.append(serves)

    async def main() -> None:
        log: Any = Odd()
        look = store_health._Look(log, tell, Metrics())
        for _ in range(3):
            await look.again()

    asyncio.run(main())
    assert [True, False, False] == said
