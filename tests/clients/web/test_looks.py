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
  const [body, pip] = [die.querySelector("rect"), die.querySelector(".pips, circle, text")];
  const ink = pip && getComputedStyle(pip)[pip.matches(".pips") ? "stroke" : "fill"];
  return [body.getBoundingClientRect().width, getComputedStyle(body).fill, ink];
})"""

BORDERLESS: Final = """() => [...document.querySelectorAll("button, a.button, select")]
  .filter((each) => each.checkVisibility() && getComputedStyle(each).borderStyle === "none")
  .map((each) => each.outerHTML.slice(0, 100))"""

AROUND_LINES: Final = """() => {
  const strip = document.querySelector("#strip");
  const lines = [...strip.querySelectorAll(".line")];
  const { left, top, width, height } = strip.getBoundingClientRect();
  const inside = (line, x, y) => new DOMPoint(x, y).matrixTransform(line.getScreenCTM().inverse());
  // The lines are stretched, but not their strokes, which are at most 7 px wide with their dark edge.
  const isFree = (x, y) => !lines.some((line) => line.isPointInStroke(inside(line, x, y)));
  const [enclosed, drawn] = [[], []];
  for (let x = Math.ceil(left) + 8; x < left + 0.78 * width; x += 4) {
    for (let y = Math.ceil(top); y < top + height; y += 2) {
      const around = [-8, -4, 0, 4, 8].flatMap((across) => [-5, -3, 0, 3, 5].map((down) => [x + across, y + down]));
      if (!around.every(([across, down]) => isFree(across, down))) continue;
      if (lines.some((line) => line.isPointInFill(inside(line, x, y)))) enclosed.push([Math.round(x), Math.round(y)]);
    }
  }
  for (const line of lines) {
    const length = line.getTotalLength();
    for (let part = 1; part < 20; part += 1) {
      const { x, y } = line.getPointAtLength((length * part) / 20).matrixTransform(line.getScreenCTM());
      drawn.push([Math.round(x), Math.round(y)]);
    }
  }
  return { enclosed, drawn, empty: [Math.round(left + 0.95 * width), Math.round(top + height / 2)] };
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


CLOTH: Final = 6
"""Largest difference of two places of the cloth, which is a gradient."""


def distance(one: str, other: str) -> int:
    """The largest difference of two colours in a channel."""
    return max(abs(int(a) - int(b)) for a, b in zip(one.split(","), other.split(","), strict=True))


async def look_at(person: Person, url: str, game: str) -> None:
    """Open the middle of a match."""
    file = GOLDEN / f"{game}-1-eventful.rollbook"
    middle = len(read(file.read_bytes()).replay.events) // 2
    await person.goto(f"{await person.upload(url, file)}?at={middle}")
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
    """Pixels between the lines of the chart have the colour of the cloth, and pixels on the lines another."""

    async def scenario() -> None:
        async with chromium() as browser:
            person = await Person.arrive(browser)
            await person.page.emulate_media(color_scheme=scheme)
            await person.page.set_viewport_size({"width": 1440, "height": 900})
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
            assert [] == [each for each in enclosed if distance(each, empty) > CLOTH]
            assert [] == [each for each in drawn if distance(each, empty) <= CLOTH]

    asyncio.run(scenario())
