"""The page shows beside a name who is away, to players alone."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from rollbook_clients.sdk import connect
from tests.clients.web.browsing import Person, Reader, chromium, needs_chromium, served_page
from tests.clients.web.test_newcomers import shown_match
from tests.server.serving import until

pytestmark = pytest.mark.timeout(300)


def test_a_player_sees_that_the_other_one_is_away_and_a_spectator_does_not(tmp_path: Path) -> None:
    """The other one sat down by the SDK, got ready, and has no feed open any more."""

    async def scenario() -> None:
        async with served_page(tmp_path) as (service, web):
            reader, stranger = Reader(web.url), Reader(web.url)
            opened = await asyncio.to_thread(
                reader.post, "/play", {"game": "cant_stop", "name": "Anna", "people": "yes"}
            )
            path = f"/matches/{shown_match(opened)}"
            async with connect(service.address, name="Ben") as ben:
                await ben.play_now("cant_stop")

            def is_away() -> bool:
                return '<span class="note away-for">away</span>' in reader.get(path).text

            await asyncio.to_thread(until, is_away)
            assert "away-for" not in (await asyncio.to_thread(stranger.get, path)).text

    asyncio.run(scenario())


@needs_chromium
def test_a_player_who_closes_the_tab_is_away_and_comes_back(tmp_path: Path) -> None:
    """Both play in browsers with scripts, which show it without a click."""

    async def scenario() -> None:
        async with served_page(tmp_path) as (_, web), chromium() as browser:
            anna, ben = await Person.arrive(browser), await Person.arrive(browser)
            for person, name in ((anna, "Anna"), (ben, "Ben")):
                await person.goto(web.url)
                await person.page.fill("input[name=name]", name)
                await person.page.check("input[name=people]")
                await person.page.click("button[value=cant_stop]")
                await person.page.wait_for_selector("#table")
            await anna.page.wait_for_selector('#table[data-state="3"]')
            address = ben.page.url
            await ben.page.goto("about:blank")
            await anna.page.wait_for_selector(".away-for")
            await ben.page.goto(address)
            await anna.page.wait_for_selector(".away-for", state="detached")

    asyncio.run(scenario())
