"""A rematch on the page: the other player sees the offer and answers it, and whoever asked reads the answer."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from tests.clients.web.browsing import Person, Reader, chromium, needs_chromium, served_page
from tests.clients.web.test_newcomers import shown_match
from tests.server.serving import until

pytestmark = [needs_chromium, pytest.mark.timeout(300)]

LEFT = re.compile(r'id="kept".*?data-left="(\d+)"')
SAID = "() => document.getElementById('status').textContent.includes('Anna wants to play again.')"


def begin(anna: Reader) -> str:
    """Open a table, without scripts; the id of the match."""
    return shown_match(anna.post("/play", {"game": "cant_stop", "name": "Anna"}))


def state(reader: Reader, match: str, number: int) -> None:
    """Wait until the page shows this state."""
    until(lambda: f'data-state="{number}"' in reader.get(f"/matches/{match}").text)


@pytest.mark.parametrize("answer", ["decline", "rematch"])
def test_the_other_player_sees_the_offer_and_answers_it(tmp_path: Path, answer: str) -> None:
    """With title, by one button each; the one who asked uses plain forms."""

    async def scenario() -> None:
        async with served_page(tmp_path) as (_, web), chromium() as browser:
            anna, ben = Reader(web.url), await Person.arrive(browser)
            match = await asyncio.to_thread(begin, anna)
            await ben.goto(f"{web.url}/matches/{match}")
            await ben.page.fill("#join input[name=name]", "Ben")
            await ben.page.click("#join button")
            await asyncio.to_thread(state, anna, match, 3)
            await ben.page.wait_for_selector('#table[data-state="3"]')
            assert not await ben.page.is_visible("#decline")
            await asyncio.to_thread(anna.post, f"/matches/{match}/resign", {})
            await ben.page.wait_for_selector("#after")
            assert not await ben.page.is_visible("#decline")
            again = shown_match(await asyncio.to_thread(anna.post, f"/matches/{match}/rematch", {}))
            await ben.page.wait_for_function(SAID)
            await ben.page.wait_for_function("() => document.title.startsWith('● Anna wants to play again.')")
            lefts = {int(LEFT.findall(await asyncio.to_thread(told, anna, again, "Waiting for Ben, "))[0])}
            while len(lefts) < 2:
                lefts.add(int(LEFT.findall(await asyncio.to_thread(told, anna, again, "Waiting for Ben, "))[0]))
            assert max(lefts) <= 300_000
            asked = {await ben.page.inner_text(".offer .left")}
            while len(asked) < 3:
                asked.add(await ben.page.inner_text(".offer .left"))
            assert all(each[:2] in {"5:", "4:"} for each in asked)
            lobby = await ben.page.context.new_page()
            await lobby.goto(web.url)
            assert "Play again?" in await lobby.content()
            await lobby.close()
            await ben.page.click(f"#{answer} button")
            if answer == "decline":
                await asyncio.to_thread(told, anna, again, "Declined: Ben.")
                await ben.page.wait_for_selector("#decline", state="hidden")
            else:
                await asyncio.to_thread(state, anna, again, 3)
                assert again in ben.page.url
            assert [] == ben.errors

    asyncio.run(scenario())


def told(reader: Reader, match: str, words: str) -> str:
    """Wait until the page of this match has these words; returns the page."""
    until(lambda: words in reader.get(f"/matches/{match}").text)
    return reader.get(f"/matches/{match}").text
