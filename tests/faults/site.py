"""A deployed service: processes that share a store, and clients that play until they are stopped."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import psutil

from rollbook.files import write_file
from rollbook.identity.service_keys import ServiceKeys
from rollbook.identity.tokens import Issuer, Role
from rollbook.match.chain import Entry
from rollbook.storage.redis.log import RedisLog
from rollbook.v1.events_pb2 import Event
from tests.faults.outcome import Outcome, Run
from tests.faults.remote import Caller, RemoteProcess
from tests.ports import free_port
from tests.sim.checkers import feeds, logs, views
from tests.sim.checkers.checker import Checker, Ending
from tests.sim.observations import Happened, History, Observation, Told, told_line
from tests.sim.people import Follower, Player, Visitor
from tests.sim.process import SERVICE_KEY, Refused
from tests.sim.tables import GAMES, Table

START_SECONDS: Final = 90.0
POLL_SECONDS: Final = 0.05
CALM_SECONDS: Final = 90.0
"""Seconds that matches may need to end after the last fault, also on a busy machine."""

PLENTY: Final = {
    f"ROLLBOOK_LIMITS_{name}": "100000"
    for name in ("REQUESTS_PER_SECOND", "REQUESTS_AT_ONCE", "MATCHES_PER_SUBJECT", "OPEN_MATCHES_PER_SUBJECT")
}
"""Limits raised for clients that send more requests than people do."""

TABLES: Final = 4
PLAYERS: Final = 4
CHOICES: Final = (3, 8, 15)


class NoneInternal(Checker):
    """No fault makes the service report an internal error, or DATA_LOSS for a match that lost nothing."""

    name = "none internal"

    def __init__(self) -> None:
        """Begin without observations."""
        super().__init__()
        self._alarming: list[Told] = []

    def look(self, at: float, observation: Observation) -> None:
        """Collect statuses that a client cannot cause."""
        del at
        if isinstance(observation, Told) and observation.status in {"INTERNAL", "UNKNOWN", "DATA_LOSS"}:
            self._alarming.append(observation)

    def conclude(self, ending: Ending) -> None:
        """Fail for each collected status, except for DATA_LOSS of a damaged log."""
        for told in self._alarming:
            if told.status != "DATA_LOSS" or told.match_id not in ending.harmed:
                self.fail(f"{told.who} heard {told.status} {told.reason} of {told.method}", told.match_id)


class NoneLost(Checker):
    """Only a match whose log was damaged may be sealed as lost."""

    name = "none lost"

    def conclude(self, ending: Ending) -> None:
        """Check every seal."""
        for match_id in ending.logs:
            if ending.is_lost(match_id) and match_id not in ending.harmed:
                self.fail("it was sealed as lost", match_id)


CHECKERS: Final[tuple[type[Checker], ...]] = (
    logs.Acked, logs.NoPhantom, logs.Gapless, logs.Sealed, *feeds.CHECKERS, views.FoldsEqual, NoneInternal, NoneLost
)  # fmt: skip


class Serving:
    """A service that keeps its port across restarts."""

    def __init__(self, data: Path, words: Sequence[str]) -> None:
        """Serve this data directory with these arguments."""
        self.data = data
        self.address = f"127.0.0.1:{free_port()}"
        self._words = words
        self._said_before = 0
        self.process: subprocess.Popen[bytes]

    def start(self) -> None:
        """Start the process; clients that call before it listens have to retry."""
        words = ["serve", "--data", str(self.data), "--listen", self.address, "--log-level", "warning", *self._words]
        words += ["--archive-after", "86400"]
        self._said_before = self._said()
        with self._log.open("ab") as said:
            command = [sys.executable, "-m", "rollbook", *words]
            self.process = subprocess.Popen(command, stderr=said, env=os.environ | PLENTY)

    @property
    def listens(self) -> bool:
        """Whether it has logged that it listens since its last start; until then it needs all its workers."""
        return self._said() > self._said_before

    def _said(self) -> int:
        return self._log.read_text("utf-8").count('"event": "listening on') if self._log.exists() else 0

    @property
    def _log(self) -> Path:
        return self.data.with_suffix(".log")

    def kill(self) -> None:
        """Kill the process and wait for it."""
        self.process.kill()
        self.process.wait()

    def end(self) -> int:
        """Let the service drain; return its exit code."""
        self.process.terminate()
        return self.process.wait(START_SECONDS)

    def children(self, word: str) -> list[psutil.Process]:
        """Return the service's child processes whose command line contains this word."""
        with suppress(psutil.NoSuchProcess):
            return [
                child
                for child in psutil.Process(self.process.pid).children()
                if child.status() != psutil.STATUS_ZOMBIE and any(word in part for part in child.cmdline())
            ]
        return []


class Site:
    """Services over one store, the clients, and all observations of them."""

    def __init__(self, asked: Run, services: Sequence[Serving], issuer: Issuer) -> None:
        """Take services that have started."""
        self.asked = asked
        self.services = services
        self.history = History(asyncio.get_running_loop().time)
        self.processes = [RemoteProcess(service.address, service.address) for service in services]
        self.tables: list[Table] = []
        self.judges: list[Checker] = [checker() for checker in CHECKERS]
        self.history.lookers.extend(judge.look for judge in self.judges)
        self._issuer = issuer
        self._enough = asyncio.Event()
        self._visiting: asyncio.Task[None] | None = None
        self._chances = random.Random(f"{asked.seed}/people")

    def caller(
        self, name: str, kind: type[Caller] = Caller, processes: Sequence[RemoteProcess] | None = None
    ) -> Caller:
        """A client that reaches all services, unless `processes` names some."""
        chance = random.Random(self._chances.random())
        return kind(name, Role.PLAYER, self._issuer, processes or self.processes, self.history, chance)

    async def until_served(self) -> None:
        """Wait until every service listens."""
        async with asyncio.timeout(START_SECONDS):
            while not all(service.listens for service in self.services):  # noqa: ASYNC110 - other processes
                await asyncio.sleep(POLL_SECONDS)
            for process in self.processes:
                await process.channel.channel_ready()

    def happened(self, what: str) -> None:
        """Note a fault in the history."""
        self.history.note(Happened(what))
        self.asked.say(what)

    def play(self, tables: int = TABLES) -> list[asyncio.Task[None]]:
        """Play match after match at this many tables, while a visitor reads the lobby."""
        visitor = Visitor(self.caller("visitor"), self.tables)
        self._visiting = asyncio.create_task(visitor.look_around())
        return [asyncio.create_task(self._table(number)) for number in range(tables)]

    async def _table(self, number: int) -> None:
        players = [self.caller(f"player{number}-{seat}") for seat in range(PLAYERS)]
        watcher, chance = self.caller(f"watcher{number}"), random.Random(f"{self.asked.seed}/table {number}")
        while not self._enough.is_set():
            table = _drawn(chance)
            self.tables.append(table)
            try:
                opened = await players[0].call("OpenMatch", seats=table.seats, options={table.game: {}})
            except Refused as refused:
                self.happened(f"no match was opened: {refused}")
                continue
            table.match_id = opened.match_id
            async with asyncio.TaskGroup() as group:
                for player, choices in zip(players, table.choices, strict=False):
                    group.create_task(Player(player, table, choices=choices).play())
                group.create_task(Follower(watcher, table).follow())

    async def judge(self, playing: Sequence[asyncio.Task[None]], store: str, harmed: frozenset[str]) -> Outcome:
        """Let all clients finish, read the stored logs, and return the broken promises."""
        self._enough.set()
        if self._visiting is not None:
            self._visiting.cancel()
            await asyncio.wait([self._visiting])
        calm_at = self.history.now()
        _, late = await asyncio.wait(playing, timeout=CALM_SECONDS) if playing else (set(), set())
        for task in late:
            task.cancel()
        await asyncio.gather(*playing, return_exceptions=True)
        failed = [task.exception() for task in playing if not task.cancelled() and task.exception() is not None]
        ids = [table.match_id for table in self.tables if table.match_id]
        found = await stored(store, ids)
        stuck = {
            match_id: f"{CALM_SECONDS:g} s after the last fault it is not over"
            for match_id in ids
            if late and not (found[match_id] and Event.FromString(found[match_id][-1].event).HasField("sealed"))
        }
        tables = {table.match_id: table for table in self.tables if table.match_id}
        ending = Ending(found, tables, harmed, calm_at, stuck=stuck)
        for judge in self.judges:
            judge.conclude(ending)
        broken = [
            f"{violation} (match {violation.match_id})" for judge in self.judges for violation in judge.violations
        ]
        broken += [f"people could not go on: {failure!r}" for failure in failed]
        told = [seen for _, seen in self.history.seen if isinstance(seen, Told)]
        figures = {
            "matches": len(ids),
            "events": sum(map(len, found.values())),
            "answers and frames": sum(not seen.status for seen in told),
            "refused": sum(bool(seen.status) for seen in told),
            "done on purpose": sum(isinstance(seen, Happened) for _, seen in self.history.seen),
        }
        return Outcome(figures, broken, [told_line(at, seen) for at, seen in self.history.seen])


async def stored(store: str, match_ids: Sequence[str]) -> dict[str, list[Entry]]:
    """All stored entries of these matches."""
    log = await RedisLog.connect(store, "relaxed")
    try:
        return {match_id: await log.read(match_id, 0, 100_000) for match_id in match_ids}
    finally:
        await log.close()


def _drawn(chance: random.Random) -> Table:
    game = chance.choice(sorted(GAMES))
    seats = chance.choice(GAMES[game])
    terms = {"turn_seconds": 0, "reserve_seconds": 0, "ready_seconds": 0, "spectator_delay_seconds": 0}
    choices = [chance.choice(CHOICES) for _ in range(seats)]
    return Table(game=game, seats=seats, terms=terms, choices=choices, resigns=[True] * seats, watchers=1)


@asynccontextmanager
async def site(asked: Run, words: Sequence[str], services: int = 1) -> AsyncIterator[Site]:
    """Start the services and wait until they serve; at the end kill them and their stores."""
    first = asked.directory / "service-0"
    write_file(_made(first) / "service.key", SERVICE_KEY, 0o600)
    keys = ServiceKeys.in_directory(first)
    serving = []
    for number in range(services):
        data = asked.directory / f"service-{number}"
        if number:
            _made(data)
            for file in first.glob("*.key*"):
                shutil.copy2(file, data)
        serving.append(Serving(data, words))
    for service in serving:
        service.start()
    found = Site(asked, serving, Issuer(keys.token.private))
    try:
        await found.until_served()
        yield found
    finally:
        for process in found.processes:
            await process.close()
        for service in serving:
            stores = service.children("server")
            service.kill()
            for store in stores:
                with suppress(psutil.NoSuchProcess):
                    store.kill()


def _made(data: Path) -> Path:
    data.mkdir(parents=True)
    return data
