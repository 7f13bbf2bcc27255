"""Speed of the service: beside bare gRPC and bare Redis that move as much, in one process on one event loop.

Clients and server share the process, in the baselines as well, so what clients cost is in both. Choices come through
the whole service: token, rate, match, decision, append, projection, signature. All but group commit and memory is over
a log in memory.
"""

from __future__ import annotations

import asyncio
import cProfile
import hashlib
import pstats
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import grpc
from redis.asyncio import Redis

from rollbook.log.embedded import find_server
from rollbook.log.keys import lobby_key, stream_key
from rollbook.log.redis_log import RedisLog
from rollbook.log.servers import _SCRIPT
from rollbook.match.ledger import Ledger
from rollbook.match.log import Appended, Entry
from rollbook.match.messages import write_choice
from rollbook.rules.cant_stop import Stop
from rollbook.server.limits import Limits
from rollbook.v1.feed_pb2 import WatchMatchRequest
from rollbook.v1.match_pb2 import PlayRequest
from rollbook.v1.table_pb2 import Choice, Position
from tests.bench.measure import Measure, Row, side_by_side
from tests.log.servers import Server, running
from tests.server.talking import Person
from tests.server.watching import Theatre

AT_ONCE = 8
CHOICES_EACH = 40
PLAYED, PLAYS_EACH = 50, 12
GROUP, APPENDS_EACH, ALONE = 64, 40, 150
WATCHERS, CHANNELS, FRAMES = 300, 4, 15
MEMORY_MATCHES, MEMORY_CHOICES = 20, 250
MOST_BYTES_AN_EVENT = 160

UNLIMITED = Limits(
    matches_per_subject=10**6,
    seats_per_subject=10**6,
    requests_at_once=10**9,
    plays_per_subject=10**6,
    watches_per_subject=10**6,
)
ECHO_BYTES = b"." * 600
"""About what a Choose is answered with."""

Run = Callable[[Coroutine[Any, Any, int]], int]


class Bare:
    """What gRPC does by itself: bytes in, bytes out."""

    def __init__(self) -> None:
        self.frame = b""
        self.next = asyncio.Event()

    async def echo(self, request: bytes, _context: Any) -> bytes:
        """Answer once."""
        return request

    async def chat(self, requests: AsyncIterator[bytes], _context: Any) -> AsyncIterator[bytes]:
        """Answer again and again."""
        async for request in requests:
            yield request

    async def tell(self, _request: bytes, _context: Any) -> AsyncIterator[bytes]:
        """Tell every watcher the same bytes, whenever there are any."""
        waiting = self.next
        yield b"begin"
        while True:
            await waiting.wait()
            waiting = self.next
            yield self.frame

    def publish(self, frame: bytes) -> None:
        """Tell everybody."""
        self.frame = frame
        self.next, told = asyncio.Event(), self.next
        told.set()

    async def serve(self, stack: AsyncExitStack) -> grpc.aio.Channel:
        """A channel to a server with nothing else."""
        server = grpc.aio.server()
        methods: dict[str, Any] = {
            "Echo": grpc.unary_unary_rpc_method_handler(self.echo),
            "Chat": grpc.stream_stream_rpc_method_handler(self.chat),
            "Tell": grpc.unary_stream_rpc_method_handler(self.tell),
        }
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("Bare", methods),))
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        stack.push_async_callback(server.stop, None)
        self.address = f"127.0.0.1:{port}"
        return await stack.enter_async_context(grpc.aio.insecure_channel(self.address))


class Table:
    """A match whose seats roll and never stop; what is legal is looked up in the server's own ledger."""

    def __init__(self, world: Theatre, match_id: str, people: list[Person]) -> None:
        self.world = world
        self.match_id = match_id
        self.people = people

    @classmethod
    async def begin(cls, world: Theatre) -> Table:
        """A match that runs."""
        return cls(world, *await world.started())

    def turn(self) -> tuple[int, Choice, Position]:
        """Who is to choose, a choice, and the position that it answers."""
        ledger: Ledger = self.world.service.matches._ledgers[self.match_id]
        seat = ledger.awaited_seat
        assert seat is not None
        chosen = next(choice for choice in ledger.game.legal(ledger.match.state) if not isinstance(choice, Stop))
        choice = Choice()
        write_choice(ledger.game, chosen, choice.cant_stop)
        return seat, choice, Position(sequence=ledger.head.sequence, link=ledger.head.link)

    async def choose(self, times: int) -> None:
        """Choices by unary calls, one after the other."""
        for _ in range(times):
            seat, choice, position = self.turn()
            await self.people[seat].choose(self.match_id, choice, position)

    async def play(self, streams: list[Any], times: int) -> None:
        """The same over Play, a stream for each seat."""
        for _ in range(times):
            seat, choice, position = self.turn()
            person = self.people[seat]
            request = PlayRequest(
                match_id=self.match_id, request_id=person.request_id(), choice=choice, position=position
            )
            await streams[seat].write(request)
            answer = await streams[seat].read()
            assert answer.WhichOneof("answer") == "made"


async def unary(tables: list[Table]) -> int:
    """Choose, in several matches at once."""
    await asyncio.gather(*[table.choose(CHOICES_EACH) for table in tables])
    return len(tables) * CHOICES_EACH


async def unary_echo(channel: grpc.aio.Channel) -> int:
    """As many bare calls."""
    call: Any = channel.unary_unary("/Bare/Echo")

    async def ask() -> None:
        for _ in range(CHOICES_EACH):
            await call(ECHO_BYTES)

    await asyncio.gather(*[ask() for _ in range(AT_ONCE)])
    return AT_ONCE * CHOICES_EACH


async def played(tables: list[tuple[Table, list[Any]]]) -> int:
    """Choose over Play, in many matches at once."""
    await asyncio.gather(*[table.play(streams, PLAYS_EACH) for table, streams in tables])
    return len(tables) * PLAYS_EACH


async def chatted(streams: list[Any]) -> int:
    """As many bare messages there and back."""

    async def ask(stream: Any) -> None:
        for _ in range(PLAYS_EACH):
            await stream.write(ECHO_BYTES)
            await stream.read()

    await asyncio.gather(*[ask(stream) for stream in streams])
    return len(streams) * PLAYS_EACH


# Fan-out


async def fan_out(table: Table, watches: list[Any], frames: int = FRAMES) -> int:
    """A choice, and everybody has its frame; again and again."""
    for _ in range(frames):
        await table.choose(1)
        await asyncio.gather(*[watch.read() for watch in watches])
    return frames * len(watches)


async def bare_fan_out(bare: Bare, watches: list[Any], frame: bytes) -> int:
    """As many bare frames of as many bytes."""
    for _ in range(FRAMES):
        bare.publish(frame)
        await asyncio.gather(*[watch.read() for watch in watches])
    return FRAMES * len(watches)


async def watching(table: Table, stack: AsyncExitStack) -> tuple[list[Any], bytes]:
    """Watchers of the table that have caught up and read bytes, and a frame as they get it."""
    request = WatchMatchRequest(match_id=table.match_id).SerializeToString()
    method = "/rollbook.v1.FeedService/WatchMatch"
    watches = await _watches(f"127.0.0.1:{table.world.port}", method, request, table.people[0].metadata, stack)
    for _ in ("confirmed", "events", "caught_up"):
        await asyncio.gather(*[watch.read() for watch in watches])
    await table.choose(1)
    frames = await asyncio.gather(*[watch.read() for watch in watches])
    return watches, frames[0]


async def _watches(address: str, method: str, request: bytes, metadata: Any, stack: AsyncExitStack) -> list[Any]:
    options = [("grpc.use_local_subchannel_pool", 1)]
    channels = [await stack.enter_async_context(grpc.aio.insecure_channel(address, options)) for _ in range(CHANNELS)]
    calls: list[Any] = [channel.unary_stream(method) for channel in channels]
    return [calls[number % CHANNELS](request, metadata=metadata) for number in range(WATCHERS)]


# Redis


class Stored:
    """A durable server, our log on it, and the same script over a bare pipeline."""

    def __init__(self, server: Server, log: RedisLog) -> None:
        self.log = log
        self.redis: Any = Redis(port=server.port, protocol=2)
        self.heads: dict[str, int] = {}
        self.entry = Entry(b"e" * 120)

    async def _append(self, match_id: str, times: int) -> None:
        for _ in range(times):
            result = await self.log.append(match_id, self.heads.get(match_id, 0), [self.entry])
            assert isinstance(result, Appended)
            self.heads[match_id] = result.head

    async def together(self) -> int:
        """Many matches at once, each append answered before the next of its match."""
        await asyncio.gather(*[self._append(f"together-{number}", APPENDS_EACH) for number in range(GROUP)])
        return GROUP * APPENDS_EACH

    async def alone(self) -> int:
        """One match."""
        await self._append("alone", ALONE)
        return ALONE

    async def pipelined(self) -> int:
        """The script for as many matches in one pipeline, each answered before the next."""
        digest = hashlib.sha1(_SCRIPT, usedforsecurity=False).hexdigest()
        await self.redis.script_load(_SCRIPT)
        for _ in range(APPENDS_EACH):
            pipeline = self.redis.pipeline(transaction=False)
            for number in range(GROUP):
                match_id = f"pipelined-{number}"
                head = self.heads.get(match_id, 0)
                arguments = (b"%d" % head, b"0", match_id.encode(), b"", b"", self.entry.event, b"")
                pipeline.evalsha(digest, 1, stream_key(match_id), *arguments)
                self.heads[match_id] = head + 1
            answers = await pipeline.execute()
            assert all(outcome == 0 for outcome, _ in answers)
        return GROUP * APPENDS_EACH

    async def memory(self) -> tuple[float, float]:
        """Bytes for each event of matches of Can't Stop: of all their keys, and by which the server has grown."""
        before = (await self.redis.info("memory"))["used_memory"]
        match_ids = []
        async with Theatre(limits=UNLIMITED, log=self.log).serving() as world:
            for _ in range(MEMORY_MATCHES):
                table = await Table.begin(world)
                match_ids.append(table.match_id)
                await table.choose(MEMORY_CHOICES)
        grown = (await self.redis.info("memory"))["used_memory"] - before
        keys = [stream_key(match_id) for match_id in match_ids]
        events = sum([await self.redis.xlen(key) for key in keys])
        keys += [key for partition in range(256) if await self.redis.exists(key := lobby_key(partition))]
        used = sum([await self.redis.memory_usage(key, samples=0) for key in keys])
        return used / events, grown / events


def bench(rounds: int) -> list[Row]:
    """All of it."""
    with asyncio.Runner() as runner, tempfile.TemporaryDirectory() as folder:
        rows = over_grpc(runner.run, rounds)
        with running(find_server(), Path(folder)) as server:
            rows += over_redis(runner.run, server, rounds)
        return rows


def over_grpc(run: Run, rounds: int) -> list[Row]:
    """Calls, streams and feeds, with a log in memory."""
    stack = AsyncExitStack()
    found: dict[str, Any] = {}
    bare = Bare()

    async def begin() -> int:
        world = await stack.enter_async_context(Theatre(limits=UNLIMITED).serving())
        channel = found["channel"] = await bare.serve(stack)
        found["tables"] = [await Table.begin(world) for _ in range(AT_ONCE)]
        tables = [await Table.begin(world) for _ in range(PLAYED)]
        found["played"] = [(table, [person.play() for person in table.people]) for table in tables]
        chat: Any = channel.stream_stream("/Bare/Chat")
        found["chats"] = [chat() for _ in range(PLAYED)]
        found["watched"] = await Table.begin(world)
        found["watches"], found["frame"] = await watching(found["watched"], stack)
        found["bare"] = await _watches(bare.address, "/Bare/Tell", b"", None, stack)
        await asyncio.gather(*[watch.read() for watch in found["bare"]])
        return 0

    async def end() -> int:
        for call in (
            *found["watches"],
            *found["bare"],
            *found["chats"],
            *[one for _, two in found["played"] for one in two],
        ):
            call.cancel()
        await stack.aclose()
        return 0

    run(begin())
    try:
        return [
            *side_by_side(
                [
                    Measure("baseline: bare unary echo", "calls/s", lambda: run(unary_echo(found["channel"]))),
                    Measure("Choose, unary, log in memory", "choices/s", lambda: run(unary(found["tables"])), 0.6),
                ],
                rounds,
            ),
            *side_by_side(
                [
                    Measure("baseline: bare bidirectional echo", "messages/s", lambda: run(chatted(found["chats"]))),
                    Measure(
                        f"Choose over Play, {PLAYED} matches, in memory",
                        "choices/s",
                        lambda: run(played(found["played"])),
                        0.3,
                    ),
                ],
                rounds,
            ),
            *side_by_side(
                [
                    Measure(
                        f"baseline: bare writes to {WATCHERS} streams",
                        "frames/s",
                        lambda: run(bare_fan_out(bare, found["bare"], found["frame"])),
                    ),
                    Measure(
                        f"frames to {WATCHERS} watchers",
                        "frames/s",
                        lambda: run(fan_out(found["watched"], found["watches"])),
                        0.8,
                    ),
                ],
                rounds,
            ),
        ]
    finally:
        run(end())


def over_redis(run: Run, server: Server, rounds: int) -> list[Row]:
    """Group commit at fsync, and memory."""
    found: dict[str, Any] = {}

    async def begin() -> int:
        found["stored"] = Stored(server, await RedisLog.connect(server.url))
        return 0

    async def weigh() -> int:
        found["memory"] = await found["stored"].memory()
        return 0

    async def end() -> int:
        await found["stored"].redis.aclose()
        await found["stored"].log.close()
        return 0

    run(begin())
    try:
        run(weigh())
        stored: Stored = found["stored"]
        together = Measure(f"group commit of {GROUP} matches, fsync", "appends/s", lambda: run(stored.together()), 0.6)
        rows = side_by_side(
            [
                Measure("baseline: bare pipeline of the script, fsync", "appends/s", lambda: run(stored.pipelined())),
                together,
            ],
            rounds,
        )
        rows += side_by_side(
            [
                Measure("baseline: one append at a time, fsync", "appends/s", lambda: run(stored.alone())),
                Measure(together.name, together.unit, together.work, 5.0),
            ],
            rounds,
        )
    finally:
        run(end())
    for name, each in zip(("of all keys", "of used_memory"), found["memory"], strict=True):
        rows.append(
            Row(f"Redis memory an event, {name}; ratio: 160/it", "bytes", (each,), MOST_BYTES_AN_EVENT / each, 1.0)
        )
    return rows


def profile() -> None:
    """Where the time of Choose goes, of client and server together, and that of the frames."""

    async def begin(stack: AsyncExitStack) -> tuple[list[Table], Table, list[Any]]:
        world = await stack.enter_async_context(Theatre(limits=UNLIMITED).serving())
        watched = await Table.begin(world)
        watches, _ = await watching(watched, stack)
        return [await Table.begin(world) for _ in range(AT_ONCE)], watched, watches

    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        tables, watched, watches = runner.run(begin(stack))
        for work in (unary(tables), fan_out(watched, watches)):
            taken = cProfile.Profile()
            taken.enable()
            runner.run(work)
            taken.disable()
            pstats.Stats(taken).sort_stats("tottime").print_stats(25)
        for watch in watches:
            watch.cancel()
        runner.run(stack.aclose())
