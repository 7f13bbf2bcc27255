"""Bots are marked by what the service sends or a file records, beside the name."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from rollbook.replay_file.container import read
from rollbook_clients.terminal.film import Film
from rollbook_clients.terminal.screens.replay import ReplayScreen
from rollbook_clients.terminal.texts import words_in
from rollbook_clients.web.app import create_app
from rollbook_clients.web.replay_pages import film_of
from rollbook_clients.web.visit import PageOptions
from rollbook_clients.web.visitors import Visitor
from tests.clients.sdk.tables import address, run, tables
from tests.clients.terminal.pictures import screen_lines
from tests.clients.terminal.test_layout import until
from tests.clients.terminal.test_screens import on_screen
from tests.clients.web.streaming import listening, stream_of
from tests.server.feeds.watching import Theatre
from tests.server.lobby.archives import Keeper
from tests.server.lobby.archives import run as with_archive


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


async def finished(theatre: Theatre) -> tuple[str, bytes]:
    """A match of a person against a bot, which the person has given up, and its file."""
    async with tables(theatre, "Anna", "house-uno") as (anna, uno):
        match = await anna.open("cant_stop", seats=2)
        await match.join()
        of_bot = uno.match(match.id)
        await of_bot.join()
        await asyncio.gather(match.ready(), of_bot.ready())
        await match.resign()
        return match.id, await match.replay()


def test_a_replay_marks_the_bot_of_a_match_and_of_an_uploaded_file(tmp_path: Path) -> None:
    """From the file, which records that the seat is a bot and not how well it plays."""

    async def scenario(theatre: Keeper) -> None:
        match_id, data = await finished(theatre)
        app = create_app(PageOptions(address(theatre), token=theatre.token("Page")))
        async with app.router.lifespan_context(app):
            for path in (f"/matches/{match_id}/replay", f"/replays/{film_of(data)[0]}"):
                async with listening(app, path) as sent:
                    assert 1 == (await sent.chunk()).count(b'<span class="note bot">bot</span>')

    with_archive(scenario, tmp_path)


def test_the_replay_in_the_terminal_marks_the_bot(tmp_path: Path) -> None:
    """Behind its name, which no person can choose."""
    files: list[bytes] = []

    async def scenario(theatre: Keeper) -> None:
        files.append((await finished(theatre))[1])

    async def does(pilot: Pilot[Any]) -> None:
        await until(pilot, lambda: 1 == screen_lines(pilot.app).count("(bot)"))

    with_archive(scenario, tmp_path)
    on_screen(ReplayScreen(Film(read(files[0]).replay), words_in("en")), does)


def test_the_page_joins_double_spaces() -> None:
    """A slip of the finger is not refused; joiners that a script needs stay in the name."""
    visitor = Visitor(b"", name="Anna")
    for typed, name in (("  Tom   Berg ", "Tom Berg"), ("\u200b", "Tom Berg"), ("क्\u200dष", "क्\u200dष")):
        visitor.rename(typed)
        assert name == visitor.name
