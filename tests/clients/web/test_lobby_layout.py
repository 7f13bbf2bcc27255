"""The lobby and the profile on both sizes of screen, in both languages: nothing overlaps, and the games are in view."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Final, Literal

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page

from tests.clients.sdk.tables import running, tables
from tests.clients.web.browsing import Person, chromium, needs_chromium, served_page

pytestmark = [needs_chromium, pytest.mark.timeout(300)]

SIZES: Final = ((1440, 900), (390, 844))
SCHEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
LONG: Final = "Wilhelmine von Hohenstein-Mecklenburg III"[:40]

OVERLAPS: Final = """() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const inside = walker.currentNode.parentElement;
    const isSeen = inside.checkVisibility() && !inside.closest(".unseen, .skip, option, title");
    if (!isSeen || !walker.currentNode.data.trim()) continue;
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    for (const box of range.getClientRects()) {
      // Of a text that is cut, only the visible part counts.
      let [left, right, top, bottom] = [box.left, box.right, box.top, box.bottom];
      for (let each = inside; each; each = each.parentElement) {
        if (getComputedStyle(each).overflowX === "visible") continue;
        const edge = each.getBoundingClientRect();
        [left, right] = [Math.max(left, edge.left), Math.min(right, edge.right)];
        [top, bottom] = [Math.max(top, edge.top), Math.min(bottom, edge.bottom)];
      }
      if (right - left > 1) found.push([walker.currentNode, left, right, top, bottom]);
    }
  }
  const pairs = [];
  for (const [index, one] of found.entries()) {
    for (const other of found.slice(index + 1)) {
      const across = Math.min(one[2], other[2]) - Math.max(one[1], other[1]);
      const down = Math.min(one[4], other[4]) - Math.max(one[3], other[3]);
      // Lines of text are higher than their letters.
      if (one[0] !== other[0] && across > 2 && down > 7) pairs.push(`${one[0].data} / ${other[0].data}`);
    }
  }
  return pairs;
}"""
"""Script that returns the texts of a page that are drawn over each other."""

TOO_WIDE: Final = "() => document.documentElement.scrollWidth > innerWidth"
SIDE_BY_SIDE: Final = """() => {
  const rows = [...document.querySelectorAll(".row")].map((each) => each.getBoundingClientRect());
  return rows.length > 1 && rows[0].top === rows[1].top;
}"""
IN_VIEW: Final = """(found) => [...document.querySelectorAll(found)]
  .every((each) => each.getBoundingClientRect().bottom <= innerHeight)"""


async def _wrong(page: Page) -> list[str]:
    said: list[str] = list(await page.evaluate(OVERLAPS))
    said += ["too wide"] if await page.evaluate(TOO_WIDE) else []
    results: dict[str, Any] = (await Axe().run(page)).response
    return said + [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in results["violations"]]


def test_nothing_overlaps_and_the_games_are_in_view(tmp_path: Path) -> None:
    """With an own match that waits, long names, and tables to watch; axe finds nothing at all."""

    async def scenario() -> None:
        async with (
            served_page(tmp_path) as (service, web),
            tables(service.address, LONG, "Ben", "Carla") as players,
            chromium() as browser,
        ):
            await running(players, "raffzahn")
            await running(players[:2], "cant_stop", spectator_delay_seconds=30)
            wrong: dict[str, list[str]] = {}
            person = await Person.arrive(browser)
            page = person.page
            await person.goto(web.url)
            await page.fill("input[name=name]", LONG[::-1])
            await page.click("button[value=cant_stop]")
            await page.wait_for_selector('#table[data-state="3"]', timeout=60_000)
            for language in ("en", "de"):
                await page.context.add_cookies([{"name": "language", "value": language, "url": web.url}])
                for width, height in SIZES:
                    await page.set_viewport_size({"width": width, "height": height})
                    for scheme in SCHEMES:
                        await page.emulate_media(color_scheme=scheme)
                        await person.goto(web.url)
                        await page.wait_for_selector(".row .seat-line.on")
                        wrong[f"/ {language} {width} {scheme}"] = await _wrong(page)
                        assert await page.evaluate(IN_VIEW, ".own, .card button"), (language, width)
                        assert await page.evaluate(SIDE_BY_SIDE) == (width > 1000), (language, width)
                        await person.goto(f"{web.url}/me")
                        wrong[f"/me {language} {width} {scheme}"] = await _wrong(page)
            assert {} == {where: said for where, said in wrong.items() if said}
            assert [] == person.errors

    asyncio.run(scenario())
