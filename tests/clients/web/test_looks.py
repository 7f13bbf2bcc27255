"""Measurements of the page for users with low vision, a small screen, or their own colours."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path
from typing import Final, Literal

import pytest

from rollbook.replay_file.container import read
from rollbook.rules.catalogue import current
from tests.clients.web.browsing import ENLARGED, Person, chromium, needs_chromium

pytestmark = [needs_chromium, pytest.mark.timeout(300)]

GOLDEN: Final = Path(__file__).parents[3] / "replays" / "golden"
PHONE: Final = 360
SCREENS: Final = (1280, 1920)
COLOURS: Final[tuple[Literal["none", "active"], ...]] = ("none", "active")
SMALLEST_TEXT: Final = 16
SMALLEST_DIE: Final = 24

TOO_WIDE: Final = """() => document.documentElement.scrollWidth <= innerWidth ? [] :
  [...document.querySelectorAll("body *")].filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
    .map((each) => each.outerHTML.slice(0, 100)).slice(0, 5)"""

TEXT: Final = """() => {
  const found = [];
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const [text, inside] = [walker.currentNode.data.trim(), walker.currentNode.parentElement];
    if (!text || !inside.checkVisibility() || inside.closest(".unseen, title, desc, option")) continue;
    const scale = inside.ownerSVGElement ? inside.getScreenCTM().a : 1;
    found.push([Math.round(10 * scale * parseFloat(getComputedStyle(inside).fontSize)) / 10, text]);
  }
  return found;
}"""

DICE: Final = """() => [...document.querySelectorAll("#board .die")].map((die) => {
  const [body, pip] = [die.querySelector("rect"), die.querySelector("circle, text")];
  return [body.getBoundingClientRect().width, getComputedStyle(body).fill, pip && getComputedStyle(pip).fill];
})"""

BORDERLESS: Final = """() => [...document.querySelectorAll("button, a.button, select")]
  .filter((each) => each.checkVisibility() && getComputedStyle(each).borderStyle === "none")
  .map((each) => each.outerHTML.slice(0, 100))"""

AROUND_LINES: Final = """() => {
  const strip = document.querySelector("#timeline svg");
  strip.scrollIntoView({ block: "center", behavior: "instant" });
  const [lines, place] = [[...strip.querySelectorAll(".line")], strip.getScreenCTM()];
  const spot = (x, y) => {
    const { x: across, y: down } = new DOMPoint(x, y).matrixTransform(place);
    return [Math.round(across), Math.round(down)];
  };
  const { width, height } = strip.viewBox.baseVal;
  const isFree = (x, y) => !lines.some((line) => line.isPointInStroke(new DOMPoint(x, y)));
  const [enclosed, drawn] = [[], []];
  for (let x = 40; x < width - 60; x += 4) {
    for (let y = 4; y < height; y += 4) {
      const around = [-3, 0, 3].flatMap((across) => [-3, 0, 3].map((down) => [x + across, y + down]));
      if (!around.every(([across, down]) => isFree(across, down))) continue;
      if (lines.some((line) => line.isPointInFill(new DOMPoint(x, y)))) enclosed.push(spot(x, y));
    }
  }
  for (const line of lines) {
    const length = line.getTotalLength();
    for (let part = 1; part < 20; part += 1) {
      const { x, y } = line.getPointAtLength((length * part) / 20);
      drawn.push(spot(x, y));
    }
  }
  return { enclosed, drawn, empty: spot(4, 4) };
}"""
"""Script that returns points inside the lines of a chart, points on a line, and an empty corner."""

COLOURS_AT: Final = """async ([picture, places]) => {
  const image = new Image();
  image.src = `data:image/png;base64,${picture}`;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
  canvas.drawImage(image, 0, 0);
  return places.map(([x, y]) => [...canvas.getImageData(x, y, 1, 1).data].join());
}"""
"""Script that returns the colours of some pixels of a picture."""


async def look_at(person: Person, url: str, game: str) -> None:
    """Open the middle of a match."""
    file = GOLDEN / f"{game}-1-eventful.rollbook"
    middle = len(read(file.read_bytes()).replay.events) // 2
    await person.goto(f"{url}/replays")
    await person.page.set_input_files("input[name=file]", file)
    await person.page.click("button.main")
    await person.page.wait_for_selector("#replay")
    await person.goto(f"{person.page.url.partition('?')[0]}?at={middle}&spoilers=yes")
    await person.page.wait_for_selector("#board svg")


def test_boards_are_readable_and_fit(pages: str) -> None:
    """Boards of all games: readable at a distance, on a phone, with enlarged letters, and in forced colours."""

    async def scenario() -> None:
        async with chromium() as browser:
            person = await Person.arrive(browser)
            page, dice = person.page, 0
            for game in current():
                await look_at(person, pages, game)
                for width in SCREENS:
                    await page.set_viewport_size({"width": width, "height": 800})
                    assert [] == [each for each in await page.evaluate(TEXT) if each[0] < SMALLEST_TEXT]
                for forced in COLOURS:
                    await page.emulate_media(forced_colors=forced)
                    shown = await page.evaluate(DICE)
                    dice += len(shown)
                    assert [] == [die for die in shown if die[0] < SMALLEST_DIE or die[1] == die[2]]
                    assert [] == await page.evaluate(BORDERLESS)
                for width, times in ((PHONE, 1), (PHONE, 2), (1280, 2)):
                    await page.set_viewport_size({"width": width, "height": 740})
                    await page.evaluate(ENLARGED, times)
                    assert [] == await page.evaluate(TOO_WIDE), (game, width, times)
            assert dice
            assert [] == person.errors

    asyncio.run(scenario())


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_strip_of_places_is_drawn_as_lines_without_filling(scheme: Literal["light", "dark"], pages: str) -> None:
    """Pixels between the lines of the chart have the colour of the page, and pixels on the lines another."""

    async def scenario() -> None:
        async with chromium() as browser:
            person = await Person.arrive(browser)
            await person.page.emulate_media(color_scheme=scheme)
            await look_at(person, pages, "cant_stop")
            places = await person.page.evaluate(AROUND_LINES)
            picture = base64.b64encode(await person.page.screenshot()).decode()
            blank = await browser.new_page()

            async def colours(where: list[list[int]]) -> list[str]:
                found: list[str] = await blank.evaluate(COLOURS_AT, [picture, where])
                return found

            [empty] = await colours([places["empty"]])
            enclosed, drawn = await colours(places["enclosed"]), await colours(places["drawn"])
            assert len(enclosed) > 50
            assert {empty} == set(enclosed)
            assert empty not in drawn

    asyncio.run(scenario())
