"""As a program: `rollbook serve` in this process, and the await chain of one Choose in it, a line for each frame."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from types import CoroutineType
from typing import Any

import grpc

import rollbook
from rollbook.event_loop import run
from rollbook.identity.tokens import Issuer
from rollbook.server import log_output
from rollbook.server.app import assemble
from rollbook.server.configuration.limit_table import Limits
from rollbook.server.configuration.settings import Settings
from rollbook.server.process.lifecycle import Assembly, Foundation, serve
from rollbook.server.process.ports import Listening
from rollbook.server.timers.store_clock import now_ms
from rollbook.v1.table_pb2 import Position
from tests.server.rpc.talking import Clock, World, some_choice

HANDLER = "server/rpc/match.py:Choose"
SENDER = "storage/redis/dispatch.py:append"
"""The last frame: it awaits the future that the store's reply settles."""


async def nothing() -> None:
    """A coroutine that returns at once."""


with closing(nothing()) as coroutine:
    WRAPPER = type(coroutine.__await__())
    """What gRPC awaits: it wraps the handler's coroutine, and has no `cr_await`."""


class Outside(World):
    """The callers of a service that this process serves."""

    def __init__(self, issuer: Issuer, channel: grpc.aio.Channel) -> None:
        self.issuer, self.channel = issuer, channel
        self.clock, self.requests = Clock(), count(1)
        self.clock.ms = now_ms()

    def check_made(self, made: Any) -> Any:
        """Check nothing: the keys are the service's."""


def chain(awaitable: Any) -> Iterator[str]:
    """The frames of Python coroutines between this awaitable and the future that it waits for."""
    while awaitable is not None:
        if isinstance(awaitable, CoroutineType):
            code = awaitable.cr_code
            yield f"{code.co_filename.removeprefix(f'{Path(rollbook.__file__).parent}/')}:{code.co_name}"
        if type(awaitable) is WRAPPER:
            (awaitable,) = gc.get_referents(awaitable)
        else:
            awaitable = getattr(awaitable, "cr_await", None)


async def watch(chosen: asyncio.Future[Any]) -> list[str]:
    """Look at the tasks in each turn of the loop; return the chain of the Choose while it waits for the store."""
    while not chosen.done():
        for task in asyncio.all_tasks():
            frames = list(chain(task.get_coro()))
            if HANDLER in frames and frames[-1] == SENDER:
                return frames
        await asyncio.sleep(0)
    return []


async def choose(issuer: Issuer, address: str) -> list[str]:
    """Play a match until a player chooses; return the chain of that Choose."""
    async with grpc.aio.insecure_channel(address) as channel:
        world = Outside(issuer, channel)
        match_id, people = await world.started()
        player, look = await world.awaited(match_id, people)
        position = Position(sequence=look.head.sequence, link=look.head.link)
        chosen = asyncio.ensure_future(player.choose(match_id, some_choice(look.legal), position))
        frames = await watch(chosen)
        await chosen
        return frames


async def main(data: Path) -> None:
    """Serve from this data directory until the chain is known."""
    issuers: list[Issuer] = []
    asked: list[asyncio.Task[None]] = []

    async def assemble_and_keep(foundation: Foundation) -> Assembly:
        issuers.append(Issuer(foundation.keys.token.private))
        return await assemble(foundation)

    async def ask(address: str) -> None:
        try:
            print(*await choose(issuers[0], address), sep="\n")
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    def begin(listening: Listening) -> None:
        asked.append(asyncio.create_task(ask(str(listening.address))))

    settings = Settings.read(data=data, listen="127.0.0.1:0", web="off", limits=Limits(house_seats=0))
    await serve(settings, assemble_and_keep, begin)
    await asked[0]


if __name__ == "__main__":
    log_output.configure("warning")
    run(main(Path(sys.argv[1])))
