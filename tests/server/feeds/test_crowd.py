"""Crowds: watchers that do not read delay no one and cost nothing; a thousand of them survive kill -9."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import psutil

from rollbook.match.chain import link
from rollbook.match.commands import Choose, Origin
from rollbook.rules.cant_stop.moves import Stop
from rollbook.server.configuration.limit_table import Limits
from rollbook.v1 import feed_pb2, feed_pb2_grpc, match_pb2
from rollbook.v1.events_pb2 import Event
from rollbook.v1.table_pb2 import Position
from tests.server.feeds.watching import Theatre, kind, run
from tests.server.rpc.talking import refusal
from tests.server.strangers import CALL_SECONDS, Line, Stranger
from tests.server.test_whole_service import run as run_service
from tests.server.test_whole_service import seated, serving

FAST, SLOW = 10, 5
EVENTS = 3_000
MOST_GROWTH_BYTES = 25_000_000
"""If the service kept every frame for a slow watcher, it would keep a ledger each: tens of megabytes."""

CHANNELS, WATCHERS_EACH = 20, 50
CHOICES = 12

FULL_SUBJECTS = 17
"""Subjects that each open as many watches as allowed: more than a thousand feeds."""


@dataclass
class Follower:
    """A watcher that stores only its position and fails at every gap or duplicate."""

    call: Any
    at: Position = field(default_factory=Position)
    kinds: set[str] = field(default_factory=set)

    async def read(self) -> str:
        """Read and check the next frame."""
        frame = await self.call.read()
        assert frame is not grpc.aio.EOF
        if kind(frame) == "confirmed":
            self.at = frame.confirmed.position
        for told in frame.events.events:
            event = Event.FromString(told.event)
            assert (self.at.sequence + 1, self.at.link) == (event.sequence, event.previous)
            self.at = Position(sequence=event.sequence, link=link(told.event))
        self.kinds.add(kind(frame))
        return kind(frame)

    async def until(self, wanted: str) -> None:
        """Read on to a frame of this kind."""
        while await self.read() != wanted:
            pass

    async def reach(self, sequence: int) -> None:
        """Read up to this event."""
        while self.at.sequence < sequence:
            await self.read()


class Roller:
    """Rolls in a match of Can't Stop and never stops, so that the match never ends."""

    def __init__(self, world: Theatre, match_id: str) -> None:
        """Play for all seats."""
        self.world = world
        self.match_id = match_id
        self.requests = 0

    async def play(self, events: int) -> int:
        """Roll until the log has this many events; return its length."""
        service = self.world.service
        ledger = await service.replicas.ledger(self.match_id)
        while ledger.head.sequence < events:
            self.requests += 1
            seat = ledger.awaited_seat
            assert seat is not None
            origin = Origin(self.world.clock(), ledger.players[seat], self.requests.to_bytes(16, "big"))
            choices = ledger.game.legal(ledger.match.state)
            choice = next(choice for choice in choices if not isinstance(choice, Stop))
            command = Choose(origin, ledger.head, choice)
            ledger = (await service.matches.carry_out(self.match_id, command)).ledger
            if self.requests % 10 == 0:
                await asyncio.sleep(0.002)  # Several hundred choices per second, so that frames have a few events each.
        return ledger.head.sequence


def test_watchers_that_do_not_read_slow_nobody_cost_nothing_and_miss_nothing() -> None:
    """Readers reach the head while thousands of events arrive; the others fall behind and catch up."""

    async def scenario(world: Theatre) -> None:
        match_id, people = await world.started()
        address = f"127.0.0.1:{world.port}"
        # Without probes the window stays as small as between distant machines.
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.http2.bdp_probe", 0)]
        channels = [grpc.aio.insecure_channel(address, options) for _ in range(2)]

        def follow(channel: grpc.aio.Channel) -> Follower:
            stub: Any = feed_pb2_grpc.FeedServiceStub(channel)
            request = feed_pb2.WatchMatchRequest(match_id=match_id)
            return Follower(stub.WatchMatch(request, metadata=people[0].metadata))

        fast = [follow(channels[0]) for _ in range(FAST)]
        slow = [follow(channels[1]) for _ in range(SLOW)]
        for follower in (*fast, *slow):
            await follower.until("caught_up")
        roller = Roller(world, match_id)
        sizes = []
        for events in (EVENTS // 3, EVENTS):
            reading = [asyncio.create_task(follower.reach(events)) for follower in fast]
            head = await roller.play(events)
            await asyncio.gather(*reading)
            sizes.append(psutil.Process().memory_info().rss)
        assert sizes[1] - sizes[0] < MOST_GROWTH_BYTES
        for follower in fast:
            await follower.reach(head)
        before = max(follower.at.sequence for follower in slow)
        assert before < EVENTS // 3
        for follower in slow:
            await follower.until("fell_behind")
            assert follower.at.sequence < head
            # How often it falls behind depends on the machine.
            while follower.at.sequence < head:
                await follower.until("caught_up")
            assert head == follower.at.sequence
        for follower in (*fast, *slow):
            follower.call.cancel()
        for channel in channels:
            await channel.close()

    run(scenario)


async def play(people: list[Stranger], match_id: str, choices: int) -> None:
    """Make this many choices, retrying while the service restarts."""
    request = match_pb2.GetMatchRequest(match_id=match_id)

    async def look(person: Stranger) -> Any:
        stub = person.line.matches.GetMatch
        return await person.line.settled(lambda: stub(request, metadata=person.metadata, timeout=CALL_SECONDS))

    by_seat = {person.seat: person for person in people}
    for _ in range(choices):
        person = by_seat[(await look(people[0])).summary.awaited_seat]
        found = await look(person)
        await person.choose(match_id, found.summary.position, found.legal)


async def all_at(watchers: list[Stranger], sequence: int) -> None:
    """Wait until every watcher has received this many events."""
    while min(len(watcher.told) for watcher in watchers) < sequence:  # noqa: ASYNC110 - many conditions in one
        await asyncio.sleep(0.02)


def test_a_thousand_watchers_come_back_after_kill_9_without_gap_or_double(tmp_path: Path) -> None:
    """1,000 streams over 20 connections to a real `rollbook serve`, which is killed during a match."""

    async def scenario() -> None:
        rng = random.Random(1)
        async with serving(tmp_path) as service:
            table = Line(service.address)
            match_id, people = await seated(table, 2, rng, cant_stop={})
            lines = [Line(service.address) for _ in range(CHANNELS)]
            watchers = []
            for number, line in enumerate(lines):
                guest = Stranger(line, f"Watcher {number}", rng)
                await guest.sign_in()
                watchers += [Stranger(line, guest.name, rng, token=guest.token) for _ in range(WATCHERS_EACH)]
            watching = [asyncio.create_task(watcher.watch(match_id, play=False)) for watcher in watchers]
            await play(people, match_id, CHOICES)
            await all_at(watchers, max(max(person.acknowledged) for person in people))
            playing = asyncio.create_task(play(people, match_id, CHOICES))
            service.kill_service()
            await playing
            resign = match_pb2.ResignRequest(request_id=people[0].request_id(), match_id=match_id)
            await people[0].call("Resign", resign)
            await asyncio.gather(*watching)
            first = watchers[0]
            assert first.ended is not None
            assert list(range(1, first.ended.position.sequence + 1)) == sorted(first.told)
            assert all(first.told == watcher.told for watcher in watchers)
            assert all(first.told[number] == data for one in people for number, data in one.acknowledged.items())
            assert all(watcher.broken for watcher in watchers)
            for line in (table, *lines):
                await line.channel.close()
            assert 0 == service.end()

    run_service(scenario)


def test_one_connection_carries_more_feeds_than_one_subject_may_watch(tmp_path: Path) -> None:
    """More than a thousand feeds of many subjects.

    A feed above a subject's limit is refused at once instead of waiting.
    """

    async def scenario() -> None:
        rng = random.Random(2)
        async with serving(tmp_path) as service:
            line = Line(service.address)
            match_id, _ = await seated(line, 2, rng, cant_stop={})
            request = feed_pb2.WatchMatchRequest(match_id=match_id)
            stub: Any = feed_pb2_grpc.FeedServiceStub(line.channel)
            limit = Limits().watches_per_subject
            calls = []
            for number in range(FULL_SUBJECTS):
                guest = Stranger(line, f"Watcher {number}", rng)
                await guest.sign_in()
                mine = [stub.WatchMatch(request, metadata=guest.metadata) for _ in range(limit)]
                for call in mine:
                    assert "confirmed" == kind(await call.read())
                calls += mine
            told = await refusal(stub.WatchMatch(request, metadata=guest.metadata).read())
            assert ("TOO_MANY_WATCHES", str(limit)) == (told.reason, told.facts["limit"])
            for call in calls:
                call.cancel()
            await line.channel.close()
            assert 0 == service.end()

    run_service(scenario)
