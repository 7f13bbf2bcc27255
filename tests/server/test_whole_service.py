"""Whole matches over the wire, while server and store are killed."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from rollbook.match.chain import link
from rollbook.match.check import check
from rollbook.match.codec.envelope import read_bytes
from rollbook.match.codec.notation import Header, write
from rollbook.match.events import Opened, Ready
from rollbook.rules.catalogue import current, find
from rollbook.v1 import replay_pb2, replay_pb2_grpc
from rollbook.v1.events_pb2 import Private
from rollbook.v1.feed_pb2 import MatchFrame
from tests.ports import free_port
from tests.server.rpc.talking import refusal
from tests.server.strangers import Line, Stranger

SEED = int(os.environ.get("ROLLBOOK_SEED", "20"))
PATIENCE_SECONDS = 240


class Serving:
    """`rollbook serve` in a separate process that is restarted whenever it is killed."""

    words: tuple[str, ...] = ()

    def __init__(self, data: Path) -> None:
        """Serve this data directory on a fixed port."""
        self.data = data
        self.address = f"127.0.0.1:{free_port()}"
        self.process = self.start()

    def start(self) -> subprocess.Popen[bytes]:
        """Start the service; clients that call before it listens have to retry."""
        words = ["serve", "--data", str(self.data), "--listen", self.address, "--log-level", "warning", *self.words]
        with (self.data.parent / "service.log").open("ab") as said:
            return subprocess.Popen([sys.executable, "-m", "rollbook", *words], stderr=said)

    def kill_worker(self) -> None:
        """Kill the first of several workers; the supervisor restarts it."""
        first, *_ = [child for child in self.children() if "rollbook.cli.worker" in child.cmdline()]
        first.kill()

    def children(self) -> list[psutil.Process]:
        """The running child processes of the service."""
        with suppress(psutil.NoSuchProcess):
            return [
                child for child in psutil.Process(self.process.pid).children() if child.status() != psutil.STATUS_ZOMBIE
            ]
        return []

    def stores(self) -> list[psutil.Process]:
        """The service's own store server, if it runs."""
        return [child for child in self.children() if "server" in child.name()]

    def kill_service(self) -> None:
        """Kill the service, and start it again."""
        self.process.kill()
        self.process.wait()
        self.process = self.start()

    def kill_store(self) -> None:
        """Kill the store; the service restarts it."""
        for store in self.stores():
            store.kill()

    def kill_both(self) -> None:
        """Kill service and store, and start them again."""
        stores = self.stores()
        self.process.kill()
        for store in stores:
            store.kill()
        self.process.wait()
        self.process = self.start()

    def end(self) -> int:
        """End the service as an operator does; return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(60)
        finally:
            self.process.kill()
            for store in self.stores():
                store.kill()

    def said(self) -> str:
        """The service's log."""
        return (self.data.parent / "service.log").read_text(encoding="utf-8")


class ByTwoWorkers(Serving):
    """A service with two workers."""

    words = ("--workers", "2")


@asynccontextmanager
async def serving(folder: Path, kind: type[Serving] = Serving) -> AsyncIterator[Serving]:
    """A service that is always ended."""
    service = kind(folder / "data")
    try:
        yield service
    finally:
        if service.process.poll() is None:
            service.end()


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    """Run a scenario; fail after `PATIENCE_SECONDS`."""

    async def bounded() -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await scenario()

    asyncio.run(bounded())


async def seated(line: Line, seats: int, rng: random.Random, **game: Any) -> tuple[str, list[Stranger]]:
    """A match with all players seated and ready, half of them with entropy."""
    people = [
        Stranger(line, f"Stranger {seat}", random.Random(rng.random()), rng.randbytes(32) if seat % 2 else b"")
        for seat in range(seats)
    ]
    for person in people:
        await person.sign_in()
    match_id = await people[0].open(seats, **game)
    for person in people:
        await person.sit(match_id)
    closing = max(max(person.acknowledged) for person in people)
    (closing_event,) = {person.acknowledged[closing] for person in people if closing in person.acknowledged}
    await asyncio.gather(*[person.ready(match_id, link(closing_event)) for person in people])
    return match_id, people


def assert_proved(match_id: str, watcher: Stranger, people: list[Stranger]) -> None:
    """Check that the watcher received the whole match, with all acknowledged events and dice that can be proved."""
    assert watcher.ended is not None
    log = [watcher.told[number] for number in range(1, watcher.ended.position.sequence + 1)]
    assert len(log) == len(watcher.told)
    for person in people:
        assert all(watcher.told[number] == data for number, data in person.acknowledged.items())
        assert person.told == watcher.told
    opened = read_bytes(log[0], match_id=match_id).event
    assert isinstance(opened, Opened)
    game = find(opened.game)
    read = []
    for number, data in enumerate(log[1:], start=2):
        hidden = watcher.revealed.get(number)
        private = Private(hidden=hidden).SerializeToString() if hidden is not None else b""
        read.append((number, read_bytes(data, private, game).event))
    entropy = {event.seat: event.entropy for _, event in read if isinstance(event, Ready)}
    header = Header(opened, tuple(entropy[seat] for seat in range(len(opened.names))))
    lines = [line.removesuffix("\n") for line in write(header, read)]
    assert check(lines).dice_proved


@pytest.mark.parametrize("name", list(current()))
def test_every_number_of_seats_plays_every_game_to_the_end_over_the_wire(name: str, tmp_path: Path) -> None:
    """Each player has a gRPC client; all receive the same bytes, which suffice to prove the dice."""

    async def scenario() -> None:
        rng = random.Random(SEED)
        async with serving(tmp_path) as service:
            line = Line(service.address)
            for seats in current()[name].seats:
                match_id, people = await seated(line, seats, rng, **{name: {}})
                watcher = Stranger(line, "Watcher", rng)
                await watcher.sign_in()
                await asyncio.gather(
                    *[person.watch(match_id, play=True) for person in people],
                    watcher.watch(match_id, play=False),
                )
                assert_proved(match_id, watcher, people)
            await line.channel.close()
            assert 0 == service.end()

    run(scenario)


@pytest.mark.parametrize("kind", [Serving, ByTwoWorkers])
def test_kill_9_at_any_moment_loses_nothing_that_was_acknowledged(kind: type[Serving], tmp_path: Path) -> None:
    """Kills service, store, both, or a worker during play (seed: ROLLBOOK_SEED).

    Every client has its own connection, so that the clients of a match use different workers.
    """

    async def scenario() -> None:
        rng = random.Random(SEED)
        async with serving(tmp_path, kind) as service:
            line = Line(service.address)
            tables = [await seated(line, 3, rng, **{name: {}}) for name in ("cant_stop", "raffzahn", "allie_gator")]
            watchers = [Stranger(line, "Watcher", rng) for _ in tables]
            for watcher in watchers:
                await watcher.sign_in()
            for someone in (*watchers, *[person for _, people in tables for person in people]):
                someone.line = Line(service.address)
            playing = asyncio.gather(
                *[person.watch(match_id, play=True) for match_id, people in tables for person in people],
                *[watcher.watch(match_id, play=False) for watcher, (match_id, _) in zip(watchers, tables, strict=True)],
            )
            kills = [service.kill_service, service.kill_store, service.kill_both]
            if kind is ByTwoWorkers:
                kills = [service.kill_worker, *kills]
            for kill in rng.sample(kills, len(kills)):
                told = sum(len(watcher.told) for watcher in watchers)
                wanted = told + rng.randint(20, 60)
                while sum(len(watcher.told) for watcher in watchers) < wanted and not playing.done():  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
                kill()
            await playing
            for watcher, (match_id, people) in zip(watchers, tables, strict=True):
                assert_proved(match_id, watcher, people)
            assert sum(watcher.broken for watcher in watchers) > 0, f"seed {SEED}: nothing was ever interrupted"
            for someone in (*watchers, *[person for _, people in tables for person in people]):
                await someone.line.channel.close()
            await line.channel.close()

    run(scenario)


def test_the_log_of_the_service_tells_no_token_and_no_name(tmp_path: Path) -> None:
    """Readers of the log learn what happened, but not who the players are."""

    async def scenario() -> None:
        async with serving(tmp_path) as service:
            line = Line(service.address)
            _, people = await seated(line, 2, random.Random(SEED), cant_stop={})
            await line.channel.close()
            assert 0 == service.end()
            for person in people:
                assert person.token not in service.said()
                assert person.name not in service.said()

    run(scenario)


def test_frames_are_what_strangers_rely_on() -> None:
    """The kinds of frames that a client needs; existing clients must ignore new ones."""
    kinds = [field.name for field in MatchFrame.DESCRIPTOR.oneofs_by_name["frame"].fields]
    assert ["confirmed", "events", "caught_up", "fell_behind", "revealed", "heartbeat", "ended", "rematch"] == kinds


def test_a_file_of_which_half_has_come_when_the_service_ends_is_not_judged(tmp_path: Path) -> None:
    """A verdict on half a file would be wrong: the sender gets DRAINING and can retry elsewhere."""

    async def scenario() -> None:
        async with serving(tmp_path) as service:
            line = Line(service.address)
            sender = Stranger(line, "Sender", random.Random(SEED))
            await sender.sign_in()
            stub: Any = replay_pb2_grpc.ReplayServiceStub(line.channel)
            upload = stub.AuditReplay(metadata=sender.metadata)
            await upload.write(replay_pb2.AuditReplayRequest(part=b"one half"))

            async def another() -> None:
                while True:
                    await stub.AuditReplay(iter(()), metadata=sender.metadata)

            # The limit is one upload at a time, so a refused second one proves that the first has begun.
            assert "TOO_MANY_WATCHES" == (await refusal(another())).reason
            assert 0 == await asyncio.to_thread(service.end)
            assert "DRAINING" == (await refusal(upload)).reason
            await line.channel.close()

    run(scenario)
