"""Fan-out: one match and its watchers, beside a bare server that writes as many bytes to as many watchers.

The events seem to come from another process of the service: they are in the log before this process knows of them. All
watchers are spectators.
"""

from __future__ import annotations

import time
from contextlib import AsyncExitStack
from itertools import count
from statistics import median

from rollbook.match.commands import Choose, Origin
from rollbook.server.play.matches import Answer
from rollbook.v1.feed_pb2 import MatchFrame, WatchMatchRequest
from tests.bench.measure import Measure, Run
from tests.bench.service.bare import Bare
from tests.bench.service.crowd import Crowd
from tests.bench.service.size import Size
from tests.bench.service.stage import next_move, stage
from tests.server.replica.keeping import Process

WATCH = "/rollbook.v1.FeedService/WatchMatch"
TELL = "/Bare/Tell"


class FanOut:
    """A match and its watchers, and the same with a bare server."""

    def __init__(self, run: Run, watchers: int, size: Size) -> None:
        """`watchers`: their number on each side."""
        self._run = run
        self._watchers = watchers
        self._frames = size.frames
        self._burst = size.burst

    async def begin(self, stack: AsyncExitStack) -> None:
        """Seat the players and start the watchers."""
        world = await stack.enter_async_context(stage().serving())
        self._match_id, _ = await world.started()
        self._elsewhere = Process(world.log)
        self._numbers = count(1)
        self._now_ms = world.clock()
        request = WatchMatchRequest(match_id=self._match_id).SerializeToString()
        spectator = world.person("spectator")
        address = f"127.0.0.1:{world.port}"
        self._crowd = await stack.enter_async_context(
            Crowd.watching(address, WATCH, request, spectator.metadata, self._watchers)
        )
        ledger = await self._elsewhere.ledger(self._match_id)
        await self._crowd.told(ledger.head.sequence + await self._append())
        self._frame = await self._crowd.frame()
        self._bare = Bare()
        bare_address = await self._bare.serve(stack)
        self._bare_crowd = await stack.enter_async_context(
            Crowd.watching(bare_address, TELL, b"", None, self._watchers)
        )

    def measures(self) -> list[list[Measure]]:
        """The groups of measures that run side by side."""
        run, watchers, burst = self._run, self._watchers, self._burst
        one_by_one = Measure(f"events to {watchers} watchers, one by one", "events/s", lambda: run(self.events(1)))
        return [
            [
                Measure(f"bare writes to {watchers} streams", "frames/s", lambda: run(self.bare_frames())),
                Measure(
                    f"frames to {watchers} watchers", "frames/s", lambda: run(self.frames()), 0.9, by_processor=True
                ),
            ],
            [
                one_by_one,
                Measure(f"the same in bursts of {burst} choices", "events/s", lambda: run(self.events(burst)), 4.0),
            ],
        ]

    async def frames(self) -> int:
        """Append a choice and wait until all watchers have its frame; repeated."""
        for _ in range(self._frames):
            await self._crowd.told(await self._append())
        return self._frames * self._watchers

    async def bare_frames(self) -> int:
        """Send as many frames of as many bytes."""
        for _ in range(self._frames):
            self._bare.publish(self._frame)
            await self._bare_crowd.told(_events(self._frame))
        return self._frames * self._watchers

    async def events(self, choices: int) -> int:
        """Append several choices at once and wait until all watchers have their events; repeated."""
        events = 0
        for _ in range(self._frames):
            made = await self._append(choices)
            await self._crowd.told(made)
            events += made
        return events * self._watchers

    async def milliseconds_to_a_frame(self) -> float:
        """Return the median of the time from an append to the frame at the median watcher."""
        found = []
        for _ in range(self._frames):
            made = await self._append()
            began = time.monotonic()
            found.append(median(await self._crowd.told(made)) - began)
        return 1_000 * median(found)

    async def bare_milliseconds(self) -> float:
        """Return the same time from the first write of the bare server."""
        found = []
        for _ in range(self._frames):
            began = time.monotonic()
            self._bare.publish(self._frame)
            found.append(median(await self._bare_crowd.told(_events(self._frame))) - began)
        return 1_000 * median(found)

    async def _append(self, times: int = 1) -> int:
        """Append some choices; returns the number of their events."""
        made = 0
        for _ in range(times):
            answer = await self._choose()
            made += len(answer.made)
        return made

    async def _choose(self) -> Answer:
        ledger = self._elsewhere.replicas.known_ledger(self._match_id)
        assert ledger is not None
        seat, choice = next_move(ledger)
        origin = Origin(self._now_ms, ledger.players[seat], b"%016d" % next(self._numbers))
        return await self._elsewhere.matches.carry_out(self._match_id, Choose(origin, ledger.head, choice))


def _events(frame: bytes) -> int:
    return len(MatchFrame.FromString(frame).events.events)
