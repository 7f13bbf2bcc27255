"""The faults of a simulation, drawn from its seed."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from tests.sim.network import Weather
from tests.sim.observations import Happened, History
from tests.sim.process import Process
from tests.sim.store import Store

RESTART_SECONDS: Final = (0.1, 4.0)
PAUSE_SECONDS: Final = (0.2, 5.0)
BEHIND_SECONDS: Final = (0.005, 1.0)
"""Seconds by which a promoted replica of the store is behind."""

LARGEST_SKEW_MS: Final = 1_500


class Fault(Enum):
    """The faults besides those of the network."""

    KILL = "a process is killed"
    FUSE = "a process is killed between two of its messages"
    CLOCK = "the clock of a process jumps"
    STORE_CLOCK = "the clock of the store jumps forward"
    RESTART = "the store restarts, and keeps everything"
    FAIL_OVER = "a replica of the store that is behind takes over"
    CUT = "the log of a match loses its end"
    DELETE = "the log of a match is deleted"
    DIG = "the log of a match loses one event"
    SCRIBBLE = "what the lobby says of a match becomes unreadable"


LOSSES: Final = (Fault.FAIL_OVER, Fault.CUT)
"""Faults that lose confirmed data of the store; the design allows them if they are noticed."""

BREAKS: Final = (Fault.DELETE, Fault.DIG, Fault.SCRIBBLE)
"""Faults that break one match and must not affect others; only an operator can end it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The faults of one simulation."""

    lost: float
    doubled: float
    slow: float
    faults: tuple[Fault, ...]
    seconds: float
    """Duration of the faults in seconds."""

    @classmethod
    def draw(cls, chance: random.Random, also: tuple[Fault, ...] = ()) -> Plan:
        """Draw a plan; `also` are faults that it must include."""
        harmless = (Fault.KILL, Fault.FUSE, Fault.CLOCK, Fault.STORE_CLOCK, Fault.RESTART)
        faults = [fault for fault in harmless if chance.random() < 0.6]
        if chance.random() < 0.2:
            faults.append(chance.choice((*LOSSES, *BREAKS)))
        return cls(
            lost=chance.choice((0.0, 0.0, 0.01, 0.05)),
            doubled=chance.choice((0.0, 0.0, 0.02, 0.1)),
            slow=chance.choice((0.0, 0.005, 0.03)),
            faults=(*faults, *also),
            seconds=chance.uniform(8.0, 25.0),
        )


class Mischief:
    """Carries out a plan."""

    def __init__(
        self,
        plan: Plan,
        *,
        processes: list[Process],
        store: Store,
        weather: Weather,
        history: History,
        chance: random.Random,
        shift_store_clock: Callable[[int], None],
    ) -> None:
        """Take the parts to break."""
        self.harmed: set[str] = set()
        """Matches whose logs lost something."""
        self.ended_at: float | None = None
        self._plan = plan
        self._processes = processes
        self._store = store
        self._weather = weather
        self._history = history
        self._chance = chance
        self._shift_store_clock = shift_store_clock

    async def go_on(self) -> None:
        """Cause faults for a while, then repair everything."""
        plan, loop = self._plan, asyncio.get_running_loop()
        self._weather.lost, self._weather.doubled, self._weather.slow = plan.lost, plan.doubled, plan.slow
        end = loop.time() + plan.seconds
        while (left := end - loop.time()) > 0:
            await asyncio.sleep(min(left, self._chance.uniform(*PAUSE_SECONDS)))
            if plan.faults:
                await self._do(self._chance.choice(plan.faults))
            await self._revive()
        self._weather.clear_up()
        for process in self._processes:
            process.fuse = None
        await self._revive()
        self.ended_at = loop.time()
        self._note("all is well from now on")

    async def _revive(self) -> None:
        for process in self._processes:
            while not process.is_up:
                await asyncio.sleep(self._chance.uniform(*RESTART_SECONDS))
                await process.start()
                self._note(f"{process.name} has started again")

    async def _do(self, fault: Fault) -> None:
        process = self._chance.choice(self._processes)
        match fault:
            case Fault.KILL:
                self._note(f"{process.name} is killed")
                process.kill()
            case Fault.FUSE:
                process.fuse = self._chance.randint(1, 60)
            case Fault.CLOCK:
                process.clock.ahead_ms = self._chance.randint(-LARGEST_SKEW_MS, LARGEST_SKEW_MS)
                self._note(f"the clock of {process.name} is {process.clock.ahead_ms} ms ahead")
            case Fault.STORE_CLOCK:
                self._shift_store_clock(self._chance.randint(0, LARGEST_SKEW_MS))
            case Fault.RESTART:
                await self._restart()
            case Fault.FAIL_OVER:
                await self._fail_over()
            case _:
                self._harm(fault)

    async def _restart(self) -> None:
        self._note("the store goes down")
        self._store.is_up = False
        await asyncio.sleep(self._chance.uniform(*RESTART_SECONDS))
        self._store.is_up = True

    async def _fail_over(self) -> None:
        copy = self._store.copy()
        await asyncio.sleep(self._chance.uniform(*BEHIND_SECONDS))
        for match_id in self._store.fail_over(copy):
            self.harmed.add(match_id)
            self._note("a failover has cost the end of", match_id)

    def _harm(self, fault: Fault) -> None:
        logs = {match_id: len(stream.entries) for match_id, stream in self._store.log._streams.items()}
        whole = [match_id for match_id, length in logs.items() if length > 2 and match_id not in self.harmed]
        if not whole:
            return
        match_id = self._chance.choice(whole)
        self._note(fault.value, match_id)
        self.harmed.add(match_id)
        if fault is Fault.CUT:
            self._store.cut(match_id, self._chance.randint(1, logs[match_id] - 1))
            return
        if fault is Fault.DELETE:
            self._store.delete(match_id)
        elif fault is Fault.DIG:
            self._store.dig(match_id, self._chance.randint(2, logs[match_id]))
        else:
            self._store.scribble(match_id)

    def _note(self, what: str, match_id: str = "") -> None:
        self._history.note(Happened(what, match_id))
