"""One stream a browser: all tabs follow, also without shared workers, after a freeze, and after refusals."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

from playwright.async_api import Browser

from rollbook_clients.sdk import Match
from rollbook_clients.web.app import create_app
from rollbook_clients.web.visit import PageOptions
from rollbook_clients.web.words import words_in
from tests.clients.sdk.tables import address, running, tables
from tests.clients.sdk.tables import run as on_theatre
from tests.clients.web.browsing import Person, chromium, needs_chromium, served_page
from tests.clients.web.streaming import listening
from tests.clients.web.test_what_leaves import choices
from tests.clients.web.wire import Wire, wire_to
from tests.server.feeds.watching import Theatre
from tests.server.test_whole_service import run

SEED = int(os.environ.get("ROLLBOOK_SEED", "6"))
TABS = 8
REACHED = "position => Number(document.getElementById('table').dataset.position) >= position"

pytestmark = needs_chromium


@asynccontextmanager
async def watched(folder: Path, matches: int = 1) -> AsyncIterator[tuple[Browser, Wire, list[list[Match]]]]:
    """A browser, its wire to a page, and running matches."""
    print("seed", SEED)
    async with (
        served_page(folder) as (service, web),
        tables(service.address, "Anna", "Ben") as players,
        wire_to(web.port) as wire,
        chromium() as browser,
    ):
        yield browser, wire, [await running(players) for _ in range(matches)]


async def happen(seated: list[Match], number: int) -> int:
    """Make choices; returns the position after them."""
    await choices(seated, number, Random(SEED))
    return (await seated[0].state()).position.sequence


async def until_one_stream(wire: Wire) -> None:
    """Wait until all tabs share one stream."""
    while len(wire.streams) != 1:  # noqa: ASYNC110 - the browser sets no events
        await asyncio.sleep(0.05)


def test_each_topic_has_the_language_of_its_tab() -> None:
    """Tabs in two languages share a stream, whose request has one language."""

    async def scenario(theatre: Theatre) -> None:
        app = create_app(PageOptions(address(theatre), token=theatre.token("Page")))
        async with tables(theatre, "Anna", "Ben") as players, app.router.lifespan_context(app):
            path = f"/stream?topic={(await running(players))[0].id}"
            for language, said in (("", "The board"), (":de", "Das Brett"), (":en", "The board")):
                async with listening(app, f"{path}{language}~") as stream:
                    assert f"{said} in " in (await stream.next())[1].decode(), language

    on_theatre(scenario)


def test_tabs_that_open_at_once_share_one_stream(tmp_path: Path) -> None:
    """Eight tabs on two matches and the lobby, over HTTP/1.1: all follow, and a closed tab leaves the others alone."""

    async def scenario() -> None:
        async with watched(tmp_path, 2) as (browser, wire, matches):
            first = await Person.arrive(browser)
            people = [first, *[Person(await first.page.context.new_page()) for _ in range(TABS - 1)]]
            paths = [f"/matches/{matches[number % 2][0].id}" for number in range(TABS - 1)] + ["/"]
            opening = [person.goto(wire.url + path) for person, path in zip(people, paths, strict=True)]
            await asyncio.gather(*opening)
            for seated, tabs in ((matches[0], people[0:7:2]), (matches[1], people[1:7:2])):
                end = await happen(seated, 3)
                for person in tabs:
                    await person.page.wait_for_function(REACHED, arg=end)
            await until_one_stream(wire)
            for person in people[1:6]:
                await person.page.close()
            end = await happen(matches[0], 3)
            for person in (people[0], people[6]):
                await person.page.wait_for_function(REACHED, arg=end)
            await until_one_stream(wire)
            assert [] == [error for person in people for error in person.errors]

    run(scenario)


def test_updates_have_the_language_of_the_page(tmp_path: Path) -> None:
    """Also where the browser prefers another one."""

    async def scenario() -> None:
        async with watched(tmp_path) as (browser, wire, matches):
            person = await Person.arrive(browser)
            await person.goto(f"{wire.url}/matches/{matches[0][0].id}?lang=de")
            end = await happen(matches[0], 3)
            await person.page.wait_for_function(REACHED, arg=end)
            assert words_in("de")("table.log") == await person.page.text_content("#log-title")
            assert [] == person.errors

    run(scenario)


def test_without_shared_workers_each_visible_tab_has_a_stream(tmp_path: Path) -> None:
    """Some browsers of phones lack them."""

    async def scenario() -> None:
        async with watched(tmp_path) as (browser, wire, matches):
            person = await Person.arrive(browser)
            await person.page.context.add_init_script("delete globalThis.SharedWorker")
            await person.goto(f"{wire.url}/matches/{matches[0][0].id}")
            for _ in range(2):
                end = await happen(matches[0], 3)
                await person.page.wait_for_function(REACHED, arg=end)
            await until_one_stream(wire)
            assert [] == person.errors

    run(scenario)


def test_a_frozen_tab_is_right_after_it_resumes(tmp_path: Path) -> None:
    """More events happen meanwhile than a tab may be behind without receiving the whole table."""

    async def scenario() -> None:
        async with watched(tmp_path) as (browser, wire, matches):
            person = await Person.arrive(browser)
            await person.goto(f"{wire.url}/matches/{matches[0][0].id}")
            end = await happen(matches[0], 1)
            await person.page.wait_for_function(REACHED, arg=end)
            session = await person.page.context.new_cdp_session(person.page)
            await session.send("Page.setWebLifecycleState", {"state": "frozen"})
            end = await happen(matches[0], 12)
            await session.send("Page.setWebLifecycleState", {"state": "active"})
            await person.page.wait_for_function(REACHED, arg=end)
            assert [] == person.errors

    run(scenario)


def test_a_refused_stream_is_opened_again(tmp_path: Path) -> None:
    """Any status but 200 ends an EventSource for good, so the page makes a new one."""

    async def scenario() -> None:
        async with watched(tmp_path) as (browser, wire, matches):
            wire.is_broken = True
            person = await Person.arrive(browser)
            await person.goto(f"{wire.url}/matches/{matches[0][0].id}")
            await person.page.wait_for_selector("#away:not([hidden])")
            while sum(path.startswith("/stream") for path in wire.paths) < 2:  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.05)
            wire.is_broken = False
            end = await happen(matches[0], 2)
            await person.page.wait_for_function(REACHED, arg=end)
            await person.page.wait_for_selector("#away", state="hidden")
            assert [] == person.errors

    run(scenario)
