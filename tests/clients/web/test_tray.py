"""The tray of a player: the primary button names the choice that it sends, and the board shows what it would do."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from playwright.async_api import Page

from rollbook.rules.catalogue import current
from tests.clients.web.browsing import STEADY, Person, chromium, needs_chromium, served_page
from tests.clients.web.test_page import sat_down

SEED: Final = int(os.environ.get("ROLLBOOK_SEED", "6"))
MOVED: Final = "before => Number(document.getElementById('table').dataset.position) > before"

pytestmark = [needs_chromium, pytest.mark.timeout(300)]

SHOWN: Final = """() => {
  const primary = document.getElementById("primary");
  const choice = document.getElementById(primary.dataset.choice);
  const bare = (each) => each?.replace(/\\s+/g, " ").trim();
  return {
    label: bare(primary.querySelector("b, span")?.textContent),
    choice: bare(choice?.querySelector("b:not(.brief), .unseen, span")?.textContent),
    things: choice ? choice.dataset.touches.split(" ").filter(Boolean) : [],
    ghosts: [...document.querySelectorAll("#board .ghost:not([id])")].map((each) => each.parentElement.id),
    says: [...document.querySelectorAll("#board .says")].map((each) => each.textContent).filter(Boolean),
    arrow: document.querySelector("#arrow path").hasAttribute("d"),
    lit: [...document.querySelectorAll("#things .lit")].map((each) => each.id).sort(),
    fits: [...document.querySelectorAll("#pieces [data-fits]")].map((each) => each.dataset.thing).sort(),
    own: [...document.querySelectorAll("#pieces input")].map((each) => each.dataset.thing).sort(),
    picked: [...document.querySelectorAll("#pieces :checked")].map((each) => each.dataset.thing).sort(),
  };
}"""


def at_a_turn(
    tmp_path: Path, game: str, wanted: str, scenario: Callable[[Person], Awaitable[None]], *, is_phone: bool = False
) -> None:
    """Play until the first player's page has the element `wanted`, by offered plays rather than new throws."""
    print("seed", SEED)
    random = Random(SEED)

    async def play(person: Person) -> None:
        if await person.is_asked() and await person.page.locator("#instead").count():
            buttons, before = person.page.locator("#choices-list button:visible"), await person.position
            await buttons.nth(random.randrange(await buttons.count())).click()
            await person.page.wait_for_function(MOVED, arg=before)
        else:
            await person.choose(random)

    async def run() -> None:
        async with served_page(tmp_path) as (_, web), chromium() as browser:
            context = await browser.new_context(has_touch=is_phone, locale="en")
            others = [await Person.arrive(browser) for _ in range(current()[game].seats[0] - 1)]
            people = [await Person.within(context), *others]
            await sat_down(web.url, game, people)
            while not await people[0].page.locator(wanted).count():
                if await people[0].is_over():
                    await sat_down(web.url, game, people)
                for person in people:
                    if person is not people[0] or not await people[0].page.locator(wanted).count():
                        await play(person)
                await asyncio.sleep(0.02)
            await people[0].page.wait_for_function(STEADY)
            await scenario(people[0])
            assert [] == [error for person in people for error in person.errors]

    asyncio.run(run())


async def read_tray(page: Page) -> dict[str, Any]:
    """What the tray and the board show of the choice that the primary button would send."""
    now: dict[str, Any] = await page.evaluate(SHOWN)
    return now


def test_the_first_choice_is_named_and_drawn_before_any_press(tmp_path: Path) -> None:
    """Its runners stand as ghosts on its fields; with the mouse over another choice, on those of that one."""

    async def scenario(person: Person) -> None:
        page = person.page
        assert (await page.inner_text("#status")).startswith("Your turn. ")
        for number in range(await page.locator("#choices-list button").count()):
            if number:
                await page.locator("#choices-list button").nth(number).hover()
            now = await read_tray(page)
            assert now["things"]
            assert (now["things"], now["choice"]) == (now["ghosts"], now["label"])

    at_a_turn(tmp_path, "cant_stop", "#choices-list button + button[data-touches^=field]", scenario)


def test_the_first_three_taps_add_that_another_one_sends(tmp_path: Path) -> None:
    """The fourth one does not, even after the page was loaded again."""

    async def scenario(person: Person) -> None:
        page, said = person.page, []
        for number in range(4):
            await page.locator("#choices-list button").first.tap()
            said.append(await page.locator("#primary .again").count())
            if number == 1:
                await page.reload()
                await page.wait_for_function(STEADY)
            else:
                await page.keyboard.press("Escape")
        assert [1, 1, 1, 0] == said

    at_a_turn(tmp_path, "cant_stop", "#choices-list button[data-touches^=field]", scenario, is_phone=True)


def test_a_switch_turns_a_tile_face_down(tmp_path: Path) -> None:
    """The primary button follows it, and a click on the tile then takes it so."""

    async def scenario(person: Person) -> None:
        page, before = person.page, await person.position
        assert (await read_tray(page))["label"].endswith("face up")
        await page.check("#variant")
        now = await read_tray(page)
        assert now["label"].endswith("face down")
        sent: list[str] = []
        page.on("request", lambda request: sent.append(request.post_data or "") if request.method == "POST" else None)
        value = await page.get_attribute("#primary", "value")
        await page.locator(f"#board svg [id={now['things'][0]}]").first.click()
        await page.wait_for_function(MOVED, arg=before)
        assert [value] == [one.partition("choice=")[2].replace("%3D", "=") for one in sent]

    at_a_turn(tmp_path, "raffzahn", "#variant", scenario)


def test_dice_are_laid_or_thrown_again_in_two_modes(tmp_path: Path) -> None:
    """What glows is what the mode can use; a die of another kind replaces the picked ones."""

    async def scenario(person: Person) -> None:
        page = person.page
        now = await read_tray(page)
        assert (now["fits"], now["choice"]) == (now["lit"], now["label"])
        kinds = ["6 Elephant", "5 Bear"]
        for kind in kinds:
            thing = await page.locator(f"#pieces [data-kind='{kind}']").first.get_attribute("data-thing")
            await page.click(f"#things #{thing}")
        [picked] = (await read_tray(page))["picked"]
        assert kinds[1] == await page.get_attribute(f"#pieces [data-thing={picked}]", "data-kind")
        await page.click("#instead")
        now = await read_tray(page)
        assert (now["own"], []) == (now["lit"], now["picked"])
        for thing in now["own"][:2]:
            await page.click(f"#things #{thing}")
        await page.wait_for_selector("#primary:has-text('Throw again: 2 dice')")
        await page.click("#instead")
        now = await read_tray(page)
        assert (now["fits"], []) == (now["lit"], now["picked"])

    two_kinds = "#pieces:has([data-kind='6 Elephant']):has([data-kind='5 Bear']) ~ #instead"
    at_a_turn(tmp_path, "wuerfelzoo", two_kinds, scenario)


def test_an_arrow_joins_the_dice_of_a_swap(tmp_path: Path) -> None:
    """As soon as one of them is pressed; a press beside the dice of another player opens them, and closes them."""

    async def scenario(person: Person) -> None:
        page = person.page
        assert not (await read_tray(page))["arrow"]
        await page.locator("#things .lit").first.click()
        now = await read_tray(page)
        assert (True, 2) == (now["arrow"], len(now["things"]))
        for is_open in (1, 0):
            await page.click(".pen .sign")
            assert is_open == await page.locator(".pen.open").count()

    at_a_turn(tmp_path, "wuerfelzoo", ".hint:has-text('then another')", scenario)


def test_a_lane_says_how_much_room_a_card_leaves(tmp_path: Path) -> None:
    """For the first choice, and for the card under the mouse."""

    async def scenario(person: Person) -> None:
        page = person.page
        for number in range(2):
            await page.locator("#choices-list button[data-says]").nth(number).hover()
            now = await read_tray(page)
            card = (now["label"] or "").split()[1]
            assert {f"{card} leaves room for"} == {text.rpartition(" ")[0] for text in now["says"]}

    at_a_turn(tmp_path, "allie_gator", "button[data-says] + button[data-says]", scenario)
