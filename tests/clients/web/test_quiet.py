"""A match without events: the page sends its table once, then only heartbeats, while its clocks run."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.types import Message

from rollbook.server.feeds import feed
from rollbook_clients.sdk import Events, Frame, RollbookError
from rollbook_clients.web import followed
from rollbook_clients.web.app import create_app
from rollbook_clients.web.visit import PageOptions
from tests.clients.sdk.tables import address, run, running, tables, turn
from tests.server.feeds.watching import Theatre

SIGN = b"event: beat\ndata: {}\n\n"
END = b""
SERVICE_BEAT_SECONDS = 0.05
SIGN_SECONDS = 0.5


@asynccontextmanager
async def listening(app: Starlette, path: str) -> AsyncIterator[asyncio.Queue[bytes]]:
    """The chunks that a client of this path receives."""
    sent: asyncio.Queue[bytes] = asyncio.Queue()
    scope: dict[str, Any] = {
        "type": "http",
        "method": "GET",
        "path": path,
        "query_string": b"",
        "headers": [],
        "client": None,
    }

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError("nobody hangs up")

    async def send(message: Message) -> None:
        if message["type"] == "http.response.body" and (message["body"] or not message.get("more_body")):
            sent.put_nowait(message["body"])

    task = asyncio.create_task(app(scope, receive, send))
    try:
        yield sent
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def table(sent: asyncio.Queue[bytes]) -> tuple[int, bytes]:
    """Return the next table sent, and the number of heartbeats before it."""
    signs = 0
    while not (body := await sent.get()).startswith(b"id: "):
        assert body == SIGN
        signs += 1
    return signs, body


@pytest.mark.parametrize("turn_seconds", [0, 3_600])
def test_beats_of_the_service_redraw_nothing(turn_seconds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With and without clocks: the next choice is sent at once, and a late visitor sees the current time left."""
    monkeypatch.setattr(feed, "BEAT_SECONDS", SERVICE_BEAT_SECONDS)
    monkeypatch.setattr(followed, "BEAT_SECONDS", SIGN_SECONDS)
    # The service's clock is frozen here.
    monkeypatch.setattr(followed, "DRIFT_MS", 600_000)

    async def scenario(theatre: Theatre) -> None:
        options = PageOptions(address(theatre), token=theatre.token("Page"))
        app = create_app(options)
        async with tables(theatre, "Anna", "Ben") as players, app.router.lifespan_context(app):
            matches = await running(players, turn_seconds=turn_seconds)
            path = f"/matches/{matches[0].id}/stream"
            async with listening(app, path) as sent:
                _, first = await table(sent)
                while (body := await sent.get()) != SIGN:
                    # The first heartbeat brings the clock of the awaited seat.
                    first = body
                for _ in range(4):
                    # Ten heartbeats of the service precede each of them.
                    assert SIGN == await sent.get()
                async with listening(app, path) as late:
                    _, then = await table(late)
                assert _without_clocks(first) == _without_clocks(then)
                assert (turn_seconds == 0) == (_without_id(first) == _without_id(then))
                match, moment = await turn(matches)
                assert moment.legal
                await match.choose(next(iter(moment.legal)))
                _, second = await table(sent)
                assert first != second

    run(scenario)


def test_a_match_that_cannot_be_followed_any_further_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the stream breaks off, the next one starts with the current table."""
    failing = [RollbookError("refused")]
    usual = followed.FollowedMatch._take

    async def fails(self: followed.FollowedMatch, frame: Frame) -> None:
        if isinstance(frame, Events) and self.position is not None and failing:
            raise failing.pop()
        await usual(self, frame)

    monkeypatch.setattr(followed.FollowedMatch, "_take", fails)

    async def scenario(theatre: Theatre) -> None:
        app = create_app(PageOptions(address(theatre), token=theatre.token("Page")))
        async with tables(theatre, "Anna", "Ben") as players, app.router.lifespan_context(app):
            matches = await running(players)
            path = f"/matches/{matches[0].id}/stream"
            async with listening(app, path) as sent:
                _, first = await table(sent)
                match, moment = await turn(matches)
                assert moment.legal
                await match.choose(next(iter(moment.legal)))
                last = b""
                while (body := await sent.get()) != END:
                    last = body
                assert b"event: end" not in last
            async with listening(app, path) as sent:
                _, second = await table(sent)
            assert _position(first) < _position(second)

    run(scenario)


def _position(body: bytes) -> int:
    found = re.search(rb'data-position="(\d+)"', body)
    assert found is not None
    return int(found[1])


def _without_id(body: bytes) -> bytes:
    return body.partition(b"\n")[2]


def _without_clocks(body: bytes) -> bytes:
    return re.sub(rb'data-left="\d+"', b"", _without_id(body))
