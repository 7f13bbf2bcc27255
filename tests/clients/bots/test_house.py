"""The house's bots at tables with strangers; `rollbook serve --demo` tests their process."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from rollbook import processes
from rollbook.match.chain import entropy_commitment
from rollbook.rules.catalogue import current
from rollbook.server.timers.sweeper import SPARED_MS
from rollbook.v1.match_pb2 import (
    MATCH_STATE_ABORTED,
    MATCH_STATE_FINISHED,
    MATCH_STATE_GETTING_READY,
    MATCH_STATE_RUNNING,
    GetMatchResponse,
)
from rollbook_clients.bots.house import READY_SECONDS, SEATS, TURN_SECONDS, House, request_id
from rollbook_clients.sdk import Unauthenticated, connect
from tests.clients.sdk.tables import QUICK, address, run
from tests.ports import free_port
from tests.server.feeds.watching import Theatre
from tests.server.rpc.talking import Person

POLL_SECONDS = 0.02
PAUSE_SECONDS = 0.01
NAMES = ("house-anna", "house-tom", "house-willi", "house-heike")
GAME = "cant_stop"

Said = list[tuple[str, str, dict[str, str]]]


@asynccontextmanager
async def playing(theatre: Theatre) -> AsyncIterator[tuple[asyncio.Task[None], Said]]:
    """Run house bots with short pauses at this theatre; yields their task and their log lines."""
    said: Said = []

    def tell(level: str, event: str, /, **facts: str) -> None:
        said.append((level, event, facts))

    async with AsyncExitStack() as stack:
        tables = [
            await stack.enter_async_context(
                connect(
                    address(theatre),
                    name=name.capitalize(),
                    token=theatre.token(name),
                    secret=name.encode(),
                    patience=QUICK,
                )
            )
            for name in NAMES
        ]
        task = asyncio.create_task(House(tables, PAUSE_SECONDS, tell).play())
        try:
            yield task, said
        finally:
            task.cancel()
            await asyncio.wait({task})


async def seen(person: Person, match_id: str, condition: Callable[[GetMatchResponse], bool]) -> GetMatchResponse:
    """Poll a match until it meets the condition."""
    while True:
        look: GetMatchResponse = await person.look(match_id)
        if condition(look):
            return look
        await asyncio.sleep(POLL_SECONDS)


async def played(person: Person, game: str = GAME, *, beside: str = "") -> None:
    """Wait until another match of the game has begun."""
    while True:
        for match in (await person.call("ListMatches", game=game)).matches:
            if match.match_id != beside and match.state in {MATCH_STATE_RUNNING, MATCH_STATE_FINISHED}:
                return
        await asyncio.sleep(POLL_SECONDS)


async def with_a_stranger(theatre: Theatre) -> tuple[str, Person]:
    """Open a match as a house that was then killed, with a stranger on its first seat."""
    house, stranger = theatre.person("house-anna"), theatre.person("stranger")
    opened = await house.open(
        GAME,
        SEATS,
        ruleset=current()[GAME].version,
        turn_seconds=TURN_SECONDS,
        ready_seconds=READY_SECONDS,
        request_id=request_id(GAME, current()[GAME].version, SEATS, ""),
    )
    await stranger.call("TakeSeat", match_id=opened.match_id)
    return opened.match_id, stranger


def test_a_stranger_who_was_faster_at_a_seat_plays_with_the_bots() -> None:
    """The bots wait for the stranger, and play on after the stranger has resigned."""

    async def scenario(theatre: Theatre) -> None:
        match_id, stranger = await with_a_stranger(theatre)
        async with playing(theatre):
            await seen(stranger, match_id, lambda look: look.summary.state == MATCH_STATE_GETTING_READY)
            closing = (await theatre.service.replicas.ledger(match_id)).closing
            assert closing is not None
            await stranger.call("Ready", match_id=match_id, closing_link=closing.link)
            await seen(stranger, match_id, lambda look: look.HasField("legal"))
            await stranger.call("Resign", match_id=match_id)
            over = await seen(stranger, match_id, lambda look: look.summary.state == MATCH_STATE_FINISHED)
            assert [True, False, False] == [seat.forfeited for seat in over.summary.seats]

    run(scenario)


def test_a_stranger_who_does_nothing_does_not_stop_the_demo() -> None:
    """The match with the stranger is aborted when its time is over, and the bots open another one."""

    async def scenario(theatre: Theatre) -> None:
        match_id, stranger = await with_a_stranger(theatre)
        async with playing(theatre):
            bots_wait = [False, True, True]
            await seen(stranger, match_id, lambda look: bots_wait == [seat.ready for seat in look.summary.seats])
            theatre.clock.ms += READY_SECONDS * 1_000
            sweeper = theatre.service.sweeper()
            for _ in range(SPARED_MS // 1_000 + 1):
                await sweeper.sweep()
                theatre.clock.ms += 1_000
            assert MATCH_STATE_ABORTED == (await stranger.look(match_id)).summary.state
            await played(stranger, beside=match_id)

    run(scenario)


def test_strangers_who_take_every_seat_have_the_match_to_themselves() -> None:
    """The bots open another match."""

    async def scenario(theatre: Theatre) -> None:
        match_id, stranger = await with_a_stranger(theatre)
        for name in ("second", "third"):
            await theatre.person(name).call("TakeSeat", match_id=match_id)
        async with playing(theatre):
            await played(stranger, beside=match_id)
            look = await stranger.look(match_id)
            assert [False] * SEATS == [seat.ready for seat in look.summary.seats]

    run(scenario)


def test_a_match_that_the_bots_cannot_play_does_not_end_the_house() -> None:
    """The bots log and drop that match, open another one, and continue with the other games."""

    async def scenario(theatre: Theatre) -> None:
        match_id, stranger = await with_a_stranger(theatre)
        for name in NAMES[: SEATS - 1]:
            # The commitment is by a house with other secrets.
            commitment = entropy_commitment(bytes(32))
            await theatre.person(name).call("TakeSeat", match_id=match_id, entropy_commitment=commitment)
        async with playing(theatre) as (task, said):
            for game in current():
                await played(stranger, game, beside=match_id)
            assert not task.done()
            (given_up,) = [(event, facts) for level, event, facts in said if level == "error"]
            assert ("the demo gives up a match", match_id) == (given_up[0], given_up[1]["match"])

    run(scenario)


def test_the_house_ends_when_its_tokens_do() -> None:
    """The process that started the house has to give it new tokens."""

    async def scenario(theatre: Theatre) -> None:
        async with playing(theatre) as (task, said):
            await played(theatre.person("looker-on"))
            theatre.clock.ms += 10**6 * 1_000
            with pytest.raises(ExceptionGroup) as ended:
                await task
            refused, rest = ended.value.split(Unauthenticated)
            assert (True, None) == (refused is not None, rest)
            assert "error" not in {level for level, _, _ in said}

    run(scenario)


@pytest.mark.parametrize("question", [b"", processes.frame(b"{}")[:-1]], ids=["nothing", "cut off"])
def test_a_house_without_instructions_ends(question: bytes) -> None:
    """A service that died during the start sends no instructions."""
    words = processes.command("house")
    assert words is not None
    done = subprocess.run(words, input=question, capture_output=True, check=False)
    assert (3, b"", b"") == (done.returncode, done.stdout, done.stderr)


def test_a_house_that_finds_no_service_ends() -> None:
    """Its parent starts it again, with longer and longer pauses."""
    instructions = {
        "address": f"127.0.0.1:{free_port()}",
        "certificates": None,
        "server_name": "",
        "pause_seconds": 1,
        "bots": [{"name": "Anna", "token": "none", "secret": "00"}],
    }
    frame = processes.frame(json.dumps(instructions).encode())
    done = subprocess.run([sys.executable, "-m", "rollbook", "house"], input=frame, capture_output=True, check=False)
    assert (3, b"", b"") == (done.returncode, done.stdout, done.stderr)
