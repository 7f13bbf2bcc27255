"""A watcher that asks for single events gets each of them with the view right after it, as its perspective sees it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from rollbook.match.ledger import Ledger, Visible
from rollbook.rules.catalogue import current
from rollbook.rules.game import Perspective, Watcher
from rollbook.server.feeds.channel import FELL_BEHIND, MOST_STEPS
from rollbook.server.out.projection import clocks_message, legal_message, project, view_message
from rollbook.server.replica.history import History
from rollbook.v1.feed_pb2 import MatchFrame
from tests.server.feeds.test_promises import Apart
from tests.server.feeds.watching import Theatre, Watch, run
from tests.server.rpc.talking import PATIENCE_SECONDS, Person, some_choice

CHOICES = 12


async def choose(world: Theatre, match_id: str, people: list[Person], number: int) -> None:
    """One choice by the awaited player."""
    person, look = await world.awaited(match_id, people)
    await person.choose(match_id, some_choice(look.legal, number), world.check_head(look.head))


async def folded(world: Theatre, match_id: str) -> list[tuple[Visible, Ledger]]:
    """Every stored event, with the state right after it."""
    history, found = History(match_id), list[tuple[Visible, Ledger]]()
    for entry in await world.log.read(match_id, 0, 10_000):
        event = history.take(history.read(entry))
        assert history.ledger is not None
        found.append((event, history.ledger.copy()))
    return found


def event_frames(watch: Watch) -> list[Any]:
    """The frames of events received so far."""
    return [frame.events for frame in watch.frames if frame.HasField("events")]


async def reach(watch: Watch, sequence: int) -> None:
    """Read up to an event."""
    while len(watch.told) < sequence:
        await watch.until("events")


def check(world: Theatre, frame: Any, perspective: Perspective, event: Visible, ledger: Ledger) -> None:
    """Check that a frame has this event alone, and what this perspective may know right after it."""
    expected = MatchFrame.Events(
        events=[project(event, perspective)],
        view=view_message(ledger, perspective),
        legal=legal_message(ledger, perspective),
        head=frame.head,
        clocks=clocks_message(ledger, ledger.time_ms),
    )
    assert expected == frame
    assert (world.check_head(frame.head).sequence, frame.head.link) == (ledger.head.sequence, ledger.head.link)


@pytest.mark.parametrize("kind", [Theatre, Apart])
@pytest.mark.parametrize("game", current())
def test_each_event_comes_with_the_view_right_after_it(game: str, kind: type[Theatre]) -> None:
    """For every seat and the public: the fold at that position, no hidden card of others, own choices alone."""

    async def scenario(world: Theatre) -> None:
        match_id, people = await world.started(game, max(2, current()[game].seats[0]), turn_seconds=60)
        eyes: list[Perspective] = [*range(len(people)), Watcher.PUBLIC]
        watches = [world.watch(person, match_id, each_event=True) for person in (*people, world.person("stranger"))]
        for watch in watches:
            await watch.until("caught_up")
        before = len(await world.stored(match_id))
        for number in range(CHOICES):
            await choose(world, match_id, people, number)
            for watch in watches:
                await reach(watch, len(await world.stored(match_id)))
        states = await folded(world, match_id)
        for perspective, watch in zip(eyes, watches, strict=True):
            assert await world.stored(match_id) == watch.told
            live = event_frames(watch)[-(len(states) - before) :]
            for frame, (event, ledger) in zip(live, states[before:], strict=True):
                check(world, frame, perspective, event, ledger)
            watch.leave()
        assert len(states) - before > CHOICES, "every choice has made one event alone"

    run_at(kind, scenario)


def run_at(kind: type[Theatre], scenario: Callable[[Theatre], Awaitable[None]]) -> None:
    """Run the scenario in this kind of theatre."""

    async def main() -> None:
        async with asyncio.timeout(PATIENCE_SECONDS), kind().serving() as world:
            await scenario(world)

    asyncio.run(main())


def test_a_watcher_resumes_anywhere_and_far_behind_gets_events_bundled() -> None:
    """Up to 8 missing events come one by one, more in one frame, to the same watcher also after it."""

    async def scenario(world: Theatre) -> None:
        match_id, people = await world.started("allie_gator")
        for number in range(CHOICES):
            await choose(world, match_id, people, number)
        states = await folded(world, match_id)
        assert MOST_STEPS < len(states) < FELL_BEHIND
        for sequence in range(len(states)):
            position = await world.position(match_id, sequence)
            watch = world.watch(people[1], match_id, each_event=True, position=position)
            await watch.until("caught_up")
            assert await world.stored(match_id) == (await world.stored(match_id))[:sequence] + watch.told
            sent = event_frames(watch)
            if len(states) - sequence > MOST_STEPS:
                assert [len(states) - sequence] == [len(frame.events) for frame in sent]
                assert view_message(states[-1][1], 1) == sent[0].view
            else:
                for frame, (event, ledger) in zip(sent, states[sequence:], strict=True):
                    check(world, frame, 1, event, ledger)
            watch.leave()

    run(scenario)


def test_a_delayed_watcher_gets_single_events_when_they_are_old_enough() -> None:
    """Each with the public view after it, and none before its time."""

    async def scenario(world: Theatre) -> None:
        match_id, people = await world.started("allie_gator", spectator_delay_seconds=600)
        watch = world.watch(world.person("stranger"), match_id, each_event=True)
        await watch.until("caught_up")
        early = len(watch.told)
        for number in range(3):
            world.clock.ms += 1_000
            await choose(world, match_id, people, number)
        states = await folded(world, match_id)
        for sequence in range(early + 1, len(states) + 1):
            world.clock.ms = max(world.clock.ms, states[sequence - 1][1].time_ms + 600_000)
            await reach(watch, sequence)
        live = [frame for frame in event_frames(watch) if frame.head.sequence > early]
        assert any(len(frame.events) == 1 for frame in live)
        for frame in live:
            sequence = frame.head.sequence
            assert view_message(states[sequence - 1][1], Watcher.PUBLIC) == frame.view
            assert frame.events[-1].event == states[sequence - 1][0].logged.data
            assert len(frame.events) == 1 or len(states) - early > MOST_STEPS
        watch.leave()

    run(scenario)


def test_watchers_of_single_events_change_nothing_for_others() -> None:
    """Without the field, what one command made comes in one frame, while others watch event by event."""

    async def scenario(world: Theatre) -> None:
        match_id, people = await world.started("cant_stop")
        plain, single = world.watch(people[0], match_id), world.watch(people[0], match_id, each_event=True)
        for watch in (plain, single):
            await watch.until("caught_up")
        begun, counts = len(await world.stored(match_id)), list[int]()
        for number in range(CHOICES):
            before = len(await world.stored(match_id))
            await choose(world, match_id, people, number)
            after = len(await world.stored(match_id))
            await reach(plain, after)
            await reach(single, after)
            assert after - before == len(event_frames(plain)[-1].events)
            counts.append(after - before)
        assert max(counts) > 1
        assert plain.told == single.told
        assert all(len(frame.events) == 1 for frame in event_frames(single) if frame.head.sequence > begun)
        plain.leave()
        single.leave()

    run(scenario)
