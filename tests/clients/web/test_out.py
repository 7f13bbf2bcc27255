"""The page's words for players who leave a match early."""

from __future__ import annotations

from rollbook_clients.web.app import create_app
from rollbook_clients.web.visit import PageOptions
from tests.clients.sdk.tables import address, run, running, tables
from tests.clients.web.streaming import listening, stream_of
from tests.server.feeds.watching import Theatre


def test_who_resigns_has_resigned_and_a_bot_plays_on_until_the_end() -> None:
    """After the end the page does not show that a bot plays for a seat."""

    async def scenario(theatre: Theatre) -> None:
        app = create_app(PageOptions(address(theatre), token=theatre.token("Page")))
        async with tables(theatre, "Anna", "Ben", "Cleo") as players, app.router.lifespan_context(app):
            matches = await running(players)
            async with listening(app, stream_of(matches[0].id)) as stream:
                await stream.next()
                await matches[0].resign()
                while b">resigned; a bot plays on<" not in (body := (await stream.next())[1]):
                    assert b"resigned;" not in body
                await matches[1].resign()
                while b'id="after"' not in (body := (await stream.next())[1]):
                    pass
                assert 2 == body.count(b">resigned<")
                assert b"a bot plays on" not in body

    run(scenario)
