"""The processor time of calls in a service, beside the points that they use."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import grpc

from rollbook.server.access import limits
from rollbook.v1 import feed_pb2, replay_pb2
from rollbook.v1.feed_pb2_grpc import FeedServiceStub
from rollbook.v1.replay_pb2_grpc import ReplayServiceStub
from tests.bench import results
from tests.bench.one_caller.size import Size
from tests.bench.peers.rounds import spent
from tests.bench.peers.service import parts, serving
from tests.bench.peers.tables import Tables
from tests.bench.scale.site import filled, played_on
from tests.server.serving import Service

FEW: Final = 5
"""Number of measured calls of a slow kind."""

AT_ONCE: Final = 4

Costly = tuple[str, float, int, Callable[[], Any]]
"""A call in words, its points, how often it is made, and its function."""


def costs_of_calls(size: Size, said: Callable[[str], None]) -> list[str]:
    """Return a table of the server's processor time for each call, relative to a GetMatch, beside its points."""
    rows: list[list[str]] = []
    with serving() as service, service.channel() as channel:
        filled(service, size.listed, running=False)
        base = 0.0
        for name, points, times, call in _calls(service, channel, size):
            call()
            before = spent(parts(service)["server"])
            with ThreadPoolExecutor(AT_ONCE) as pool:
                for made in [pool.submit(call) for _ in range(times)]:
                    made.result()
            micros = (spent(parts(service)["server"]) - before) / times * 1e6
            base = base or micros
            rows.append([name, f"{micros:,.0f}", f"{micros / base:.1f}", f"{points:.1f}"])
            said(", ".join(rows[-1]))
    heads = (f"a call, {AT_ONCE} at once", "server µs", "GetMatch = 1", "points")
    return results.table(heads, rows)


def _calls(service: Service, channel: grpc.Channel, size: Size) -> list[Costly]:
    tables = Tables(channel)
    token, other = tables.guest(), tables.guest()
    metadata = (("authorization", token),)
    feeds, replays = FeedServiceStub(channel), ReplayServiceStub(channel)
    short, long = (tables.started([token, other])["match_id"] for _ in range(2))
    played_on(service, long, size.events)
    opened: list[str] = []
    left = iter(opened)

    def lobby() -> None:
        answers: Any = feeds.WatchLobby(feed_pb2.WatchLobbyRequest(), metadata=metadata, timeout=60)
        next(frame for frame in answers if frame.snapshot.last)
        answers.cancel()

    def watch(match_id: str) -> None:
        answers: Any = feeds.WatchMatch(feed_pb2.WatchMatchRequest(match_id=match_id), metadata=metadata, timeout=60)
        next(frame for frame in answers if frame.HasField("caught_up"))
        answers.cancel()

    def replay(match_id: str) -> None:
        request = replay_pb2.GetReplayRequest(match_id=match_id)
        for _ in replays.GetReplay(request, metadata=metadata, timeout=60):
            pass

    def page(number: int) -> Callable[[], Any]:
        return lambda: tables.call("ListMatches", token, page_size=number)

    rows, events = size.listed / limits.LOBBY_ROWS_A_POINT, size.events
    read, few = events / limits.EVENTS_A_POINT + events / limits.SENT_EVENTS_A_POINT, min(FEW, size.calls)
    return [
        ("GetMatch", 1, size.calls, lambda: tables.call("GetMatch", token, match_id=short)),
        ("GetMatch of a long match", 1, size.calls, lambda: tables.call("GetMatch", token, match_id=long)),
        *[
            (f"ListMatches, page of {most}", 1 + most / limits.ROWS_A_POINT, FEW * few, page(most))
            for most in (1, 50, 200)
        ],
        ("WatchLobby", limits.LOBBY_POINTS + rows, FEW * few, lobby),
        ("WatchMatch", limits.STREAM_POINTS, size.calls, lambda: watch(short)),
        (f"WatchMatch, {events:,} events", limits.STREAM_POINTS + read, few, lambda: watch(long)),
        ("GetReplay", limits.STREAM_POINTS, size.calls, lambda: replay(short)),
        (f"GetReplay, {events:,} events", limits.STREAM_POINTS + read, few, lambda: replay(long)),
        ("OpenMatch", limits.OPEN_POINTS, size.calls, lambda: opened.append(tables.open(token))),
        ("TakeSeat", limits.OPEN_POINTS, size.calls, lambda: tables.call("TakeSeat", token, match_id=next(left))),
        ("LeaveSeat", limits.LIFE_POINTS, size.calls, lambda: tables.call("LeaveSeat", token, match_id=opened.pop())),
    ]
