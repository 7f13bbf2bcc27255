"""`python -m tests.clients.web.readme_picture` makes the pictures of the README: tables of the page and the terminal.

It starts a service, and sits down at a table in a browser and in a terminal. The dice are fair, so that the pictures
differ every time: look at them before you commit them.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
from pathlib import Path
from random import Random
from typing import Final

from rollbook_clients.sdk import connect
from rollbook_clients.terminal.app import Terminal
from rollbook_clients.terminal.preferences import Preferences
from rollbook_clients.terminal.screens.table import TableScreen
from rollbook_clients.terminal.texts import words_in
from tests.clients.web.browsing import STEADY, Person, chromium, served_page
from tests.clients.web.test_page import sat_down

FOLDER: Final = Path(__file__).parents[3] / ".github" / "pictures"
TABLE: Final = FOLDER / "table.png"
TERMINAL: Final = FOLDER / "terminal.svg"
CHOICES: Final = 40
"""The number of choices before the picture of the page, and of the terminal."""
SIZE: Final = (100, 32)
STILL_MS: Final = 3_000
"""Time in which everything that moves on a table comes to rest."""


async def draw_table(url: str) -> bytes:
    """The page of a player whose turn it is, in the middle of a match."""
    async with chromium() as browser:
        people = [await Person.arrive(browser, width=1440, height=900) for _ in range(2)]
        await sat_down(url, "cant_stop", people)
        random, made, page = Random(1), 0, people[0].page
        while made < CHOICES or not await page.locator("#choose .choices button[data-touches^=field]").count():
            for person in people:
                made += await person.choose(random) if person is not people[0] or made < CHOICES else 0
            assert not await people[0].is_over()
        await page.mouse.move(0, 0)
        await page.wait_for_function(STEADY)
        await page.wait_for_timeout(STILL_MS)
        return await page.screenshot()


async def draw_terminal(service: str) -> str:
    """The terminal of a player whose turn it is, as SVG without addresses of elsewhere."""
    async with connect(service, name="Anna") as table:
        match = await table.open("raffzahn", 3)
        await match.join()
        await match.add_bot()
        await match.add_bot()
        preferences = Preferences()
        preferences.pace = 0.1
        screen = TableScreen(match, words_in("en"))
        async with Terminal(screen, words_in("en"), preferences).run_test(size=SIZE) as pilot:
            made = 0
            while made < CHOICES or "Your turn" not in str(screen.status_bar.content):
                await pilot.press("1" if made < CHOICES else "f12")
                await asyncio.sleep(0.05)
                made += 1
            await pilot.pause(0.5)
            drawn = pilot.app.export_screenshot(title="rollbook play")
    return re.sub(r"\s*@font-face \{.*?\}|\s*<!--.*?-->", "", drawn, flags=re.DOTALL) + "\n"


async def _draw() -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        async with served_page(Path(place)) as (service, web):
            TABLE.write_bytes(await draw_table(web.url))
            TERMINAL.write_text(await draw_terminal(service.address), encoding="utf-8")


def main() -> None:
    """Write the pictures."""
    asyncio.run(_draw())


if __name__ == "__main__":
    main()
