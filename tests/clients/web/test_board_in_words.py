"""The board in words on the page: complete, silently up to date, shown by a key, there for screen readers."""

from __future__ import annotations

import asyncio
import json
from html.parser import HTMLParser
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from rollbook.replay_file.container import read
from rollbook.rules.catalogue import current
from rollbook_clients.terminal.film import Film
from rollbook_clients.web.replay_pages import name_of
from rollbook_clients.web.words import words_in
from rollbook_replays.games import presentation
from rollbook_replays.games.chart import Chart
from tests.clients.web.browsing import STEADY, Person, Reader, chromium, needs_chromium, served_page
from tests.clients.web.test_accessible import found
from tests.clients.web.test_page import sat_down
from tests.replays.games.reading_back import read_back, seen

GOLDEN: Final = Path(__file__).parents[3] / "replays" / "golden"
EVERY: Final = 9
CHOICES: Final = 12
ROWS: Final = "[...document.querySelectorAll('#in-words tr')].map((row) => row.textContent)"
SHOWN: Final = "document.getElementById('in-words-title').getBoundingClientRect().width > 1"
PREVIEWED: Final = "[...document.querySelectorAll('#board .previewed')].map((each) => each.id)"
SILENT: Final = "document.querySelector('#in-words').closest('[aria-live], [role=log], [role=status]') === null"

pytestmark = pytest.mark.timeout(300)


class Tables(HTMLParser):
    """The tables of the board in words, read from HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self._rows: dict[str, list[list[str]]] = {}
        self._heads: set[str] = set()
        self._name = self._cell = ""
        self.feed(html)

    @property
    def charts(self) -> list[Chart]:
        """The tables, those without column headings as lists of facts."""
        return [
            Chart(
                name, "", tuple(rows[0]) if name in self._heads else (), tuple(map(tuple, rows[name in self._heads :]))
            )
            for name, rows in self._rows.items()
        ]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a table, a row or a cell."""
        if tag == "table":
            self._name = str(dict(attrs)["id"]).removeprefix("w-")
            self._rows[self._name] = []
        elif tag == "thead":
            self._heads.add(self._name)
        elif tag == "tr":
            self._rows[self._name].append([])
        self._cell = ""

    def handle_endtag(self, tag: str) -> None:
        """End a cell."""
        if tag in {"th", "td"}:
            self._rows[self._name][-1].append(self._cell)

    def handle_data(self, data: str) -> None:
        """Collect the text of a cell."""
        self._cell += data


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("game", current())
def test_every_moment_of_a_replay_is_rebuilt_from_its_words(game: str, language: str, pages: str) -> None:
    """From every perspective that the file allows; the words change with the board, as they are part of it."""
    data = (GOLDEN / f"{game}-1-eventful.rollbook").read_bytes()
    film = Film(read(data).replay)
    reader = Reader(pages, language)
    answer = reader.upload("/replays", "file", data)
    path = answer.text.partition('data-path="')[2].partition('"')[0]
    words = words_in(language).also(presentation(game).texts)
    for at in range(1, len(film) + 1, EVERY):
        for eyes in film.perspectives:
            moment: dict[str, Any] = json.loads(
                reader.get(f"{path}?at={at}&eyes={name_of(eyes)}", "application/json").text
            )
            view = film.view(at, eyes)
            assert seen(game, view) == read_back(game, Tables(moment["html"]).charts, words), (at, eyes)


@needs_chromium
def test_the_words_follow_the_board_and_a_key_shows_them(tmp_path: Path) -> None:
    """They equal those of a page loaded anew at every position; B shows them, and the page remembers that."""

    async def scenario() -> None:
        async with served_page(tmp_path) as (_, web), chromium() as browser:
            people = [await Person.arrive(browser) for _ in range(2)]
            address = await sat_down(web.url, "cant_stop", people)
            page, random, made = people[0].page, Random(3), 0
            other = await page.context.new_page()
            while made < CHOICES:
                made += sum([await person.choose(random) for person in people])
                if await page.locator("#choose").count():
                    await other.goto(address)
                    assert await other.evaluate(ROWS) == await page.evaluate(ROWS)
            assert await page.evaluate(SILENT)
            assert not await page.evaluate(SHOWN)
            assert await page.get_by_role("table", name="Columns").count() == 1
            await page.keyboard.press("b")
            assert await page.evaluate(SHOWN)
            assert "in-words-title" == await page.evaluate("document.activeElement.id")
            assert [] == await found(people[0])
            await page.set_viewport_size({"width": 390, "height": 844})
            assert [] == await found(people[0])
            assert 390 >= await page.evaluate("document.documentElement.scrollWidth")
            await page.reload()
            assert await page.evaluate(SHOWN)
            await page.click("#in-words-hide")
            assert not await page.evaluate(SHOWN)
            assert "words-switch" == await page.evaluate("document.activeElement.id")
            assert [] == people[0].errors

    asyncio.run(scenario())


@needs_chromium
def test_keys_can_be_switched_off(tmp_path: Path) -> None:
    """Then no key reaches the page, also after a reload; keys of the browser and of controls still work."""

    async def scenario() -> None:
        async with served_page(tmp_path) as (_, web), chromium() as browser:
            people = [await Person.arrive(browser) for _ in range(2)]
            await sat_down(web.url, "cant_stop", people)
            person = people[0]
            for each in people:
                await each.page.wait_for_selector("#table[data-state='3'] #things svg")
                person = each if await each.page.locator("#choose").count() else person
            page, position = person.page, await person.position
            await page.uncheck("#keys")
            await page.reload()
            assert not await page.is_checked("#keys")
            await page.wait_for_selector("#primary[data-choice]")
            previewed = await page.evaluate(PREVIEWED)
            for key in ("b", "1", "l", "?", "ArrowRight", "Enter"):
                await page.keyboard.press(key)
            assert not await page.evaluate(SHOWN)
            assert position == await person.position
            assert previewed == await page.evaluate(PREVIEWED)
            await page.focus("#words-switch")
            await page.keyboard.press("Enter")
            assert await page.evaluate(SHOWN)
            await page.check("#keys")
            await page.focus("#title")
            await page.keyboard.press("b")
            assert not await page.evaluate(SHOWN)

    asyncio.run(scenario())


@needs_chromium
def test_digits_choose_inside_an_open_menu(tmp_path: Path) -> None:
    """A digit opens a menu, further digits count inside it, and Escape closes it."""
    menu = "#choices-list > details"

    async def scenario() -> None:
        async with served_page(tmp_path) as (_, web), chromium() as browser:
            people, random = [await Person.arrive(browser) for _ in range(2)], Random(3)
            await sat_down(web.url, "allie_gator", people)
            person = people[0]
            while not await person.page.locator(f"{menu}[id^=choice-]:has(button)").count():
                for each in people:
                    if await each.page.locator(menu).count():
                        person = each
                        break
                    await each.choose(random)
            page, position = person.page, await person.position
            await page.wait_for_function(STEADY)
            name = str(await page.locator(menu).first.get_attribute("id"))
            digit = name.removeprefix("choice-")
            await page.keyboard.press(digit)
            assert await page.locator(f"#{name}[open]").count()
            await page.keyboard.press("Escape")
            assert not await page.locator(f"#{name}[open]").count()
            await page.keyboard.press(digit)
            assert position == await person.position
            value = str(await page.locator(f"#{name}-1").get_attribute("value"))
            async with page.expect_request("**/choose") as sent:
                await page.keyboard.press("1")
            assert value in str((await sent.value).post_data).replace("%3D", "=")
            assert [] == person.errors

    asyncio.run(scenario())
