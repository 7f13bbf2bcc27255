"""The overlay for video streams: names and scores inside every frame, options in the address, and nothing else."""

from __future__ import annotations

import asyncio
import base64
import os
import re
from itertools import product
from pathlib import Path
from random import Random
from typing import Final

import pytest

from rollbook.rules.catalogue import current
from tests.clients.sdk.tables import running, tables
from tests.clients.web.browsing import Person, Reader, chromium, needs_chromium, served_page
from tests.clients.web.test_what_leaves import NEVER, choices
from tests.server.test_whole_service import run

pytestmark = [needs_chromium, pytest.mark.timeout(300)]

PICTURES: Final = os.environ.get("ROLLBOOK_PICTURES", "")
"""A folder for pictures to look at; empty for none."""

FRAMES: Final = ((1920, 1080), (480, 270))
NAMES: Final = tuple(f"{first}-Maximiliane von und zu Hohenlohe {first}"[:40] for first in "ABCDEF")
MOVES: Final = 6

ASTRAY: Final = """() => {
  const wrong = [];
  const inside = ({ left, top, right, bottom }) =>
    left >= 0 && top >= 0 && right <= innerWidth + 0.5 && bottom <= innerHeight + 0.5;
  const board = document.querySelector("#board .middle > .zone").getBoundingClientRect();
  if (!inside(board) || board.width < 80 || board.height < 40) wrong.push(["board", board.toJSON()]);
  for (const each of document.querySelectorAll(".plate .name, .plate .score, .plate .sign, .plate .left:not(:empty)")) {
    if (!each.checkVisibility()) continue;
    const place = each.getBoundingClientRect();
    const plate = each.closest(".plate").getBoundingClientRect();
    const cut = place.bottom > plate.bottom + 1 || place.right > plate.right + 1 || place.height < 8;
    const beside = place.right <= board.left + 1 || place.left >= board.right - 1;
    const over = !beside && place.bottom > board.top + 1 && place.top < board.bottom - 1;
    if (!inside(place) || !inside(plate) || cut || over) wrong.push([each.className, place.toJSON()]);
  }
  for (const die of document.querySelectorAll(".things .die")) {
    if (!inside(die.getBoundingClientRect())) wrong.push(["die"]);
  }
  return wrong;
}"""
"""Script that returns what is outside the frame, cut off, or over the board."""

OUTLINES: Final = """() => [...document.querySelectorAll(".plate .name, .plate .score b")]
  .map((each) => parseFloat(getComputedStyle(each).webkitTextStrokeWidth))"""

CORNERS: Final = """async (picture) => {
  const image = new Image();
  image.src = `data:image/png;base64,${picture}`;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
  canvas.drawImage(image, 0, 0);
  return [[1, 1], [image.width - 2, 1], [1, image.height - 2], [image.width - 2, image.height - 2]]
    .map(([x, y]) => canvas.getImageData(x, y, 1, 1).data[3]);
}"""
"""Script that returns the opacity of a picture in its corners."""


@pytest.mark.parametrize("game", current())
def test_names_and_board_are_inside_every_frame(game: str, tmp_path: Path) -> None:
    """For most seats and long names: all places of the names, both frames, three sizes of letters, with a log."""
    seats = current()[game].seats[-1]

    async def scenario() -> None:
        async with served_page(tmp_path) as (service, web), tables(service.address, *NAMES[:seats]) as players:
            matches = await running(players, game, turn_seconds=600)
            await choices(matches, MOVES, Random(5))
            async with chromium() as browser:
                person = await Person.arrive(browser)
                for names, scale in product(("left", "right", "below", "off"), (50, 100, 200)):
                    query = f"names={names}&scale={scale}&log={2 if scale < 200 else 0}"
                    await person.goto(f"{web.url}/matches/{matches[0].id}/overlay?{query}")
                    await person.page.wait_for_selector(".middle > .zone")
                    for width, height in FRAMES:
                        await person.page.set_viewport_size({"width": width, "height": height})
                        assert [] == await person.page.evaluate(ASTRAY), (query, width)
                        if PICTURES:
                            file = f"{PICTURES}/overlay-{game}-{names}-{scale}-{width}.png"
                            await person.page.screenshot(path=file, omit_background=True)
                    shown = await person.page.locator(".plate .name:visible").count()
                    assert shown == (0 if names == "off" else seats)
                assert [] == person.errors

    run(scenario)


def test_the_options_of_the_address_change_what_is_shown(tmp_path: Path) -> None:
    """Scheme, log, clock and language; a wrong value counts as the default one; no perspective but the public one."""

    async def scenario() -> None:
        async with served_page(tmp_path) as (service, web), tables(service.address, "Anna", "Ben") as players:
            matches = await running(players, turn_seconds=600)
            await choices(matches, MOVES, Random(5))
            path = f"/matches/{matches[0].id}/overlay"
            reader = Reader(web.url)
            plain = await asyncio.to_thread(reader.get, path)
            wrong = "names=up&scheme=%22%3E&scale=9999&log=6&clock=no&lang=fr&eyes=seat-0"
            other = await asyncio.to_thread(reader.get, f"{path}?{wrong}")
            assert len({re.sub(r'data-left="\d+"', "", each.text) for each in (plain, other)}) == 1
            async with chromium() as browser:
                person = await Person.arrive(browser, width=480, height=270)
                page, blank = person.page, await browser.new_page()
                opaque = {"none": 0, "dark": 255, "light": 255}
                for scheme, expected in opaque.items():
                    await person.goto(f"{web.url}{path}?scheme={scheme}")
                    assert all(width > 1 for width in await page.evaluate(OUTLINES)) == (scheme == "none")
                    picture = await page.screenshot(omit_background=True)
                    corners = await blank.evaluate(CORNERS, base64.b64encode(picture).decode())
                    assert [expected] * 4 == corners
                for lines in range(6):
                    await person.goto(f"{web.url}{path}?log={lines}&lang=de")
                    assert lines == await page.locator("#log li:visible").count()
                    assert "de" == await page.get_attribute("html", "lang")
                    await page.wait_for_selector(".left:text-matches('^\\\\d+:\\\\d\\\\d$')")
                await person.goto(f"{web.url}{path}?clock=off")
                assert not await page.locator(".left:visible").count()
                assert [] == person.errors

    run(scenario)


def test_what_cannot_be_shown_is_an_empty_page(pages: str, tmp_path: Path) -> None:
    """Of a match that does not exist, and while the service is away: no text, no controls, and another try later."""

    async def scenario() -> None:
        async with served_page(tmp_path) as (_, web):
            for url, status in ((web.url, 404), (pages, 503)):
                answer = await asyncio.to_thread(Reader(url).get, f"/matches/{NEVER}/overlay")
                assert status == answer.status
                assert "<body></body>" in answer.text
                assert 'http-equiv="refresh"' in answer.text

    asyncio.run(scenario())
