"""A caller in its own process that makes several concurrent calls over as many connections, again and again.

It reads its orders as a JSON object on standard input, prints a line after its first answers, and continues until
standard input ends. Then it prints the numbers of answered and refused calls.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from math import ceil
from typing import Any, Final

import grpc
from google.rpc.status_pb2 import Status

from rollbook.server.rpc.errors import DETAILS
from rollbook.v1.feed_pb2 import LobbyFrame, MatchFrame, WatchLobbyRequest, WatchMatchRequest
from rollbook.v1.match_pb2 import GetMatchRequest, ListMatchesRequest
from rollbook.v1.refusals_pb2 import RefusalDetail
from rollbook.v1.replay_pb2 import GetReplayRequest

SECONDS: Final = 60.0
BUSY_SECONDS: Final = 0.05
"""Pause before repeating a call that was refused without a time to wait."""

Call = Callable[[grpc.aio.Channel, str], Awaitable[None]]


def once(path: str, request: Any) -> Call:
    """Return a call with one answer."""

    async def call(channel: grpc.aio.Channel, token: str) -> None:
        stub: Any = channel.unary_unary(path)
        await stub(request.SerializeToString(), metadata=(("authorization", token),), timeout=SECONDS)

    return call


def until(path: str, request: Any, is_last: Callable[[bytes], bool]) -> Call:
    """Return a call that reads answers up to a given one and is cancelled then."""

    async def call(channel: grpc.aio.Channel, token: str) -> None:
        stub: Any = channel.unary_stream(path)
        answers = stub(request.SerializeToString(), metadata=(("authorization", token),), timeout=SECONDS)
        while (answer := await answers.read()) is not grpc.aio.EOF:
            if is_last(answer):
                break
        answers.cancel()

    return call


def calls(what: dict[str, Any]) -> dict[str, Call]:
    """Return each kind of call by its name."""
    match_id = what["match_id"]
    return {
        "GetMatch": once("/rollbook.v1.MatchService/GetMatch", GetMatchRequest(match_id=match_id)),
        "ListMatches": once("/rollbook.v1.MatchService/ListMatches", ListMatchesRequest(page_size=200)),
        "WatchLobby": until(
            "/rollbook.v1.FeedService/WatchLobby",
            WatchLobbyRequest(),
            lambda frame: LobbyFrame.FromString(frame).snapshot.last,
        ),
        "WatchMatch": until(
            "/rollbook.v1.FeedService/WatchMatch",
            WatchMatchRequest(match_id=match_id),
            lambda frame: MatchFrame.FromString(frame).HasField("caught_up"),
        ),
        "GetReplay": until(
            "/rollbook.v1.ReplayService/GetReplay", GetReplayRequest(match_id=match_id), lambda _part: False
        ),
    }


def retry_seconds(error: grpc.aio.AioRpcError) -> float:
    """Seconds until a refused call may be repeated; raises any error other than RESOURCE_EXHAUSTED."""
    if error.code() is not grpc.StatusCode.RESOURCE_EXHAUSTED:
        raise error
    found = [value for key, value in error.trailing_metadata() or () if key == DETAILS]
    detail = RefusalDetail()
    if found and isinstance(found[0], bytes):
        Status.FromString(found[0]).details[1].Unpack(detail)
    return int(detail.facts.get("retry_after_ms", "0")) / 1_000 or BUSY_SECONDS


async def attack(what: dict[str, Any]) -> Counter[str]:
    """Make this many concurrent calls at this rate, each over its own connection."""
    counted: Counter[str] = Counter()
    call, begun = calls(what)[what["call"]], asyncio.Event()

    period, began = what["at_once"] / what["rate"], time.monotonic()

    async def again_and_again() -> None:
        due = began
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.max_receive_message_length", -1)]
        async with grpc.aio.insecure_channel(what["address"], options=options) as channel:
            while True:
                await asyncio.sleep(due - time.monotonic())
                # A caller that is late, because its calls take turns, does not hurry afterwards.
                due += max(1, ceil((time.monotonic() - due) / period)) * period
                try:
                    await call(channel, what["token"])
                    counted["answered"] += 1
                except grpc.aio.AioRpcError as error:
                    counted["refused"] += 1
                    await asyncio.sleep(retry_seconds(error))
                begun.set()

    loops = [asyncio.create_task(again_and_again()) for _ in range(what["at_once"])]
    ended = asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await asyncio.wait({asyncio.ensure_future(begun.wait()), *loops}, return_when=asyncio.FIRST_COMPLETED)
    print(json.dumps("begun"), flush=True)
    counted.clear()
    await asyncio.wait({ended, *loops}, return_when=asyncio.FIRST_COMPLETED)
    for loop in loops:
        if loop.done():
            loop.result()
        loop.cancel()
    return counted


def main() -> None:
    """Attack, and print the numbers of answered and refused calls."""
    # As on another machine: the caller's own work must not take time from the service.
    os.nice(10)
    print(json.dumps(asyncio.run(attack(json.loads(sys.stdin.readline())))), flush=True)


if __name__ == "__main__":
    main()
