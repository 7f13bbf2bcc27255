"""Matches played on the board: by presses on what is lit and on the primary button, with everything on the screen."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from playwright.async_api import Browser

from rollbook.rules.catalogue import current
from tests.clients.web.browsing import Person, chromium, needs_chromium, served_page
from tests.clients.web.test_page import of_every_game, sat_down

SEED: Final = int(os.environ.get("ROLLBOOK_SEED", "4"))
SIZES: Final = ((1440, 900), (390, 844))
MOST_PRESSES: Final = 12
SENDS_ALONE: Final = 0.3

PRESSABLE: Final = """() => {
  const shown = (each) => each.checkVisibility() && each.getBoundingClientRect().width > 0;
  const names = (style) => [...document.querySelectorAll(`#board .${style}`)].filter(shown)
    .map((each) => each.dataset.thing ?? each.id).filter((name) => !name.startsWith("choice"));
  const held = new Set(names("held"));
  return {
    things: [...new Set(names("lit"))].filter((name) => !held.has(name)).sort(),
    plain: [...document.querySelectorAll("#choices-list button[data-touches='']")].filter(shown).map((each) => each.id),
    ready: document.getElementById("primary")?.dataset.choice !== undefined,
    lit: [...new Set(names("lit"))].sort(),
    legal: [...new Set(document.getElementById("pieces")
      ? [...document.querySelectorAll("#pieces [data-fits]")].map((each) => each.dataset.thing)
      : [...document.querySelectorAll("#choices-list button[data-touches]")]
        .flatMap((each) => each.dataset.touches.split(" ")).filter((name) => name && !name.startsWith("+")))].sort(),
    alike: document.getElementById("choices-list").dataset.alike.split(" ").map((pair) => pair.split("=")[0]),
  };
}"""
"""The things that glow and are not held, the choices that touch nothing, and whether the primary button is ready."""

SETTLED: Final = """([before, state]) => Number(document.getElementById("table").dataset.position) > before
  || !document.querySelector("#choices-list[aria-busy]") && !document.querySelector("#live[aria-busy]")
  && document.querySelectorAll("#board .held").length !== state"""

OFF_SCREEN: Final = """() => {
  const parts = ["#players li", "#middle > svg", "#things svg", "#status", "#primary", "#pens .pen", "#board .lit"];
  return [...document.querySelectorAll(parts.join())].filter((each) => {
    const { left, top, right, bottom, width } = each.getBoundingClientRect();
    return width > 0 && (left < -1 || top < -1 || right > innerWidth + 1 || bottom > innerHeight + 1);
  }).map((each) => each.outerHTML.slice(0, 80) + JSON.stringify(each.getBoundingClientRect()));
}"""


async def press(person: Person, name: str) -> None:
    """Press a thing on the board: on the picture of it that is visible."""
    things = person.page.locator(f'#board svg [id="{name}"], #board [data-thing="{name}"]:not(input)')
    for number in range(await things.count()):
        if await things.nth(number).is_visible():
            await things.nth(number).click(position=None)
            return
    raise AssertionError(f"{name} is not visible")


async def play_on_the_board(person: Person, random: Random) -> bool:
    """Make a choice by presses on the board, if it is the person's turn; whether one was made."""
    page = person.page
    if not await person.is_asked():
        return False
    before = await person.position
    first: dict[str, Any] = await page.evaluate(PRESSABLE)
    assert first["legal"] == [name for name in first["lit"] if name not in first["alike"]], "light is what is legal"
    for _ in range(MOST_PRESSES):
        if await person.position > before or not await page.locator("#choose").count():
            return True
        now: dict[str, Any] = await page.evaluate(PRESSABLE)
        held = await page.locator("#board .held").count()
        if now["plain"] and (random.random() < SENDS_ALONE or not (now["things"] or now["ready"])):
            await page.click(f"#{random.choice(now['plain'])}")
        elif now["ready"] and (not now["things"] or random.random() < SENDS_ALONE or held):
            await page.click("#primary")
        else:
            assert now["things"], "nothing glows, and the primary button has no choice"
            await press(person, random.choice(now["things"]))
            await page.wait_for_function(SETTLED, arg=[before, held])
            continue
        await page.wait_for_function(
            "before => Number(document.getElementById('table').dataset.position) > before", arg=before
        )
    raise AssertionError(f"no choice was made by {MOST_PRESSES} presses")


@needs_chromium
@pytest.mark.timeout(900)
@of_every_game
def test_a_match_is_played_on_the_board(game: str, tmp_path: Path) -> None:
    """To its end, on a desktop and a phone; at every turn all that belongs to it is on the screen."""
    print("seed", SEED)
    random = Random(SEED)

    async def arrived(browser: Browser, seat: int) -> Person:
        width, height = SIZES[seat % len(SIZES)]
        return await Person.arrive(browser, language="de" if seat else "en", width=width, height=height)

    async def scenario() -> None:
        async with served_page(tmp_path) as (_, web), chromium() as browser:
            people = [await arrived(browser, seat) for seat in range(current()[game].seats[0])]
            await sat_down(web.url, game, people)
            await people[0].page.wait_for_selector("#player-1:not(.free)")
            while not await people[0].is_over():
                for person in people:
                    if await person.page.locator("#choose").count():
                        assert [] == await person.page.evaluate(OFF_SCREEN)
                    await play_on_the_board(person, random)
                await asyncio.sleep(0.02)
            await people[0].page.wait_for_selector("#end")
            assert [] == [error for person in people for error in person.errors]

    asyncio.run(scenario())
