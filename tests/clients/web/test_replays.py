"""Replays in a browser: controls, slider and places over time; each moment looks the same on every path to it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from rollbook.replay_file.container import read
from rollbook.rules.catalogue import current
from rollbook_clients.terminal.film import Film
from rollbook_clients.web.timeline import outline_of
from tests.clients.web.browsing import Person, Reader, chromium, needs_chromium

SEED = int(os.environ.get("ROLLBOOK_SEED", "6"))
GOLDEN = sorted((Path(__file__).parents[3] / "replays" / "golden").glob("*.rollbook"))
EVENTFUL: Final = {file.stem.partition("-")[0]: file for file in GOLDEN if "eventful" in file.stem}
KEYS = ("ArrowLeft", "ArrowRight", "ArrowRight", "PageUp", "PageDown", "PageDown", "Home", "End")
STEPS = 40

pytestmark = [needs_chromium, pytest.mark.timeout(300)]

SHOWN = "() => document.getElementById('replay').outerHTML"
MOMENT = "() => Number(document.getElementById('replay').dataset.at)"
SLIDE = """(value) => {
  const slider = document.getElementById("slider");
  slider.value = value;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
}"""
OUTSIDE: Final = """() => [...document.querySelectorAll("#board .plate, #board .zone-board, #film > *, #controls > *")]
  .filter((each) => each.checkVisibility())
  .filter((each) => {
    const { left, top, right, bottom } = each.getBoundingClientRect();
    return left < 0 || top < 0 || right > innerWidth || bottom > innerHeight;
  }).map((each) => each.outerHTML.slice(0, 80))"""
"""Script that returns the parts of the table and the controls that are outside the window."""


def film_of(file: Path) -> Film:
    """The film of a file."""
    return Film(read(file.read_bytes()).replay)


async def at(person: Person, number: int) -> None:
    """Wait until the replay shows this event."""
    await person.page.wait_for_function(f"(number) => ({MOMENT})() === number", arg=number)


@pytest.mark.parametrize(
    "file",
    [pytest.param(file, id=file.stem, marks=[] if "eventful" in file.stem else [pytest.mark.slow]) for file in GOLDEN],
)
def test_scrubbing_in_any_order_shows_what_a_fresh_look_shows(file: Path, pages: str) -> None:
    """By events, turns and the slider, with and without spoilers, all depends on the address alone."""
    print("seed", SEED)
    random = Random(f"{SEED} {file.name}")

    async def scenario() -> None:
        async with chromium() as browser:
            person = await Person.arrive(browser)
            await person.upload(pages, file)
            for step in range(STEPS):
                if step == STEPS // 2:
                    await person.page.click("button[name=spoilers]")
                    await person.page.wait_for_selector("button[name=spoilers][value=off]")
                if random.random() < 0.4:
                    await person.page.evaluate(SLIDE, random.randrange(1001))
                else:
                    await person.page.keyboard.press(random.choice(KEYS))
                if step % 10 == 9:
                    await person.page.wait_for_load_state("networkidle")
                    scrubbed = await person.page.evaluate(SHOWN)
                    await person.page.reload()
                    assert scrubbed == await person.page.evaluate(SHOWN), person.page.url
            assert [] == person.errors

    asyncio.run(scenario())


def test_a_replay_begins_with_the_first_throw_and_is_steered_by_keys_and_buttons(pages: str) -> None:
    """Never seating or entropy first; arrows step, Page keys turn, space plays, and the link leads to the moment."""
    film = film_of(EVENTFUL["cant_stop"])
    first = outline_of(film).first
    second = film.turns[1]

    async def scenario() -> None:
        async with chromium() as browser:
            person = await Person.arrive(browser)
            page = person.page
            await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
            path = await person.upload(pages, EVENTFUL["cant_stop"])
            await at(person, first)
            assert await page.locator("#things .die").count() == 4
            await page.keyboard.press("ArrowLeft")
            await page.keyboard.press("ArrowRight")
            await at(person, first + 1)
            await page.keyboard.press("PageDown")
            await at(person, second)
            await page.keyboard.press("PageUp")
            await at(person, first)
            await page.keyboard.press("Space")
            await page.wait_for_function(f"(first) => ({MOMENT})() > first", arg=first)
            await page.keyboard.press("Space")
            assert not await page.locator("html.playing").count()
            await page.focus("#slider")
            await page.keyboard.press("End")
            await at(person, second)
            await page.keyboard.press("ArrowLeft")
            await at(person, second - 1)
            assert await page.evaluate("() => document.activeElement.id") == "slider"
            for control, shown in (
                ("first", first),
                ("forward", first + 1),
                ("turn-forward", second),
                ("back", second - 1),
            ):
                await page.click(f"#{control}")
                await at(person, shown)
            await page.click("#link")
            await page.wait_for_selector("#copied.answer")
            assert f"{path}?at={second - 1}" == await page.evaluate("() => navigator.clipboard.readText()")
            await page.click("#log .number >> nth=-1")
            await at(person, 1)
            assert [] == person.errors

    asyncio.run(scenario())


@pytest.mark.parametrize("game", EVENTFUL)
def test_the_furthest_event_is_at_80_percent_of_the_slider(game: str, pages: str) -> None:
    """For every match: the same range, the handle at 80 %, a dashed rest behind it, and lines on the same scale."""
    film = film_of(EVENTFUL[game])

    async def scenario() -> list[Any]:
        async with chromium() as browser:
            person = await Person.arrive(browser, width=1440, height=900)
            path = await person.upload(pages, EVENTFUL[game])
            found = []
            for moment in (len(film) // 3, len(film) // 2, len(film) - 1):
                await person.goto(f"{path}?at={moment}")
                assert [] == await person.page.evaluate(OUTSIDE)
                found.append(
                    await person.page.evaluate(
                        """() => {
                          const { min, max, value } = document.getElementById("slider");
                          const track = document.querySelector("#track").getBoundingClientRect();
                          const rest = document.querySelector("#track .rest").getBoundingClientRect();
                          const line = document.querySelector("#strip .line").getBoundingClientRect();
                          const share = (x) => Math.round((100 * (x - track.left)) / track.width);
                          return [min, max, value, share(rest.left), share(line.left), share(line.right)];
                        }"""
                    )
                )
            assert [] == person.errors
            return found

    for each in asyncio.run(scenario()):
        assert ["0", "1000", "800", 80, 0, 80] == each


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("size", [(1440, 900), (390, 844)])
def test_a_replay_fits_on_one_screen(size: tuple[int, int], language: str, pages: str) -> None:
    """Plates, board and controls of all games; all hands at once may take more than a phone."""

    async def scenario() -> None:
        async with chromium() as browser:
            person = await Person.arrive(browser, language=language, width=size[0], height=size[1])
            for game in current():
                path = await person.upload(pages, EVENTFUL[game])
                for eyes in ("judge", "public", "seat-1"):
                    if (game, eyes, size[0]) == ("allie_gator", "judge", 390):
                        continue
                    await person.goto(f"{path}?at=40&eyes={eyes}")
                    assert [] == await person.page.evaluate(OUTSIDE), (game, eyes)

    asyncio.run(scenario())


def test_marks_are_above_the_remarkable_events() -> None:
    """Busts, columns won, stolen things, and Snap; a replay begins behind seating and readiness."""
    found: dict[str, set[str]] = {}
    for file in GOLDEN:
        outline = outline_of(film_of(file))
        assert outline.first > 1
        found.setdefault(file.stem.partition("-")[0], set()).update(each.kind for each in outline.highlights)
    assert {"bust", "won"} == found["cant_stop"]
    assert {"bust", "won", "steal", "snap"} == set().union(*found.values())


def test_a_replay_works_without_scripts(pages: str) -> None:
    """Links step, a form goes to a place on the slider, and another changes the perspective and the spoilers."""
    film = film_of(EVENTFUL["allie_gator"])
    first = outline_of(film).first
    turn = next(turn for turn in film.turns if turn > first)

    async def scenario() -> None:
        async with chromium() as browser:
            context = await browser.new_context(
                java_script_enabled=False, locale="en", viewport={"width": 390, "height": 844}
            )
            page = await context.new_page()
            await page.goto(f"{pages}/replays")
            await page.set_input_files("input[name=file]", EVENTFUL["allie_gator"])
            await page.click("form.drop button")
            shown = page.locator("#replay")
            assert str(first) == await shown.get_attribute("data-at")
            assert "Everyone with the address of an uploaded file can open it." in await page.inner_text("#side")
            for control, number in (("forward", first + 1), ("back", first), ("turn-forward", turn)):
                await page.click(f"#{control}")
                assert str(number) == await shown.get_attribute("data-at")
            await page.wait_for_selector("#play", state="hidden")
            await page.locator("#slider").fill("0")
            await page.click(".scrub button")
            assert str(first) == await shown.get_attribute("data-at")
            assert str(turn) == await shown.get_attribute("data-furthest")
            await page.select_option("#eyes", "seat-1")
            await page.click(".eyes button")
            assert await page.locator("#player-1 .sub", has_text="you").count() == 1
            await page.click("button[name=spoilers]")
            assert str(len(film)) == await shown.get_attribute("data-furthest")
            assert str(first) == await shown.get_attribute("data-at")
            await page.click("button[name=spoilers]")
            assert str(first) == await shown.get_attribute("data-furthest")

    asyncio.run(scenario())


def test_the_way_back_from_the_spoiler_switch_stays_on_the_page(pages: str) -> None:
    """Another address as the way back is ignored."""
    reader = Reader(pages)
    for back in ("https://example.org/", "//example.org", "/\\example.org"):
        answer = reader.post("/me/spoilers", {"spoilers": "on", "back": back})
        assert 'action="/me/spoilers"' in answer.text
