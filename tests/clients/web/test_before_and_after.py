"""The waiting room before a match, and the card at its end."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from random import Random
from typing import Final

import pytest
import segno

from tests.clients.web.browsing import Person, chromium, needs_chromium, served_page
from tests.clients.web.test_page import sat_down

pytestmark = [needs_chromium, pytest.mark.timeout(300)]

SIZES: Final = ((1440, 900), (390, 844))
CUT: Final = """() => [...document.querySelectorAll("#players .sub, #end *, .bots *")]
  .filter((each) => each.checkVisibility() && !each.closest("svg") && !each.matches(".name")
    && (each.clientWidth > 0 && each.scrollWidth > each.clientWidth + 1
      || each.getBoundingClientRect().right > innerWidth))
  .map((each) => each.outerHTML.slice(0, 120))"""
"""Script that returns the texts that are cut off, other than names."""
ELSEWHERE: Final = "before => location.href !== before && document.getElementById('table')"
LESS: Final = "left => document.querySelector('.plate.free [data-left]').textContent < left"
SIGNS: Final = "[...document.querySelectorAll('#strip .mark')].map((each) => each.getBoundingClientRect().top)"
BELOW: Final = """() => [...document.querySelectorAll("#end button, #end a, #end li, #end #timeline")]
  .filter((each) => each.getBoundingClientRect().bottom > innerHeight).map((each) => each.outerHTML.slice(0, 120))"""


async def press(person: Person, selector: str) -> str:
    """Press a button that leads to another table; returns its address."""
    before = person.page.url
    await person.page.click(selector)
    await person.page.wait_for_function(
        "before => location.href !== before && document.getElementById('table')", arg=before
    )
    return person.page.url


def test_a_host_sees_the_link_the_code_and_when_bots_come(tmp_path: Path) -> None:
    """And can wait for people instead, or have bots at once."""

    async def scenario() -> None:
        async with served_page(tmp_path) as (_, web), chromium() as browser:
            anna = await Person.arrive(browser, width=390, height=844)
            page = anna.page
            await anna.goto(web.url)
            await page.fill("input[name=name]", "Anna")
            await page.click("button[value=cant_stop]")
            await page.wait_for_selector("#bots [data-left]")
            link = await page.input_value("#invitation")
            drawn = segno.make(link, error="m", micro=False).svg_inline(border=3)
            assert re.findall(r' d="[^"]+"', drawn)[-1] in await page.inner_html(".code")
            assert 3 == await page.locator(".in-short p:not(:has(a))").count()
            assert "/rules/cant_stop" == await page.get_attribute(".in-short a", "href")
            assert "1 min a turn" in await page.inner_text("#settings")
            left = await page.inner_text(".plate.free [data-left]")
            await page.wait_for_function(
                "left => document.querySelector('.plate.free [data-left]').textContent < left", arg=left
            )
            assert [] == await page.evaluate(CUT)
            await press(anna, "[form=people-form]")
            assert "Anna" in await page.inner_text("#players")
            assert not await page.locator("[data-left]").count()
            await page.click("#tray button[name=all]")
            await page.wait_for_selector("#player-1:not(.free)")
            assert [] == anna.errors

    asyncio.run(scenario())


def test_the_end_card_shows_the_places_and_what_can_be_done_next(tmp_path: Path) -> None:
    """Nothing but a long name is cut, and no button is below the screen, on a desktop and on a phone."""
    random = Random(2)

    async def scenario() -> None:
        async with served_page(tmp_path) as (_, web), chromium() as browser:
            people = [await Person.arrive(browser, width=width, height=height) for width, height in SIZES]
            await sat_down(web.url, "cant_stop", people)
            await people[0].page.wait_for_selector('#table[data-state="3"]')
            made = 0
            while made < 6:
                for person in people:
                    made += await person.choose(random)
            await people[1].page.evaluate("document.querySelector('.resign form').requestSubmit()")
            for person in people:
                await person.page.wait_for_selector("#end #timeline .line", state="attached")
                assert 2 == await person.page.locator("#end #timeline .line").count()
                assert 2 == await person.page.locator("#end .places li .sign").count()
                heights = await person.page.evaluate(SIGNS)
                assert heights[0] < heights[1], "who resigned is last on the strip, too"
                assert [] == await person.page.evaluate(CUT)
                assert [] == await person.page.evaluate(BELOW)
            assert "You win, Anna" == await people[0].page.inner_text("#won")
            assert "Anna wins. You come second." == await people[1].page.inner_text("#end-title")
            assert "Check dice" in await people[1].page.inner_text("#after")
            assert [] == people[0].errors + people[1].errors

    asyncio.run(scenario())
