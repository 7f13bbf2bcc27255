"""The page in a real browser and a real service: whole matches are played, watched, replayed and verified."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from random import Random

import pytest

from rollbook.rules.catalogue import current
from tests.clients.web.browsing import Person, chromium, needs_chromium, served_page

SEED = int(os.environ.get("ROLLBOOK_SEED", "3"))

pytestmark = [needs_chromium, pytest.mark.timeout(600)]

of_every_game = pytest.mark.parametrize(
    "game", [pytest.param(game, marks=pytest.mark.slow) for game in current() if game != "cant_stop"] + ["cant_stop"]
)
"""The suite runs one game; the others are marked slow."""


async def sat_down(url: str, game: str, people: list[Person]) -> str:
    """The first player opens a match and the others join; returns its address."""
    first, *others = people
    await first.goto(f"{url}/open?game={game}")
    await first.page.fill("input[name=name]", "Anna")
    await first.page.click("button.main")
    await first.page.wait_for_url("**/matches/*")
    for number, other in enumerate(others):
        await other.goto(first.page.url)
        await other.page.fill("#join input[name=name]", f"Ben {number}")
        await other.page.click("#join button")
    return first.page.url


@of_every_game
def test_a_match_is_played_by_browsers_while_another_watches(game: str, tmp_path: Path) -> None:
    """The match is played to its end, replayed and verified; no script fails or violates the page's policy."""
    print("seed", SEED)
    random = Random(SEED)

    async def scenario() -> None:
        async with served_page(tmp_path) as (_, web), chromium() as browser:
            seats = current()[game].seats[0]
            people = [await Person.arrive(browser, language="de" if seat else "en") for seat in range(seats)]
            watcher = await Person.arrive(browser, width=360, height=740)
            address = await sat_down(web.url, game, people)
            await watcher.goto(address)
            await people[0].page.wait_for_selector("#player-1")
            while not await people[0].is_over():
                chose = [await person.choose(random) for person in people]
                if not any(chose):
                    await asyncio.sleep(0.02)
            await watcher.page.wait_for_selector("#after")
            assert await people[0].position == await watcher.position
            await people[0].page.click("#after a:first-child")
            await people[0].page.wait_for_selector("#replay")
            await people[0].goto(f"{address}/verify")
            await people[0].page.wait_for_selector("#verdict[data-verdict=unverified]")
            assert [] == [error for person in (*people, watcher) for error in person.errors]
            assert "Traceback" not in web.said()

    asyncio.run(scenario())
