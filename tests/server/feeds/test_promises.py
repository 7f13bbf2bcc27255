"""The promises to watchers, each with a planted fault that breaks it.

Promises are checked over a real connection. Faults are planted where frames leave the service, so that they stand for
any fault further inside; the promise that a fault breaks has to detect it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any, Self

import grpc
import pytest

from rollbook.match.chain import genesis, link
from rollbook.server.app import Parts
from rollbook.server.lobby.match_access import Context
from rollbook.server.rpc.feed import FeedServicer
from rollbook.v1 import feed_pb2_grpc
from rollbook.v1.events_pb2 import Event
from rollbook.v1.feed_pb2 import MatchFrame, WatchMatchRequest
from tests.server.feeds.watching import Theatre, Watch, kind, numbers
from tests.server.rpc.talking import PATIENCE_SECONDS, Person, entropy, some_choice

CHOICES = 8
"""Number of watched choices."""

LONG = 1_200
"""Number of events that exceeds the buffers of a connection whose client does not read."""

HELD_UP_SECONDS = 5
"""A watcher that waits longer than this for available events is delayed by others."""


async def ready(match_id: str, people: list[Person]) -> None:
    """Make all players ready."""
    closing = (await people[0].look(match_id)).head.link
    for seat, person in enumerate(people):
        await person.call("Ready", match_id=match_id, closing_link=closing, entropy=entropy(seat))


async def play(world: Theatre, match_id: str, people: list[Person], choices: int = CHOICES) -> None:
    """Make this many choices, each the first legal one."""
    for _ in range(choices):
        person, now = await world.awaited(match_id, people)
        await person.choose(match_id, some_choice(now.legal), world.check_head(now.head))


async def tellings(world: Theatre, game: str = "cant_stop") -> list[Watch]:
    """Watch a match by three strangers: from the start, from the middle, and after the end."""
    match_id, people = await world.seated(game)
    stranger = world.person("stranger")
    early = world.watch(stranger, match_id)
    await early.until("caught_up")
    await ready(match_id, people)
    await play(world, match_id, people)
    late = world.watch(stranger, match_id)
    await late.until("caught_up")
    await play(world, match_id, people)
    await world.abort(match_id)
    await asyncio.gather(early.rest(), late.rest())
    after = world.watch(stranger, match_id)
    await after.rest()
    return [early, late, after]


# The promises, by name


async def ordered(world: Theatre) -> None:
    """No event comes before an earlier one."""
    for watch in await tellings(world):
        assert sorted(numbers(watch.told)) == numbers(watch.told)


async def unique(world: Theatre) -> None:
    """No event comes twice."""
    for watch in await tellings(world):
        assert len(set(watch.told)) == len(watch.told)


async def gapless(world: Theatre) -> None:
    """No event is missing, up to the seal: each carries the link of a delivered event."""
    for watch in await tellings(world):
        events = [Event.FromString(event) for event in watch.told]
        told = {genesis(watch.frames[0].confirmed.head.match_id), *map(link, watch.told)}
        assert [] == [event.sequence for event in events if event.previous not in told]
        assert "sealed" in {event.WhichOneof("body") for event in events}


async def resumable_at_any_position(world: Theatre) -> None:
    """A returning watcher gets exactly the missing events, at any position."""
    match_id, people = await world.started()
    await play(world, match_id, people, 3)
    stored = await world.stored(match_id)
    for sequence in range(len(stored) + 1):
        watch = world.watch(people[0], match_id, position=await world.position(match_id, sequence))
        await watch.until("caught_up")
        assert stored[sequence:] == watch.told
        watch.leave()


async def caught_up_also_when_there_is_nothing_to_tell(world: Theatre) -> None:
    """A client that waits for `caught_up` always gets it: before the start, at the head, and after the end."""
    match_id, people = await world.seated()
    for stage in ("open", "running", "over"):
        if stage == "running":
            await ready(match_id, people)
        if stage == "over":
            await world.abort(match_id)
        head = await world.position(match_id, len(await world.stored(match_id)))
        for position in (None, head):
            watch = world.watch(world.person("stranger"), match_id, position=position)
            async with soon():
                assert head == (await watch.until("caught_up")).position
            assert 1 == watch.kinds.count("caught_up")
            watch.leave()


async def live_is_catch_up_is_afterwards(world: Theatre) -> None:
    """Watchers receive the same bytes whenever they come, hidden cards included."""
    early, late, after = await tellings(world, "allie_gator")
    assert projected(early) == projected(late) == projected(after)
    assert revealed(early) == revealed(late) == revealed(after)


async def everything_is_revealed_before_the_end(world: Theatre) -> None:
    """Every watcher gets the hidden outcomes, even one that resumes at the seal, so that it can check all draws."""
    match_id, people = await world.started("allie_gator")
    await play(world, match_id, people)
    await world.abort(match_id)
    for sequence in (0, len(await world.stored(match_id))):
        watch = world.watch(people[0], match_id, position=await world.position(match_id, sequence))
        assert ["revealed", "ended"] == (await watch.rest())[-2:]
        assert len(watch.frames[-2].revealed.outcomes) > 0


async def slow_watchers_slow_nobody_and_miss_nothing(world: Theatre) -> None:
    """A watcher that does not read delays no other; it later gets `fell_behind` and all events."""
    match_id, people = await world.started()
    slow, fast = (Reader(world, people[0], match_id) for _ in range(2))
    for reader in (slow, fast):
        await reader.watch.until("caught_up")
    while (head := len(await world.stored(match_id))) < LONG:
        reading = asyncio.create_task(fast.reach(head))
        await play(world, match_id, people, 20)
        async with soon():
            await reading
    await fast.reach(head)
    await slow.watch.until("fell_behind")
    await slow.watch.until("caught_up")
    assert await world.stored(match_id) == slow.watch.told
    for reader in (slow, fast):
        await reader.close()


PROMISES: list[Callable[[Theatre], Awaitable[None]]] = [
    ordered,
    unique,
    gapless,
    resumable_at_any_position,
    caught_up_also_when_there_is_nothing_to_tell,
    live_is_catch_up_is_afterwards,
    everything_is_revealed_before_the_end,
    slow_watchers_slow_nobody_and_miss_nothing,
]


def projected(watch: Watch) -> list[bytes]:
    """Every event as sent, with its visible hidden parts."""
    return [
        event.SerializeToString(deterministic=True)
        for frame in watch.frames
        if kind(frame) == "events"
        for event in frame.events.events
    ]


def revealed(watch: Watch) -> list[bytes]:
    """The hidden outcomes sent at the end."""
    return [frame.revealed.SerializeToString(deterministic=True) for frame in watch.frames if kind(frame) == "revealed"]


def soon() -> asyncio.Timeout:
    """A timeout that only a delayed watcher exceeds."""
    return asyncio.timeout(HELD_UP_SECONDS)


class Reader:
    """A watcher with its own connection and small windows."""

    def __init__(self, world: Theatre, person: Person, match_id: str) -> None:
        """Begin to watch."""
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.http2.bdp_probe", 0)]
        self.channel = grpc.aio.insecure_channel(f"127.0.0.1:{world.port}", options)
        stub: Any = feed_pb2_grpc.FeedServiceStub(self.channel)
        self.watch = Watch(stub.WatchMatch(WatchMatchRequest(match_id=match_id), metadata=person.metadata))

    async def reach(self, sequence: int) -> None:
        """Read up to an event."""
        while len(self.watch.told) < sequence:
            assert await self.watch.next() is not None

    async def close(self) -> None:
        """Stop watching and close the connection."""
        self.watch.leave()
        await self.channel.close()


# The faults, each where frames leave the service


class Faulty(FeedServicer):
    """A feed that passes every frame through `spoil`."""

    async def WatchMatch(  # noqa: N802 - the contract's name
        self, request: WatchMatchRequest, context: Context
    ) -> AsyncIterator[MatchFrame]:
        """The spoilt frames of a feed."""
        told: Any = super().WatchMatch(self.ask(request), context)
        async with aclosing(told) as frames:
            async for frame in frames:
                spoilt = MatchFrame.FromString(frame.SerializeToString())
                for sent in self.spoil(spoilt):
                    yield sent

    def ask(self, request: WatchMatchRequest) -> WatchMatchRequest:
        """Return the request to serve instead of this one."""
        return request

    def spoil(self, frame: MatchFrame) -> list[MatchFrame]:
        """Return the frames to send instead of this one."""
        return [frame]


class Swaps(Faulty):
    """Swaps two events."""

    def spoil(self, frame: MatchFrame) -> list[MatchFrame]:
        """Swap the last two events of a frame."""
        events = frame.events.events
        if len(events) > 1:
            last = events.pop()
            events.insert(len(events) - 1, last)
        return [frame]


class Doubles(Faulty):
    """Sends a frame of one event twice."""

    def spoil(self, frame: MatchFrame) -> list[MatchFrame]:
        """Duplicate the frame, like a resumption one step too early."""
        return [frame, frame] if len(frame.events.events) == 1 else [frame]


class Drops(Faulty):
    """Loses an event between catching up and the live events."""

    def spoil(self, frame: MatchFrame) -> list[MatchFrame]:
        """Drop the first of several events."""
        if len(frame.events.events) > 1:
            del frame.events.events[0]
        return [frame]


class Forgets(Faulty):
    """Ignores the requested position."""

    def ask(self, request: WatchMatchRequest) -> WatchMatchRequest:
        """Ask from the start."""
        return WatchMatchRequest(match_id=request.match_id)


class StaysSilent(Faulty):
    """Sends no `caught_up`."""

    def spoil(self, frame: MatchFrame) -> list[MatchFrame]:
        """Drop `caught_up`."""
        return [] if frame.HasField("caught_up") else [frame]


class ShowsLatecomersMore(Faulty):
    """Adds the hidden outcomes to the events for watchers that come after the end."""

    def spoil(self, frame: MatchFrame) -> list[MatchFrame]:
        """Add a hidden outcome to the draws of a sealed match."""
        events = frame.events.events
        if events and Event.FromString(events[-1].event).HasField("sealed"):
            for event in events:
                if Event.FromString(event.event).HasField("happened"):
                    event.hidden.SetInParent()
        return [frame]


class ConcealsAtTheEnd(Faulty):
    """Keeps hidden outcomes hidden."""

    def spoil(self, frame: MatchFrame) -> list[MatchFrame]:
        """Drop `revealed`."""
        return [] if frame.HasField("revealed") else [frame]


class WaitsForEverybody(Faulty):
    """Sends a frame only when the previous one was taken, by any watcher."""

    turn = asyncio.Lock()

    async def WatchMatch(  # noqa: N802 - the contract's name
        self, request: WatchMatchRequest, context: Context
    ) -> AsyncIterator[MatchFrame]:
        """Serve one watcher at a time."""
        told: Any = super().WatchMatch(request, context)
        async with aclosing(told) as frames:
            async for frame in frames:
                async with self.turn:
                    yield frame


FAULTS: dict[type[FeedServicer], Callable[[Theatre], Awaitable[None]]] = {
    Swaps: ordered,
    Doubles: unique,
    Drops: gapless,
    Forgets: resumable_at_any_position,
    StaysSilent: caught_up_also_when_there_is_nothing_to_tell,
    ShowsLatecomersMore: live_is_catch_up_is_afterwards,
    ConcealsAtTheEnd: everything_is_revealed_before_the_end,
    WaitsForEverybody: slow_watchers_slow_nobody_and_miss_nothing,
}


class Apart(Theatre):
    """A theatre with two processes over one log, as with two workers: one for players, one for watchers."""

    @asynccontextmanager
    async def serving(self, service: Parts | None = None) -> AsyncIterator[Self]:
        """Connect players to one process and watchers to the other."""
        async with super().serving(service):
            players, feeds = self.channel, self.feeds
            async with super().serving(self.process()):
                self.watching, self.channel = self.channel, players
                yield self
            await feeds.close()

    def watch(self, person: Person, match_id: str, **fields: Any) -> Watch:
        """Watch at the other process."""
        stub: Any = feed_pb2_grpc.FeedServiceStub(self.watching)
        return Watch(stub.WatchMatch(WatchMatchRequest(match_id=match_id, **fields), metadata=person.metadata))


class EachEvent(Theatre):
    """A theatre whose watchers ask for single events."""

    def watch(self, person: Person, match_id: str, **fields: Any) -> Watch:
        """Watch event by event."""
        return super().watch(person, match_id, each_event=True, **fields)


def keep(
    promise: Callable[[Theatre], Awaitable[None]], servicer: type[FeedServicer], kind: type[Theatre] = Theatre
) -> None:
    """Check that a service with this servicer keeps the promise."""

    async def main() -> None:
        world = kind()
        world.servicer = servicer
        async with asyncio.timeout(PATIENCE_SECONDS), world.serving():
            await promise(world)

    asyncio.run(main())


@pytest.mark.parametrize("kind", [Theatre, Apart, EachEvent])
@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.__name__)
def test_the_promise_is_kept(promise: Callable[[Theatre], Awaitable[None]], kind: type[Theatre]) -> None:
    """Each promise over a real connection: with one process, with watchers at another process, event by event."""
    keep(promise, FeedServicer, kind)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_service_with_this_fault_breaks_its_promise(fault: type[FeedServicer]) -> None:
    """A promise is worth testing only if its test can fail."""
    with pytest.raises((AssertionError, TimeoutError)):
        keep(FAULTS[fault], fault)


def test_every_promise_has_a_fault_that_breaks_it() -> None:
    """A new promise needs a fault that breaks it."""
    assert set(PROMISES) == set(FAULTS.values())
