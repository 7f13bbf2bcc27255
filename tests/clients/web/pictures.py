"""`python -m tests.clients.web.pictures FOLDER` takes pictures of the page, to review before a change is done.

It starts a service, plays matches, and takes pictures of every table, end, replay and verdict, the lobby and the forms,
on a phone and a desktop, in both languages, light and dark. `--only WORD` selects pictures by their names.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from itertools import product
from pathlib import Path
from random import Random
from typing import Final, Literal

from rollbook.rules.catalogue import current
from rollbook.v1.match_pb2 import MATCH_STATE_FINISHED
from rollbook_clients.sdk import Patience, connect
from tests.clients.web.browsing import Person, chromium, page_of
from tests.clients.web.test_page import sat_down
from tests.server.process.test_demo import Demonstrating

SIZES: Final = {"phone": (390, 844), "desktop": (1440, 900)}
LANGUAGES: Final = ("en", "de")
SCHEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
CHOICES: Final = 24
"""The number of choices before a picture of a table is taken."""


class Painter:
    """Takes pictures of the pages that one person sees."""

    def __init__(self, folder: Path, url: str, only: str) -> None:
        self._folder = folder
        self._url = url
        self._only = only

    def wants(self, name: str) -> bool:
        """Whether `--only` selects this picture."""
        return self._only in name

    async def paint(self, person: Person, name: str, path: str, ready: str = "main") -> None:
        """Take pictures of a page in all its looks, once the element `ready` is on it."""
        for size, language, scheme in product(SIZES, LANGUAGES, SCHEMES):
            await person.page.context.add_cookies([{"name": "language", "value": language, "url": self._url}])
            width, height = SIZES[size]
            await person.page.set_viewport_size({"width": width, "height": height})
            await person.page.emulate_media(color_scheme=scheme)
            await person.goto(self._url + path)
            await person.page.wait_for_selector(ready)
            file = self._folder / f"{name}-{size}-{language}-{scheme}.png"
            await person.page.screenshot(path=str(file), full_page=True)
            print(file)


async def finished(service: str) -> dict[str, str]:
    """Play one match of each game; returns the ids by game."""
    found: dict[str, str] = {}
    async with connect(service, patience=Patience(arrival=60)) as table:
        while set(found) != set(current()):
            async for summary in table.matches(state=MATCH_STATE_FINISHED):
                found.setdefault(summary.game, summary.match_id)
            await asyncio.sleep(0.5)
    return found


async def paint(folder: Path, only: str) -> None:
    """Take all pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        service = Demonstrating(Path(place) / "data")
        try:
            async with page_of(Path(place), service.address) as web, chromium() as browser:
                painter = Painter(folder, web.url, only)
                ends = await finished(service.address)
                await _plain_pages(painter, await Person.arrive(browser), ends)
                for game in current():
                    if painter.wants(f"table-{game}"):
                        people = [await Person.arrive(browser) for _ in range(current()[game].seats[0])]
                        await _table(painter, people, web.url, game)
        finally:
            service.end()


async def _plain_pages(painter: Painter, person: Person, ends: dict[str, str]) -> None:
    pages = {"lobby": "/", "open": "/open?game=raffzahn", "games": "/open", "judge": "/judge", "missing": "/nowhere"}
    pages |= {"rules": "/rules"} | {f"rules-{game}": f"/rules/{game}" for game in current()}
    pages |= {f"end-{game}": f"/matches/{match}" for game, match in ends.items()}
    pages |= {f"replay-{game}": f"/matches/{match}/replay?at=60" for game, match in ends.items()}
    for name, path in pages.items():
        if painter.wants(name):
            await painter.paint(person, name, path)
    for game, match in ends.items():
        if painter.wants(f"verify-{game}"):
            await painter.paint(person, f"verify-{game}", f"/matches/{match}/verify", "#verdict[data-verdict]")


async def _table(painter: Painter, people: list[Person], url: str, game: str) -> None:
    random = Random(7)
    address = await sat_down(url, game, people)
    made = 0
    while made < CHOICES or not await people[0].page.locator("#choose").count():
        if await people[0].is_over():
            address, made = await sat_down(url, game, people), 0
        for person in people:
            made += await person.choose(random) if person is not people[0] or made < CHOICES else 0
        await asyncio.sleep(0.05)
    await painter.paint(people[0], f"table-{game}", address.removeprefix(url), "#choose")


def main() -> None:
    """Read the arguments and take the pictures."""
    parser = argparse.ArgumentParser(prog="python -m tests.clients.web.pictures", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the pictures go")
    parser.add_argument("--only", default="", help="paint those whose name has this in it")
    given = parser.parse_args()
    asyncio.run(paint(given.folder, given.only))


if __name__ == "__main__":
    main()
