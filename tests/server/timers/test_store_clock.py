"""A store whose clock differs from the service's: each change is logged once and measured."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from structlog.testing import capture_logs

from rollbook.server.health.metrics import Metrics
from rollbook.server.timers.store_clock import StoreClock


class Clocks:
    """A store and a service, each with a clock that tests set."""

    def __init__(self) -> None:
        """Begin with equal clocks."""
        self.store_ms = self.service_ms = 1_700_000_000_000

    async def now_ms(self) -> int:
        """The store's time in milliseconds."""
        return self.store_ms


@pytest.mark.parametrize(("apart_ms", "said"), [(0, []), (1_000, []), (1_001, [1_001]), (-3_600_000, [-3_600_000])])
def test_a_difference_of_more_than_a_second_is_logged_once_and_measured(apart_ms: int, said: list[int]) -> None:
    """A difference that begins during service is noticed too; matches always use the store's clock."""
    clocks, metrics = Clocks(), Metrics()
    log: Any = clocks
    clock = StoreClock(log, lambda: clocks.service_ms, lambda: 5_000, metrics)

    async def main() -> None:
        await clock.compare()
        clocks.store_ms += apart_ms
        for _ in range(3):
            await clock.compare()

    with capture_logs() as lines:
        asyncio.run(main())
    assert said == [line["store_is_ahead_ms"] for line in lines]
    assert clocks.store_ms == clock()
    assert apart_ms / 1_000 == metrics.registry.get_sample_value("rollbook_clock_difference_seconds")


def test_an_answer_that_was_long_under_way_does_not_put_the_clock_back() -> None:
    """The store's time is that of its answer; any time between question and arrival is plausible."""
    steady, under_way = [5_000], [0, 2_000, 0]

    class Slow:
        async def now_ms(self) -> int:
            said = 1_700_000_000_000 + steady[0]
            steady[0] += under_way.pop(0)
            return said

    log: Any = Slow()
    clock = StoreClock(log, lambda: 0, lambda: steady[0], Metrics())
    while under_way:
        asyncio.run(clock.compare())
        assert 1_700_000_000_000 + steady[0] == clock()
