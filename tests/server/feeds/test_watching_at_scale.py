"""Many watched matches: a look reads only what is new, and announcements are never trusted."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from rollbook.match.commands import OpenMatch
from rollbook.rules.game import Watcher
from rollbook.server.feeds import feed as feeds_module
from rollbook.server.feeds.feed import Feeds
from rollbook.server.out.frames import CaughtUpFrame, EventsFrame
from rollbook.storage.embedded.server import find_server
from rollbook.storage.port import Announcement
from rollbook.storage.redis.keys import ANNOUNCEMENTS
from rollbook.storage.redis.log import RedisLog
from tests.server.play.test_matches import SECRET, Client, Table, opened
from tests.server.replica.keeping import Process
from tests.storage.memory import MemoryLog
from tests.storage.servers import ALL_SLOTS, Server, running

NEVER: Final = 3_600.0
PATIENCE_SECONDS: Final = 60.0
MOVES: Final = 20


@pytest.fixture(scope="module", params=["one server", "cluster"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A single server and a cluster, shared by all tests of this module."""
    slots = ALL_SLOTS if request.param == "cluster" else range(0)
    with running(find_server(), tmp_path_factory.mktemp("valkey"), slots=slots) as found:
        with found.client() as client:
            client.flushall()
        yield found


@pytest.fixture
def no_comparisons(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable comparisons, so that only announcements are noticed."""
    monkeypatch.setattr(feeds_module, "GUARD_SECONDS", NEVER)


@dataclass
class Watch:
    """A watcher: the last sequence it received and whether it has caught up."""

    told: int = 0
    caught_up: bool = False

    async def follow(self, feeds: Feeds, match_id: str) -> None:
        """Watch until cancelled."""
        async with aclosing(feeds.watch(match_id, None, lambda _ledger: Watcher.PUBLIC)) as frames:
            async for frame in frames:
                if isinstance(frame, EventsFrame):
                    self.told = frame.events[-1].logged.sequence
                self.caught_up = self.caught_up or isinstance(frame, CaughtUpFrame)


class House:
    """A played match, quiet matches beside it, and the feeds of two processes."""

    def __init__(self, stack: AsyncExitStack, log: Any, other_log: Any) -> None:
        """Begin without watchers."""
        self._stack = stack
        self.table = Table(log)
        self.table.other = Process(other_log)
        self.one = Feeds(log, self.table.one.replicas, lambda: 0)
        self.other = Feeds(other_log, self.table.other.replicas, lambda: 0)
        for feeds in (self.one, self.other):
            stack.push_async_callback(feeds.close)

    async def watch(self, feeds: Feeds, match_id: str = "m") -> Watch:
        """Start a watcher, and return it when it has caught up."""
        watch = Watch()
        following = asyncio.create_task(watch.follow(feeds, match_id))

        async def end() -> None:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)

        self._stack.push_async_callback(end)
        await until(lambda: watch.caught_up or following.done())
        return watch

    async def open_quiet(self, matches: int) -> None:
        """Open and watch some matches in which nothing happens."""
        opener = Client(self.table.one, "p0")
        for number in range(matches):
            match = opened(match_id=f"quiet-{number}")
            await self.table.one.matches.open(OpenMatch(opener.origin("open"), match, SECRET))
            await self.watch(self.one, match.match_id)

    async def play(self, process: Process, moves: int, name: str) -> int:
        """Make some choices through a process; return the sequence of the last event."""
        for number in range(moves):
            await self.table.through(process, request=f"{name}-{number}")
        return (await process.ledger("m")).head.sequence


async def until(holds: Callable[[], object]) -> None:
    """Wait until `holds()` is true."""
    while not holds():  # noqa: ASYNC110 - it may be anything
        await asyncio.sleep(0.002)


def run(scenario: Callable[[AsyncExitStack], Awaitable[None]]) -> None:
    """Run a scenario for at most a minute."""

    async def bounded() -> None:
        async with asyncio.timeout(PATIENCE_SECONDS), AsyncExitStack() as stack:
            await scenario(stack)

    asyncio.run(bounded())


async def connected(stack: AsyncExitStack, server: Server) -> list[RedisLog]:
    """The logs of two processes on an empty store."""
    with server.client() as client:
        client.flushall()
    logs = [await RedisLog.connect(server.url) for _ in range(2)]
    for log in logs:
        stack.push_async_callback(log.close)
    return logs


def traffic(client: Any) -> dict[str, int]:
    """The store's counters of bytes and reads."""
    stats, commands = client.info("stats"), client.info("commandstats")
    reads = sum(commands.get(f"cmdstat_{name}", {"calls": 0})["calls"] for name in ("xread", "xrange", "xinfo|stream"))
    return {"bytes in": stats["total_net_input_bytes"], "bytes out": stats["total_net_output_bytes"], "reads": reads}


@pytest.mark.usefixtures("no_comparisons")
def test_a_move_costs_the_store_the_same_beside_ten_and_900_quiet_matches(server: Server) -> None:
    """A process does not read back its own events, and reads nothing of quiet matches."""
    costs: dict[int, dict[str, int]] = {}

    async def scenario(stack: AsyncExitStack, quiet: int) -> None:
        house = House(stack, *await connected(stack, server))
        await house.table.start()
        watch = await house.watch(house.one)
        await house.open_quiet(quiet)
        with server.client() as client:
            await house.play(house.table.one, 1, "warm")
            before = traffic(client)
            head = await house.play(house.table.one, MOVES, "move")
            await until(lambda: watch.told == head)
            after = traffic(client)
        costs[quiet] = {what: after[what] - before[what] for what in before}

    for quiet in (10, 900):
        run(lambda stack, quiet=quiet: scenario(stack, quiet))  # type: ignore[misc]
    few, many = costs[10], costs[900]
    # The helper reads the match before each move; nothing else reads.
    assert few["reads"] == many["reads"]
    assert all(many[what] <= 1.2 * few[what] for what in few), costs


@pytest.mark.usefixtures("no_comparisons")
def test_what_another_process_appends_is_read_once_for_all_who_watch(server: Server) -> None:
    """It is read when announced, and sent whole and in order, without a comparison."""

    async def scenario(stack: AsyncExitStack) -> None:
        house = House(stack, *await connected(stack, server))
        await house.table.start()
        here, there = await house.watch(house.one), await house.watch(house.other)
        also_there = await house.watch(house.other)
        for turn, process in enumerate((house.table.one, house.table.other) * 5):
            head = await house.play(process, 2, f"turn-{turn}")
            await until(lambda head=head: {head} == {here.told, there.told, also_there.told})  # type: ignore[misc]

    run(scenario)


def test_who_hears_nothing_is_told_by_comparison(monkeypatch: pytest.MonkeyPatch, server: Server) -> None:
    """The connection that receives announcements may break at any time and lose some."""
    monkeypatch.setattr(feeds_module, "PAUSE_SECONDS", NEVER)
    monkeypatch.setattr(feeds_module, "GUARD_SECONDS", 0.05)

    async def scenario(stack: AsyncExitStack) -> None:
        house = House(stack, *await connected(stack, server))
        await house.table.start()
        there = await house.watch(house.other)
        with server.client() as client:
            await until(lambda: client.pubsub_numsub(ANNOUNCEMENTS)[0][1])
            client.client_kill_filter(_type="pubsub")
            await until(lambda: not client.pubsub_numsub(ANNOUNCEMENTS)[0][1])
        head = await house.play(house.table.one, 3, "unheard")
        await until(lambda: there.told == head)

    run(scenario)


@pytest.mark.usefixtures("no_comparisons")
def test_who_hears_again_is_told_what_was_missed(server: Server) -> None:
    """After a reconnection the process looks at every watched match."""

    async def scenario(stack: AsyncExitStack) -> None:
        house = House(stack, *await connected(stack, server))
        await house.table.start()
        there = await house.watch(house.other)
        with server.client() as client:
            for number in range(3):
                await until(lambda: client.pubsub_numsub(ANNOUNCEMENTS)[0][1])
                client.client_kill_filter(_type="pubsub")
                head = await house.play(house.table.one, 2, f"missed-{number}")
                await until(lambda head=head: there.told == head)  # type: ignore[misc]

    run(scenario)


@pytest.mark.usefixtures("no_comparisons")
def test_what_is_announced_falsely_tells_nobody_anything(server: Server) -> None:
    """Duplicates, old events, events that never come, unknown matches, and random bytes."""

    async def scenario(stack: AsyncExitStack) -> None:
        house = House(stack, *await connected(stack, server))
        await house.table.start()
        there = await house.watch(house.other)
        noise = random.Random(12)
        said = [
            *[f"{head} {lists} m".encode() for head in (0, 1, 5, 5, 999, 2**64, 10**30) for lists in (0, 1)],
            *[b"7 0 nobody", b"7 2 m", b"-7 0 m", b"m 0 7", b"", b"7 0 ", b"7 0 m m", b"\xff 0 m", b"7 0 \xff"],
            *[noise.randbytes(noise.randrange(60)) for _ in range(200)],
        ]
        with server.client() as client:
            await until(lambda: client.pubsub_numsub(ANNOUNCEMENTS)[0][1])
            for number in range(4):
                noise.shuffle(said)
                for message in said:
                    client.publish(ANNOUNCEMENTS, message)
                head = await house.play(house.table.one, 2, f"true-{number}")
                await until(lambda head=head: there.told == head)  # type: ignore[misc]
        assert there.told == await house.table.log.head("m")

    run(scenario)


@pytest.mark.usefixtures("no_comparisons")
def test_whoever_may_not_publish_appends_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the service lacks the right to publish, other processes find its events by comparison."""
    monkeypatch.setattr(feeds_module, "GUARD_SECONDS", 0.05)

    async def scenario(stack: AsyncExitStack) -> None:
        with running(find_server(), tmp_path) as server, server.client() as client:
            client.execute_command("ACL", "SETUSER", "poor", "on", ">poor", "~*", "+@all", "resetchannels")
            url = f"redis://poor:poor@127.0.0.1:{server.port}"
            logs = [await RedisLog.connect(url) for _ in range(2)]
            house = House(stack, *logs)
            for log in logs:
                stack.push_async_callback(log.close)
            await house.table.start()
            there = await house.watch(house.other)
            head = await house.play(house.table.one, 3, "move")
            await until(lambda: there.told == head)
            await stack.aclose()

    run(scenario)


class Hollow:
    """A log whose announcements come from the test."""

    def __init__(self) -> None:
        """Begin without listeners."""
        self.inner = MemoryLog()
        self.heard: list[Callable[[Announcement], None]] = []
        self.compared: list[set[str]] = []

    def __getattr__(self, name: str) -> Any:
        """Delegate everything else."""
        return getattr(self.inner, name)

    async def listen(self, heard: Callable[[Announcement], None], began: Callable[[], None]) -> None:
        """Register the listener and announce nothing."""
        self.heard.append(heard)
        began()
        await asyncio.Event().wait()

    async def behind(self, after: dict[str, int]) -> dict[str, Any]:
        """Record which matches are compared."""
        self.compared.append(set(after))
        return await self.inner.behind(after)


def test_all_logs_are_compared_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look compares at most a few matches and none is left out, also right after listening began again."""
    monkeypatch.setattr(feeds_module, "GUARD_SECONDS", 0.2)
    monkeypatch.setattr(feeds_module, "MOST_COMPARED", 7)
    log = Hollow()

    async def scenario(stack: AsyncExitStack) -> None:
        house = House(stack, log, log)
        await house.open_quiet(40)
        log.compared.clear()
        for _ in range(2):
            await until(lambda: {f"quiet-{number}" for number in range(40)} == set().union(*log.compared))
            log.compared.clear()
        assert max((len(asked) for asked in log.compared), default=0) <= 7

    run(scenario)


def test_an_announcement_that_comes_late_or_twice_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The replica already has the announced events, so a read would find nothing."""
    monkeypatch.setattr(feeds_module, "GUARD_SECONDS", NEVER)
    log = Hollow()

    async def scenario(stack: AsyncExitStack) -> None:
        house = House(stack, log, log)
        await house.table.start()
        there = await house.watch(house.one)
        await until(lambda: log.compared)
        head = await house.play(house.table.one, 3, "move")
        await until(lambda: there.told == head)
        log.compared.clear()
        for said in (1, head, head, head - 1):
            log.heard[0](Announcement("m", said, is_lifecycle=False))
        log.heard[0](Announcement("m", head + 1, is_lifecycle=False))
        await until(lambda: log.compared)
        assert [{"m"}] == log.compared

    run(scenario)


def test_nobody_listens_where_nobody_watches(server: Server) -> None:
    """A process without watchers does not subscribe to announcements."""

    async def scenario(stack: AsyncExitStack) -> None:
        house = House(stack, *await connected(stack, server))
        await house.table.start()
        with server.client() as client:
            assert 0 == client.pubsub_numsub(ANNOUNCEMENTS)[0][1]
            for _ in range(3):
                async with aclosing(house.one.watch("m", None, lambda _ledger: Watcher.PUBLIC)) as frames:
                    await anext(frames)
                    await until(lambda: client.pubsub_numsub(ANNOUNCEMENTS)[0][1])
                await until(lambda: not client.pubsub_numsub(ANNOUNCEMENTS)[0][1])

    run(scenario)
