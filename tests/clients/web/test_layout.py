"""Acceptance of the layout: on every table nothing overlaps, nothing is off the screen, and only names are cut."""

from __future__ import annotations

import asyncio
from itertools import product
from pathlib import Path
from random import Random
from typing import Final, Literal

import pytest

from rollbook.rules.catalogue import current
from tests.clients.web.browsing import STEADY, Person, chromium, needs_chromium, served_page

pytestmark = [needs_chromium, pytest.mark.timeout(600)]

DESKTOP, PHONE = (1440, 900), (390, 844)
SCHEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
TURNS: Final = 2
"""The number of own turns at which a table is measured."""
NAME: Final = "Wilhelmine Mummelmann von und zu Wolfram"

FAULTS: Final = Path(__file__).with_name("faults.js").read_text(encoding="utf-8").partition("\n")[2]


async def seat_bots(person: Person, url: str, game: str, seats: int) -> None:
    """Open a match with a long name, with bots on all other seats."""
    page = person.page
    await person.goto(f"{url}/open?game={game}")
    await page.fill("input[name=name]", NAME)
    await page.select_option("select[name=seats]", str(seats))
    await page.click("button.main")
    await page.wait_for_selector("#tray button[name=all]")
    await page.wait_for_function(STEADY)
    assert [] == await page.evaluate(FAULTS, NAME)
    await page.click("#tray button[name=all]")
    await page.wait_for_selector('#table[data-state="3"]')


async def measure(
    tmp_path: Path, game: str, looks: list[tuple[int, tuple[int, int], str, Literal["light", "dark"]]]
) -> None:
    """Measure the tables with these numbers of seats, sizes, languages and colour schemes at own turns."""
    random = Random(3)
    async with served_page(tmp_path) as (_, web), chromium() as browser:
        for seats, (width, height), language, scheme in looks:
            person = await Person.arrive(browser, language=language, width=width, height=height)
            await person.page.emulate_media(color_scheme=scheme)
            await seat_bots(person, web.url, game, seats)
            for _ in range(TURNS):
                await person.page.wait_for_selector("#choose")
                await person.page.wait_for_function(STEADY)
                faults = await person.page.evaluate(FAULTS, NAME)
                assert [] == faults, (seats, width, language, scheme)
                await person.choose(random)
            await person.page.evaluate("document.querySelector('.resign form').requestSubmit()")
            await person.page.context.close()


@pytest.mark.parametrize("game", current())
def test_nothing_overlaps_at_any_number_of_seats(game: str, tmp_path: Path) -> None:
    """Each number of seats at one size, the largest on a phone."""
    seats = list(current()[game].seats)
    looks = [
        (number, (PHONE, DESKTOP)[place % 2], ("de", "en")[place // 2 % 2], "light")
        for place, number in enumerate(reversed(seats))
    ]
    asyncio.run(measure(tmp_path, game, looks))  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("game", current())
def test_nothing_overlaps_at_any_size_in_any_look(game: str, tmp_path: Path) -> None:
    """Every number of seats, both sizes, both languages, light and dark."""
    looks = list(product(current()[game].seats, (DESKTOP, PHONE), ("en", "de"), SCHEMES))
    asyncio.run(measure(tmp_path, game, looks))
