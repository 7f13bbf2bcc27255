"""`rollbook bot` as a user runs it, at a service in its own process."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from rollbook.rules.catalogue import current
from rollbook.v1.match_pb2 import MATCH_STATE_RUNNING, MatchSummary
from rollbook_clients.sdk import Table, connect
from tests.clients.bots.installing import installed
from tests.clients.sdk.tables import service

BOT = (sys.executable, "-m", "rollbook", "bot")
PATIENCE_SECONDS = 120


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service for all tests of this module."""
    with service(tmp_path_factory.mktemp("service")) as one:
        yield one.address


class Running:
    """The running command."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.errors = ""

    async def lines(self, count: int) -> list[str]:
        """Return the next lines of standard output."""
        assert self.process.stdout is not None
        return [(await self.process.stdout.readline()).decode().rstrip("\n") for _ in range(count)]

    async def error(self, pattern: str) -> str:
        """Return the first line on standard error that matches the pattern."""
        assert self.process.stderr is not None
        while line := (await self.process.stderr.readline()).decode():
            self.errors += line
            if re.search(pattern, line):
                return line
        raise AssertionError(f"{pattern!r} was never said: {self.errors}")

    async def stop(self, how: signal.Signals = signal.SIGINT) -> tuple[int, str]:
        """Send a signal; returns the exit code and the rest of the output."""
        self.process.send_signal(how)
        return await self.end()

    async def end(self) -> tuple[int, str]:
        """Wait until the command has ended."""
        _, errors = await self.process.communicate()
        self.errors += errors.decode()
        assert self.process.returncode is not None
        return self.process.returncode, self.errors


@asynccontextmanager
async def bots(address: str, *words: str, env: dict[str, str] | None = None) -> AsyncIterator[Running]:
    """Start the command in its own process, which ends with the test."""
    process = await asyncio.create_subprocess_exec(
        *BOT, "--service", address, *words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env
    )
    try:
        yield Running(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    """Run a scenario with a time limit."""

    async def main() -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await scenario()

    asyncio.run(main())


async def until(table: Table, match_id: str, holds: Callable[[MatchSummary], bool]) -> MatchSummary:
    """Poll until the condition holds; returns the match."""
    while True:
        summary = (await table.match(match_id).state()).summary
        if holds(summary):
            return summary
        await asyncio.sleep(0.05)


async def until_another_runs(table: Table, game: str, before: str) -> None:
    """Wait until another match of the game is running."""
    while True:
        running = [summary.match_id async for summary in table.matches(game, MATCH_STATE_RUNNING)]
        if running and before not in running:
            return
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("game", list(current()))
def test_bots_open_a_match_sit_down_play_it_and_go_on(address: str, game: str) -> None:
    """One bot a seat plays match after match until it is stopped."""
    seats = current()[game].seats[0]

    async def scenario() -> None:
        async with bots(address, "--game", game, "--count", str(seats), "--seed", "1") as running:
            ended = await running.lines(seats)
            places = [
                re.fullmatch(rf"([a-z2-7]{{24}})  {game}  heuristic \d: place (\d) of {seats}", it) for it in ended
            ]
            assert None not in places
            assert 1 == len({place[1] for place in places if place})
            assert "1" in {place[2] for place in places if place}
            async with connect(address) as table:
                await until_another_runs(table, game, before=ended[0].split()[0])
            assert 0 == (await running.stop())[0]

    run(scenario)


def test_a_bot_joins_a_strangers_match_and_leaves_it_again_when_stopped(address: str) -> None:
    """Before the match begins a stopped bot leaves, and its seat is free again."""

    async def scenario() -> None:
        async with connect(address, name="Anna") as anna:
            match = await anna.open("raffzahn", 4, {"edition": "original"})
            await match.join(3)
            async with bots(address, "--game", "raffzahn", "--strategy", "random") as running:
                sat = await until(anna, match.id, lambda summary: summary.seats[0].taken)
                assert "random 1" == sat.seats[0].name
                assert 0 == (await running.stop())[0]
            left = (await match.state()).summary
            assert [False, False, False, True] == [seat.taken for seat in left.seats]

    run(scenario)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_bot_that_is_stopped_in_a_match_resigns(address: str, how: signal.Signals) -> None:
    """The others do not have to wait: with two seats the other one wins."""

    async def scenario() -> None:
        async with connect(address, name="Anna") as anna:
            match = await anna.open("cant_stop", 2, is_private=True)
            await match.join(0)
            words = ("--game", "cant_stop", "--match", match.id, "--invitation", match.invitation_code)
            async with bots(address, *words) as running:
                await match.ready()
                await until(anna, match.id, lambda summary: summary.state == MATCH_STATE_RUNNING)
                assert 0 == (await running.stop(how))[0]
            summary = await until(anna, match.id, lambda summary: summary.HasField("places"))
            assert [1, 2] == list(summary.places.places)

    run(scenario)


def test_the_bots_of_one_match_end_with_it(address: str) -> None:
    """With `--match` the bots play that match, with any options, and end with exit code 0."""

    async def scenario() -> None:
        async with connect(address) as anna:
            match = await anna.open("cant_stop", 2, {"hasty": True, "free_fields": True})
            words = ("--game", "cant_stop", "--strategy", "monte_carlo:playouts=1", "--count", "2")
            async with bots(address, *words, "--match", match.id, "--seed", "3") as running:
                assert (0, "") == await running.end()
                summary = (await match.state()).summary
                assert summary.HasField("places")

    run(scenario)


@pytest.mark.parametrize(
    ("bot", "why"), [("cheat", "chose 'to win', which is not legal"), ("breaking", "RuntimeError('no idea')")]
)
def test_a_bad_bot_is_named_and_resigns_and_others_play_on(address: str, tmp_path: Path, bot: str, why: str) -> None:
    """The bad bot stops and prints the place of its error; the exit code is 1 once the others are stopped."""

    async def scenario() -> None:
        async with connect(address, name="Anna") as anna:
            match = await anna.open("wuerfelzoo", 2)
            await match.join(0)
            words = ("--game", "wuerfelzoo", "--strategy", bot, "--match", match.id)
            async with bots(address, *words, env=installed(tmp_path)) as running:
                await match.ready()
                async for moment in match.play():
                    if moment.legal is not None:
                        await match.choose(next(iter(moment.legal)))
                code, errors = await running.end()
            assert 1 == code
            assert f"{bot} 1 stops: it " in errors
            assert why in errors
            assert (bot == "breaking") == ("in choose" in errors)
            assert [1, 2] == list((await match.state()).summary.places.places)

    run(scenario)


def test_a_match_that_cannot_be_played_is_said_to_be_so(address: str) -> None:
    """Exit code 3 if no match has the id, 1 if it has no free seat."""

    async def scenario() -> None:
        async with bots(address, "--game", "cant_stop", "--match", "a" * 24) as running:
            code, errors = await running.end()
            assert (3, True) == (code, "MATCH_NOT_FOUND" in errors)
        async with connect(address) as anna, connect(address) as ben:
            match = await anna.open("cant_stop", 2)
            await match.join()
            await ben.match(match.id).join()
            async with bots(address, "--game", "cant_stop", "--match", match.id) as running:
                code, errors = await running.end()
                assert (1, True) == (code, "SEATS_CLOSED" in errors)

    run(scenario)


def test_a_missing_service_is_told_with_what_to_do() -> None:
    """The command ends with exit code 3 and a hint, without a traceback."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        words = ("--service", f"127.0.0.1:{free.getsockname()[1]}", "--game", "cant_stop", "--count", "2")
        done = subprocess.run([*BOT, *words], capture_output=True, text=True, check=False)
    assert 3 == done.returncode
    assert "`rollbook serve` starts a service" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "--game"),
        (("--game", "chess"), "games: allie_gator"),
        (("--game", "cant_stop", "--strategy", "chess"), "strategies: "),
        (("--game", "cant_stop", "--strategy", "lightest_zoo"), "plays wuerfelzoo only"),
        (("--game", "cant_stop", "--count", "0"), "--count must be 1 to 100"),
        (("--game", "cant_stop", "--count", "101"), "--count must be 1 to 100"),
        (("--game", "cant_stop", "--count", "2", "--token", "x"), "--count 1 only"),
        (("--game", "cant_stop", "--invitation", "x"), "--match names"),
        (("--game", "cant_stop", "--seats", "7"), "seats: 2 to 4"),
        (("--game", "cant_stop", "--option", "hasty=maybe"), "allowed: false, true"),
    ],
)
def test_wrong_usage_is_explained_and_ends_with_64(words: tuple[str, ...], said: str) -> None:
    """The command calls no service and prints nothing on standard output."""
    done = subprocess.run([*BOT, *words], capture_output=True, text=True, check=False, env={**os.environ})
    assert (64, "") == (done.returncode, done.stdout)
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_certificates_that_cannot_be_read_are_said_to_be_so() -> None:
    """The message has the system's reason."""
    done = subprocess.run(
        [*BOT, "--game", "cant_stop", "--tls-ca", "/nowhere"], capture_output=True, text=True, check=False
    )
    assert (3, "/nowhere: No such file or directory\n") == (done.returncode, done.stderr)
