"""A match without events: the page sends its table once, then only heartbeats, while its clocks run."""

from __future__ import annotations

import re

import pytest

from rollbook.server.feeds import feed
from rollbook_clients.sdk import Events, Frame, RollbookError
from rollbook_clients.web import followed
from rollbook_clients.web.app import create_app
from rollbook_clients.web.visit import PageOptions
from tests.clients.sdk.tables import address, run, running, tables, turn
from tests.clients.web.streaming import listening, stream_of
from tests.server.feeds.watching import Theatre

SERVICE_BEAT_SECONDS = 0.05
SIGN_SECONDS = 0.5


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
            path = stream_of(matches[0].id)
            async with listening(app, path) as stream:
                _, first = await stream.next()
                while (state := await stream.get()) is not None:
                    # The first heartbeat brings the clock of the awaited seat.
                    first = state.encode()
                for _ in range(4):
                    # Ten heartbeats of the service precede each of them.
                    assert await stream.get() is None
                async with listening(app, path) as late:
                    _, then = await late.next()
                assert _without_clocks(first) == _without_clocks(then)
                match, moment = await turn(matches)
                assert moment.legal
                await match.choose(next(iter(moment.legal)))
                _, second = await stream.next()
                assert _position(first) < _position(second)

    run(scenario)


def test_a_match_that_cannot_be_followed_any_further_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the stream breaks off, the next one starts with the current table."""
    failing = [RollbookError("refused")]
    usual = followed.FollowedMatch._take

    async def fails(self: followed.FollowedMatch, frame: Frame) -> None:
        if isinstance(frame, Events) and self._is_ready.is_set() and failing:
            raise failing.pop()
        await usual(self, frame)

    monkeypatch.setattr(followed.FollowedMatch, "_take", fails)

    async def scenario(theatre: Theatre) -> None:
        app = create_app(PageOptions(address(theatre), token=theatre.token("Page")))
        async with tables(theatre, "Anna", "Ben") as players, app.router.lifespan_context(app):
            matches = await running(players)
            path = stream_of(matches[0].id)
            async with listening(app, path) as stream:
                _, first = await stream.next()
                match, moment = await turn(matches)
                assert moment.legal
                await match.choose(next(iter(moment.legal)))
                while "status" not in stream.last:
                    await stream.get()
                # Browsers connect again after this status.
                assert 503 == stream.last["status"]
            async with listening(app, path) as stream:
                _, second = await stream.next()
            assert _position(first) < _position(second)

    run(scenario)


def _position(body: bytes) -> int:
    found = re.search(rb'data-position="(\d+)"', body)
    assert found is not None
    return int(found[1])


def _without_clocks(body: bytes) -> bytes:
    return re.sub(rb' data-left="\d+"', b"", body)
