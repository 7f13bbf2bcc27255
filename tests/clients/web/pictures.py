"""`python -m tests.clients.web.pictures FOLDER` takes pictures of the page, to review before a change is done.

It starts a service, plays matches, and takes pictures of all pages, on a phone and a desktop, in both languages, light
and dark. `--only WORD` selects pictures by their names. A new page needs a line in `PAGES`, or a function in `SCENES`.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from random import Random
from typing import Final, Literal

from playwright.async_api import Browser

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

PAGES: Final = {
    "lobby": ("/", ".row .seat-line.on"),
    "open": ("/open", "main"),
    "rules": ("/rules", "main"),
    "rules-{game}": ("/rules/{game}", "main"),
    "replays": ("/replays", "main"),
    "judge": ("/judge", "main"),
    "device": ("/device", "main"),
    "missing": ("/nowhere", "main"),
    "end-{game}": ("/matches/{match}", "#end"),
    "replay-{game}": ("/matches/{match}/replay?at=60", "main"),
    "verify-{game}": ("/matches/{match}/verify", "#verdict[data-verdict]"),
    "overlay-{game}": ("/matches/{match}/overlay", "#live"),
}
"""Pages that need no player: name of the picture, address, and the element that shows that the page is complete.

`{game}` and `{match}` stand for every game, and for a finished match of it. A page with players is a function below,
in `SCENES`."""


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
                for name, scene in SCENES.items():
                    for game in current() if "{game}" in name else ("",):
                        if painter.wants(name.format(game=game)):
                            await scene(painter, browser, web.url, game)
                names = [name.format(game=game) for name in PAGES for game in current()]
                if any(map(painter.wants, names)):
                    ends, person = await finished(service.address), await Person.arrive(browser)
                    for name, path, ready in dict.fromkeys(_pages(ends)):
                        if painter.wants(name):
                            await painter.paint(person, name, path, ready)
        finally:
            service.end()


def _pages(ends: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for name, (path, ready) in PAGES.items():
        for game, match in ends.items():
            yield name.format(game=game), path.format(game=game, match=match), ready


async def _table(painter: Painter, browser: Browser, url: str, game: str) -> None:
    """A table in the middle of a match, at the turn of the first player."""
    people = [await Person.arrive(browser) for _ in range(current()[game].seats[0])]
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


async def _waiting(painter: Painter, browser: Browser, url: str, _game: str) -> None:
    """A table with free seats, and the lobby of the player who waits there."""
    person = await Person.arrive(browser)
    await person.goto(url)
    await person.page.check("input[name=people]")
    await person.page.click(".card button >> nth=0")
    await person.page.wait_for_selector("#table")
    await painter.paint(person, "waiting", person.page.url.removeprefix(url), "#table")


async def _own(painter: Painter, browser: Browser, url: str, _game: str) -> None:
    """The lobby of a player whose turn it is."""
    person = await Person.arrive(browser)
    await person.goto(url)
    await person.page.click(".card button >> nth=0")
    await person.page.wait_for_selector("#choose", timeout=60_000)
    await painter.paint(person, "lobby-own", "/", ".own.on-turn")


async def _profile(painter: Painter, browser: Browser, url: str, _game: str) -> None:
    """The profile of a player with a match of every game."""
    person = await Person.arrive(browser)
    for number in range(len(current())):
        await person.goto(url)
        await person.page.click(f".card button >> nth={number}")
        await person.page.wait_for_selector("#table")
    await painter.paint(person, "profile", "/me", "#running")


SCENES: Final = {"waiting": _waiting, "lobby-own": _own, "profile": _profile, "table-{game}": _table}
"""Pictures of pages with players, by name."""


def main() -> None:
    """Read the arguments and take the pictures."""
    parser = argparse.ArgumentParser(prog="python -m tests.clients.web.pictures", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the pictures go")
    parser.add_argument("--only", default="", help="paint those whose name has this in it")
    given = parser.parse_args()
    asyncio.run(paint(given.folder, given.only))


if __name__ == "__main__":
    main()
