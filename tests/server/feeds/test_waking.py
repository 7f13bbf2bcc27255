"""Players are woken before spectators, and a crowd of spectators does not delay a player's choice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack, aclosing
from typing import Any

from rollbook.match.events import Terms
from rollbook.match.ledger import Ledger
from rollbook.rules.game import Perspective, Watcher
from rollbook.server.feeds.channel import SLICE, Bell, Waker
from rollbook.server.out.frames import CaughtUpFrame, EventsFrame
from tests.server.feeds.test_feeds import Stage, frames_until, run

SILENCE_SECONDS = 0.02
NEVER_SECONDS = 3_600


async def watching(stage: Stage, perspective: Perspective, tell: Callable[[Perspective], None]) -> asyncio.Task[None]:
    """Start a watcher that has caught up and calls `tell` at the next events."""
    feed: Any = stage.watch(perspective_of=lambda _: perspective)
    await frames_until(feed, CaughtUpFrame)

    async def follow() -> None:
        async with aclosing(feed):
            assert isinstance(await anext(feed), EventsFrame)
            tell(perspective)

    return asyncio.create_task(follow())


async def turns() -> None:
    """Let every ready task run."""
    for _ in range(10):
        await asyncio.sleep(0)


def test_who_holds_a_seat_is_told_before_all_spectators() -> None:
    """The awaited player must not wait for a crowd that subscribed earlier."""

    async def scenario() -> None:
        stage = Stage()
        await stage.store()
        order: list[Perspective] = []
        crowd = [await watching(stage, Watcher.PUBLIC, order.append) for _ in range(SLICE + 5)]
        judge = await watching(stage, Watcher.JUDGE, order.append)
        players = [await watching(stage, seat, order.append) for seat in (1, 0)]
        await turns()
        await stage.start()
        await asyncio.gather(*crowd, judge, *players)
        assert [1, 0] == order[:2]
        assert SLICE + 8 == len(order)

    run(scenario)


def test_between_two_slices_of_spectators_the_loop_does_everything_else() -> None:
    """Ten thousand fast watchers delay a choice by one slice of them at most."""

    async def scenario() -> None:
        stage = Stage()
        await stage.store()
        told: list[Perspective] = []
        crowd = [await watching(stage, Watcher.PUBLIC, told.append) for _ in range(6 * SLICE)]
        await turns()
        await stage.start()
        waited_for = [0]
        while len(told) < len(crowd):
            before = len(told)
            await asyncio.sleep(0)
            waited_for.append(len(told) - before)
        assert SLICE >= max(waited_for)
        await asyncio.gather(*crowd)

    run(scenario)


def test_slices_are_of_all_matches_together() -> None:
    """A hundred small crowds due at once count as one large crowd."""

    async def scenario() -> None:
        waker = Waker()
        bells = [Bell(waker, NEVER_SECONDS) for _ in range(5)]
        told: list[int] = []

        async def wait(number: int) -> None:
            assert await bells[number].wait(plays=False)
            told.append(number)

        crowd = [asyncio.create_task(wait(number)) for number in range(5) for _ in range(SLICE)]
        await turns()
        for bell in bells:
            bell.ring()
        while len(told) < len(crowd):
            before = len(told)
            await asyncio.sleep(0)
            assert len(told) - before in {0, SLICE}
        assert sorted(told) == told
        await asyncio.gather(*crowd)

    run(scenario)


def test_whoever_is_told_of_silence_can_tell_it_from_news() -> None:
    """A heartbeat means that no event has happened, so it must not replace news."""

    async def scenario() -> None:
        bell = Bell(Waker(), SILENCE_SECONDS)
        for _ in range(2):
            assert (False, False) == tuple(await asyncio.gather(bell.wait(plays=True), bell.wait(plays=False)))
        waiting = [asyncio.create_task(bell.wait(plays=plays)) for plays in (True, False)]
        await turns()
        bell.ring()
        assert [True, True] == list(await asyncio.gather(*waiting))

    run(scenario)


def test_who_has_gone_away_is_passed_over() -> None:
    """Watchers may leave while they wait, and while others wake."""

    async def scenario() -> None:
        bell = Bell(Waker(), NEVER_SECONDS)
        waiting = [asyncio.create_task(bell.wait(plays=False)) for _ in range(3 * SLICE)]
        await turns()
        waiting[0].cancel()
        await turns()
        bell.ring()
        waiting[-1].cancel()
        heard = await asyncio.gather(*waiting, return_exceptions=True)
        assert [True] * (3 * SLICE - 2) == heard[1:-1]
        assert [asyncio.CancelledError] * 2 == [type(each) for each in (heard[0], heard[-1])]

    run(scenario)


def test_one_task_serves_all_viewers_of_a_delayed_match() -> None:
    """A hundred tasks would read the clock four hundred times a second."""

    async def scenario() -> None:
        stage = Stage(terms=Terms(spectator_delay_seconds=60))
        await stage.store()

        def perspective_of(_: Ledger) -> Perspective:
            return Watcher.PUBLIC

        tasks = []
        async with AsyncExitStack() as stack:
            for _ in range(4):
                feed: Any = stage.watch(perspective_of=perspective_of)
                await stack.enter_async_context(aclosing(feed))
                await frames_until(feed, CaughtUpFrame)
                tasks.append(len(asyncio.all_tasks()))
        assert [tasks[0]] * 4 == tasks
        stage.now_ms += 60_000
        late: Any = stage.watch(perspective_of=perspective_of)
        async with aclosing(late):
            assert isinstance((await frames_until(late, EventsFrame))[-1], EventsFrame)

    run(scenario)
