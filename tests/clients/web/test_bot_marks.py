"""Bots are marked by what the service sends, on the page beside the name."""

from __future__ import annotations

from rollbook_clients.web.app import create_app
from rollbook_clients.web.visit import PageOptions
from rollbook_clients.web.visitors import Visitor
from tests.clients.sdk.tables import address, run, tables
from tests.clients.web.streaming import listening, stream_of
from tests.server.feeds.watching import Theatre


def test_a_bot_is_marked_with_its_strength_and_a_person_never() -> None:
    """Whatever the names are: the second seat is that of a bot, by its token's subject."""

    async def scenario(theatre: Theatre) -> None:
        app = create_app(PageOptions(address(theatre), token=theatre.token("Page")))
        async with tables(theatre, "Anna", "house-uno") as (anna, uno), app.router.lifespan_context(app):
            match = await anna.open("cant_stop", seats=2)
            await match.join()
            await uno.match(match.id).join()
            async with listening(app, stream_of(match.id)) as stream:
                _, body = await stream.next()
                assert b'<span class="note bot">bot, weak</span>' in body
                assert 1 == body.count(b"note bot")

    run(scenario)


def test_the_page_joins_double_spaces() -> None:
    """A slip of the finger is not refused; joiners that a script needs stay in the name."""
    visitor = Visitor(b"", name="Anna")
    for typed, name in (("  Tom   Berg ", "Tom Berg"), ("\u200b", "Tom Berg"), ("क्\u200dष", "क्\u200dष")):
        visitor.rename(typed)
        assert name == visitor.name
