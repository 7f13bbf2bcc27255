"""The loop with the simulated clock: it never waits, uses one thread, and draws the order."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest

from tests.sim.clock import EPOCH_MS, Clock, NothingLeftToDo, SimulatedLoop

T = TypeVar("T")


def simulated(work: Coroutine[Any, Any, T], seed: int = 0) -> T:
    """Run the work in a new loop; return its result."""
    with asyncio.Runner(loop_factory=lambda: SimulatedLoop(random.Random(seed))) as runner:
        return runner.run(work)


async def _order(tasks: int) -> list[int]:
    order: list[int] = []

    async def work(number: int) -> None:
        await asyncio.sleep(1.0)
        order.append(number)

    await asyncio.gather(*[work(number) for number in range(tasks)])
    return order


def test_time_passes_by_itself_and_at_once() -> None:
    """A year of waiting takes no real time, and every clock advances by a year."""

    async def wait() -> tuple[float, int]:
        loop = asyncio.get_running_loop()
        clock = Clock(loop, ahead_ms=5)
        await asyncio.sleep(365 * 24 * 3_600)
        return loop.time(), clock.ms()

    year = 365 * 24 * 3_600
    assert (year, EPOCH_MS + 5 + year * 1_000) == simulated(wait())


def test_what_is_due_at_once_runs_in_an_order_that_the_seed_draws() -> None:
    """The order differs between seeds, so that no code can depend on it, and is always the same for a seed."""
    orders = [simulated(_order(8), seed) for seed in range(6)]
    assert orders == [simulated(_order(8), seed) for seed in range(6)]
    assert 1 < len({tuple(order) for order in orders})
    assert all(list(range(8)) == sorted(order) for order in orders)


def test_time_outs_come_when_they_are_due() -> None:
    """A time-out comes first even if the awaited result would come right after it."""

    async def wait() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(2.0):
                await asyncio.sleep(2.5)
        return asyncio.get_running_loop().time()

    assert 2.0 == simulated(wait())


def test_what_would_run_on_a_thread_runs_on_this_one() -> None:
    """An exception is raised where the result is awaited."""

    async def work() -> int:
        with pytest.raises(KeyError):
            await asyncio.to_thread(dict[str, int]().__getitem__, "missing")
        return await asyncio.to_thread(threading.get_ident)

    assert threading.get_ident() == simulated(work())


def test_a_world_that_stands_still_for_ever_is_noticed() -> None:
    """The loop raises NothingLeftToDo instead of waiting."""
    with pytest.raises(NothingLeftToDo):
        simulated(asyncio.Event().wait())
