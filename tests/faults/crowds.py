"""Many calls at once: copies of a request, watchers that all reconnect, and watchers that read slowly."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from rollbook.storage.embedded.server import find_server
from tests.faults.outcome import Outcome, Run
from tests.faults.remote import CONNECT, Caller, RemoteProcess
from tests.faults.services import kill_service
from tests.faults.site import Site, site
from tests.sim.people import Follower, Player
from tests.sim.tables import Table
from tests.storage.servers import running

COPIES: Final = 100
RETURNING: Final = 1_000
FAR: Final = 120
"""Events that a watcher lets pass before it reads on; the service sends `fell_behind` after 50."""

STORM_CHOICES: Final = 60
_WAIT_SECONDS: Final = 60.0


class Copying(Caller):
    """A client that sends every request a hundred times at once, each copy to a random process."""

    async def call_once(self, method: str, request: Any) -> Any:
        """Return the answer to the first copy that succeeds; the checkers compare it with all others."""
        if not getattr(request, "request_id", ""):
            return await super().call_once(method, request)
        copies = [self._copy(method, request) for _ in range(COPIES)]
        answers = await asyncio.gather(*copies, return_exceptions=True)
        found = [answer for answer in answers if not isinstance(answer, BaseException)]
        if found:
            return found[0]
        raise next(answer for answer in answers if isinstance(answer, BaseException))

    async def _copy(self, method: str, request: Any) -> Any:
        self._process = self.chance.choice(self._processes)
        return await super().call_once(method, request)


async def copies(asked: Run) -> Outcome:
    """Every request of a match is sent a hundred times at once through two services, and must be carried out once."""
    async with _served(asked, 2) as (found, url):
        loop, chance = asyncio.get_running_loop(), random.Random(f"{asked.seed}/copies")
        end, playing = loop.time() + asked.seconds, list[asyncio.Task[None]]()
        while True:
            number = len(found.tables)
            callers = [found.caller(f"copying{number}-{seat}", kind=Copying) for seat in range(2)]
            table = _table("cant_stop", [3, 3])
            found.tables.append(table)
            await _open(found, table, callers[0])
            for caller in callers:
                caller.chance = random.Random(chance.random())
            await asyncio.gather(*[Player(caller, table, choices=3).play() for caller in callers])
            if loop.time() > end:
                return await found.judge(playing, url, frozenset())


async def storm(asked: Run) -> Outcome:
    """Up to a thousand watchers, each with its own connection, lose the connection at once and reconnect."""
    count = min(RETURNING, max(20, int(asked.seconds * 20)))
    async with _served(asked, 1) as (found, url):
        table = _table("cant_stop", [STORM_CHOICES, STORM_CHOICES])
        found.tables.append(table)
        callers = [found.caller(f"player{seat}") for seat in range(2)]
        await _open(found, table, callers[0])
        lines = [RemoteProcess(f"line {number}", found.services[0].address) for number in range(count)]
        watchers = [
            Follower(found.caller(f"watcher{number}", processes=[line]), table) for number, line in enumerate(lines)
        ]
        watching = [asyncio.create_task(watcher.follow()) for watcher in watchers]
        await _until(lambda: all(watcher.position is not None for watcher in watchers))
        playing = [asyncio.create_task(Player(caller, table, choices=STORM_CHOICES).play()) for caller in callers]
        for _ in range(2):
            seen = min(watcher.position.sequence for watcher in watchers if watcher.position is not None)
            await _until(lambda seen=seen: all(_at(watcher) > seen or watcher.is_over for watcher in watchers))
            await kill_service(found, None, random.Random(asked.seed))
        outcome = await found.judge([*playing, *watching], url, frozenset())
        for line in lines:
            await line.close()
        back = sum(watcher.is_over for watcher in watchers)
        broken = [*outcome.broken, *([f"{count - back} watchers did not see the end"] if back < count else [])]
        return Outcome({"watchers that came back, twice": back, **outcome.figures}, broken, outcome.history)


class Slow(Follower):
    """A watcher that reads until it has caught up, and again only when the match is far ahead."""

    def __init__(self, client: Caller, table: Table, ahead: Player) -> None:
        """`ahead` is the player whose position the watcher compares with its own."""
        super().__init__(client, table)
        self.ahead = ahead
        self.fell_behind = 0

    async def hear(self, frame: Any) -> None:
        """Handle a frame, and pause after `caught_up`."""
        await super().hear(frame)
        kind = frame.WhichOneof("frame")
        self.fell_behind += kind == "fell_behind"
        if kind == "caught_up":
            with suppress(TimeoutError):
                await _until(lambda: self.ahead.is_over or _at(self.ahead) > _at(self) + FAR)


async def slow(asked: Run) -> Outcome:
    """Watchers with small windows that read slowly must get `fell_behind` and miss no event."""
    narrow = [*CONNECT, ("grpc.http2.lookahead_bytes", 1_024), ("grpc.http2.bdp_probe", 0)]
    async with _served(asked, 1) as (found, url):
        loop, behind, matches = asyncio.get_running_loop(), 0, 0
        line = RemoteProcess("narrow", found.services[0].address, narrow)
        end = loop.time() + asked.seconds
        while not behind or loop.time() < end:
            matches += 1
            table = _table("wuerfelzoo", [10**6] * 2)
            found.tables.append(table)
            callers = [found.caller(f"player{matches}-{seat}") for seat in range(2)]
            await _open(found, table, callers[0])
            players = [Player(caller, table) for caller in callers]
            watchers = [Slow(found.caller(f"slow{matches}-{n}", processes=[line]), table, players[0]) for n in range(2)]
            people = [*(player.play() for player in players), *(watcher.follow() for watcher in watchers)]
            await asyncio.gather(*people)
            behind += sum(watcher.fell_behind for watcher in watchers)
        outcome = await found.judge([], url, frozenset())
        await line.close()
        return Outcome({"told that they fell behind": behind, **outcome.figures}, outcome.broken, outcome.history)


@asynccontextmanager
async def _served(asked: Run, services: int) -> AsyncIterator[tuple[Site, str]]:
    with running(find_server(), asked.directory / "store") as store:
        async with site(asked, ("--redis", store.url), services) as found:
            yield found, store.url


def _table(game: str, choices: list[int]) -> Table:
    terms = {"turn_seconds": 0, "reserve_seconds": 0, "ready_seconds": 0, "spectator_delay_seconds": 0}
    return Table(game, len(choices), terms, choices, [True] * len(choices), 1)


async def _open(found: Site, table: Table, opener: Caller) -> None:
    opened = await opener.call("OpenMatch", seats=table.seats, options={table.game: {}})
    table.match_id = opened.match_id
    found.asked.say(f"a match of {table.game} with {table.seats} seats")


def _at(follower: Follower) -> int:
    return 0 if follower.position is None else int(follower.position.sequence)


async def _until(condition: Any) -> None:
    async with asyncio.timeout(_WAIT_SECONDS):
        while not condition():  # noqa: ASYNC110 - of many tasks
            await asyncio.sleep(0.05)
