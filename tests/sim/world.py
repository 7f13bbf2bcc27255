"""One simulation: everything in it follows from its seed.

Every concern has its own source of numbers, so that a change of the clients does not change the faults. At the end one
more number is drawn from each source: two different runs of a seed end with different numbers.
"""

from __future__ import annotations

import asyncio
import gc
import random
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Final
from unittest import mock

import structlog

from rollbook.identity.tokens import Role
from rollbook.match.chain import Entry
from rollbook.server.lobby import archivist
from rollbook.storage.archive.log import entries_of, whole
from rollbook.storage.port import Appended
from rollbook.v1.events_pb2 import Event
from tests.sim.archive import MemoryArchive
from tests.sim.checkers import feeds, logs, views
from tests.sim.checkers.checker import Checker, Ending, Violation
from tests.sim.client import Client
from tests.sim.clock import Clock, NothingLeftToDo, SimulatedLoop
from tests.sim.faults import Fault, Mischief, Plan
from tests.sim.network import Network, Weather
from tests.sim.observations import Happened, History, Observation, Told
from tests.sim.process import Process, owned_task
from tests.sim.store import Attempt, SimulatedLog, Store
from tests.sim.workload import Workload

CHECKERS: Final = (*logs.CHECKERS, *feeds.CHECKERS, *views.CHECKERS)

PROCESSES: Final = (2, 3)
LOOK_SECONDS: Final = 1.0
SLACK_SECONDS: Final = 25.0
"""Seconds that a service needs besides the clocks of its matches.

It waits for leases of dead processes, retries, and credits downtime.
"""

ARCHIVING_SECONDS: Final = 14.0
"""Seconds after the seal by which a match is archived."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a seed."""

    seed: int
    violations: Sequence[Violation]
    unseed: int
    """Equal for two equal runs of a seed."""
    seen: Sequence[tuple[float, Observation]]
    events: int
    """Number of events in all logs at the end."""


@dataclass(frozen=True, slots=True)
class Made:
    """The classes of a world; tests of the checkers replace them with faulty ones."""

    store: type[Store] = Store
    process: type[Process] = Process
    around: Callable[[], AbstractContextManager[object]] = nullcontext
    """A context entered during the simulation."""


class World:
    """A store, a network, processes and clients."""

    def __init__(
        self, seed: int, loop: SimulatedLoop, *, steps: int | None, also: tuple[Fault, ...], made_of: Made
    ) -> None:
        """Draw everything that is fixed at the beginning."""
        self.seed = seed
        self._loop = loop
        self._sources: dict[str, random.Random] = {}
        self.history = History(loop.time)
        weather = Weather()
        self.network = Network(self.source("network"), weather)
        self.network.until = steps
        self._store_clock = Clock(loop)
        self.store = made_of.store(self._store_clock.ms, self.history.note)
        self.archive = MemoryArchive()
        secret = self.source("secrets")
        self.processes = [
            made_of.process(
                name,
                Clock(loop),
                self.history,
                lambda process: SimulatedLog(self.store, self.network, process),
                lambda: secret.randbytes(32),
            )
            for name in "abc"[: self.source("world").randint(*PROCESSES)]
        ]
        faults = self.source("faults")
        self.mischief = Mischief(
            Plan.draw(faults, also),
            processes=self.processes,
            store=self.store,
            weather=weather,
            history=self.history,
            chance=faults,
            shift_store_clock=self._shift_store_clock,
        )
        self.workload = Workload(self.source("workload"), self.client)
        self._last_append: dict[str, float] = {}
        self.history.lookers.append(self._look)

    def source(self, concern: str) -> random.Random:
        """The source of numbers of one concern."""
        return self._sources.setdefault(concern, random.Random(f"{self.seed}/{concern}"))

    def unseed(self) -> int:
        """Draw one more number from every source, combined with the clock and the observations."""
        drawn = [source.getrandbits(64) for source in self._sources.values()]
        return random.Random(repr((drawn, self._loop.time(), len(self.history.seen)))).getrandbits(64)

    async def run(self) -> dict[str, str]:
        """Run the simulation; return the matches without progress at the end, with the reason."""
        for process in self.processes:
            await process.start()
        playing = asyncio.ensure_future(self.workload.play())
        await self.mischief.go_on()
        stuck = await self._settle(playing)
        playing.cancel()
        await asyncio.wait([playing])
        await self.workload.come_back()
        await asyncio.sleep(ARCHIVING_SECONDS)
        await self.workload.look_at_everything(self.processes)
        return stuck

    def stored(self) -> dict[str, list[Entry]]:
        """All entries of store and archive."""
        found = {
            match_id: list(stream.entries) for match_id, stream in self.store.log._streams.items() if stream.entries
        }
        archived = {match_id: entries_of(whole(data, match_id)) for match_id, data in self.archive.files.items()}
        return archived | found

    def kill_all(self) -> None:
        """Kill every process."""
        for process in self.processes:
            process.kill()

    def client(self, name: str, role: Role) -> Client:
        """A client that reaches all processes."""
        return Client(
            name,
            role,
            processes=self.processes,
            network=self.network,
            history=self.history,
            chance=self.source(f"client {name}"),
        )

    def _shift_store_clock(self, by_ms: int) -> None:
        self._store_clock.ahead_ms += by_ms

    def _look(self, at: float, observation: Observation) -> None:
        if isinstance(observation, Attempt):
            self._last_append[observation.match_id] = at

    async def _settle(self, playing: asyncio.Future[None]) -> dict[str, str]:
        """Wait until every match is over; return those that would never end."""
        stuck: dict[str, str] = {}
        while True:
            running = [match_id for match_id in self._unsealed() if match_id not in stuck]
            if not running and playing.done():
                break
            if not running and self._loop.time() - max([0.0, *self._last_append.values()]) > SLACK_SECONDS:
                break
            for match_id in running:
                if (why := self._stands_still(match_id)) is not None:
                    stuck[match_id] = why
            await asyncio.sleep(LOOK_SECONDS)
        if playing.done():
            playing.result()
        return {match_id: why for match_id, why in stuck.items() if match_id not in self.mischief.harmed}

    def _unsealed(self) -> list[str]:
        streams = self.store.log._streams.items()
        return [
            match_id
            for match_id, stream in streams
            if stream.entries and not Event.FromString(stream.entries[-1].event).HasField("sealed")
        ]

    def _stands_still(self, match_id: str) -> str | None:
        calm_at = self.mischief.ended_at or 0.0
        since = max(self._last_append.get(match_id, 0.0), calm_at)
        table = next((table for table in self.workload.tables if table.match_id == match_id), None)
        longest = SLACK_SECONDS if table is None else table.longest_wait_seconds + SLACK_SECONDS
        still = self._loop.time() - since
        return f"nothing has happened in it for {still:.0f} s, and it is not over" if still > longest else None


def timed_run(seed: int, steps: int | None, also: tuple[Fault, ...]) -> tuple[Outcome, float]:
    """Run a seed; return the outcome and the processor time in seconds."""
    began = time.process_time()
    return run(seed, steps=steps, also=also), time.process_time() - began


def run(
    seed: int,
    *,
    steps: int | None = None,
    also: tuple[Fault, ...] = (),
    made_of: Made = Made(),
    checkers: Sequence[type[Checker]] = CHECKERS,
) -> Outcome:
    """Run one seed; with `steps` the faults end after this many messages."""
    loop = SimulatedLoop(random.Random(f"{seed}/order"))
    loop.set_task_factory(owned_task)
    loop.set_exception_handler(lambda _loop, _context: None)
    world = World(seed, loop, steps=steps, also=also, made_of=made_of)
    judges = [checker() for checker in checkers]
    world.history.lookers.extend(judge.look for judge in judges)
    with closed_off(world), made_of.around(), asyncio.Runner(loop_factory=lambda: loop) as runner:
        try:
            stuck = runner.run(world.run())
        except NothingLeftToDo:
            stuck = {"": "everything waits for something that will never happen"}
        unseed = world.unseed()
        stored = world.stored()
        world.kill_all()
    ending = Ending(
        logs=stored,
        tables={table.match_id: table for table in world.workload.tables if table.match_id},
        harmed=frozenset(world.mischief.harmed),
        calm_at=world.mischief.ended_at or 0.0,
        refused_as_lost=frozenset(
            seen.match_id for _, seen in world.history.seen if isinstance(seen, Told) and seen.reason == "LOG_LOST"
        ),
        begun_anew=frozenset(match_id for match_id, times in _openings(world.history).items() if times > 1),
        stuck=stuck,
    )
    for judge in judges:
        judge.conclude(ending)
    violations = [violation for judge in judges for violation in judge.violations]
    return Outcome(seed, violations, unseed, world.history.seen, sum(map(len, stored.values())))


def _openings(history: History) -> Counter[str]:
    """How often the store has begun the log of each match."""
    attempts = (seen for _, seen in history.seen if isinstance(seen, Attempt) and not seen.expected)
    return Counter(attempt.match_id for attempt in attempts if isinstance(attempt.result, Appended))


@contextmanager
def closed_off(world: World) -> Iterator[None]:
    """Isolate the simulation from real randomness, disk archives, real time and garbage collection."""
    chance = world.source("tokens")
    logged = structlog.get_config()

    def keep(_logger: Any, _name: str, event: Any) -> Any:
        world.history.note(
            Happened(f"log: {event.get('event')} {event.get('why', event.get('reason', ''))}", event.get("match", ""))
        )
        raise structlog.DropEvent

    structlog.configure(processors=[keep])
    gc.disable()
    try:
        with (
            mock.patch.object(secrets, "token_hex", lambda size: chance.randbytes(size).hex()),
            mock.patch.object(archivist, "open_archive", return_value=world.archive),
        ):
            yield
    finally:
        gc.enable()
        structlog.configure(**logged)
