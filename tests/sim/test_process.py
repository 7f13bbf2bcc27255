"""A killed process does nothing more, and has no memory when it starts again."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

import pytest

from rollbook.identity.tokens import Role
from rollbook.v1.cant_stop_pb2 import CantStopOptions
from rollbook.v1.games_pb2 import Options
from rollbook.v1.match_pb2 import GetMatchRequest, OpenMatchRequest
from tests.sim.client import Client
from tests.sim.clock import SimulatedLoop
from tests.sim.process import Gone, Process
from tests.sim.world import Made, World, closed_off

PATIENCE_SECONDS = 10.0
MOST_STEPS = 20
"""More steps than opening a match takes, with the background tasks."""


def play(scenario: Callable[[World, Process, Client], Awaitable[None]]) -> None:
    """Run the scenario in a world without other activity."""
    loop = SimulatedLoop(random.Random(0))
    world = World(0, loop, steps=None, also=(), made_of=Made())

    async def main() -> None:
        process = world.processes[0]
        await process.start()
        client = world.client("somebody", Role.PLAYER)
        client.go_to(process)
        await scenario(world, process, client)
        world.kill_all()

    with closed_off(world), asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(main())


def opening(request_id: str) -> OpenMatchRequest:
    """A request for some match."""
    return OpenMatchRequest(request_id=request_id, seats=2, options=Options(cant_stop=CantStopOptions()))


def test_whoever_waits_for_a_process_that_is_killed_gets_no_answer() -> None:
    """Whether the request was carried out depends on the step of the kill."""

    async def scenario(world: World, process: Process, client: Client) -> None:
        del client
        stored = set()
        for number in range(10 * MOST_STEPS):
            somebody = world.client(f"somebody-{number}", Role.PLAYER)
            before = len(world.store.log._streams)
            process.fuse = 1 + number % MOST_STEPS
            try:
                await process.answer("OpenMatch", opening(f"request-{number}"), somebody.token, PATIENCE_SECONDS)
            except Gone:
                await asyncio.sleep(1.0)
                stored.add(len(world.store.log._streams) - before)
                await process.start()
            process.fuse = None
            if {0, 1} == stored:
                break
        assert {0, 1} == stored

    play(scenario)


def test_a_process_that_was_killed_appends_nothing_more() -> None:
    """A killed process appends nothing, not even while its tasks are cancelled."""

    async def scenario(world: World, process: Process, client: Client) -> None:
        opened = await client.call_once("OpenMatch", opening("request-1"))
        before = len(world.history.seen)
        process.kill()
        with pytest.raises(Gone):
            await process.answer("GetMatch", GetMatchRequest(match_id=opened.match_id), client.token, 1.0)
        await asyncio.sleep(60.0)
        assert before == len(world.history.seen)
        assert not process.is_up

    play(scenario)


def test_a_process_that_starts_again_knows_what_is_stored() -> None:
    """It reads a match only when a client asks for it."""

    async def scenario(world: World, process: Process, client: Client) -> None:
        opened = await client.call_once("OpenMatch", opening("request-1"))
        process.kill()
        await process.start()
        looked = await client.call_once("GetMatch", GetMatchRequest(match_id=opened.match_id))
        assert opened.made.head == looked.head
        world.store.delete(opened.match_id)
        process.kill()
        await process.start()
        again = await client.call_once("OpenMatch", opening("request-2"))
        assert again.match_id != opened.match_id

    play(scenario)
