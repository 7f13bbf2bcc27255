"""Every page passes the checks of axe for assistive technology, in light and dark."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Final, Literal

import pytest
from axe_playwright_python.async_playwright import Axe

from tests.clients.web.browsing import Person, chromium, needs_chromium, served_page
from tests.clients.web.test_page import sat_down

pytestmark = [needs_chromium, pytest.mark.timeout(300)]

GOLDEN: Final = Path(__file__).parents[3] / "replays" / "golden" / "raffzahn-1-eventful.rollbook"
SERIOUS: Final = {"serious", "critical"}
SCHEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
TOUCHED: Final = "button, a.button, nav a, select, summary, input:not([type=hidden])"
SMALL: Final = """(touched) => [...document.querySelectorAll(touched)]
  .filter((each) => each.checkVisibility() && each.getBoundingClientRect().height < 44 && each.type !== "checkbox")
  .map((each) => each.outerHTML.slice(0, 80))"""


async def found(person: Person) -> list[str]:
    """The serious findings of axe on the current page, and controls that are too small to touch."""
    said: list[str] = []
    for scheme in SCHEMES:
        await person.page.emulate_media(color_scheme=scheme)
        results: dict[str, Any] = (await Axe().run(person.page)).response
        for violation in results["violations"]:
            if violation["impact"] in SERIOUS:
                said += [f"{scheme} {violation['id']}: {node['html'][:120]}" for node in violation["nodes"]]
    return said + [f"small: {each}" for each in await person.page.evaluate(SMALL, TOUCHED)]


def test_no_page_has_anything_serious_to_stumble_over(tmp_path: Path) -> None:
    """Lobby, forms, tables of players and spectators, replays with and without the end, verdicts, and refusals."""

    async def scenario() -> None:
        wrong: dict[str, list[str]] = {}
        async with served_page(tmp_path) as (_, web), chromium() as browser:
            people = [await Person.arrive(browser) for _ in range(2)]
            address = await sat_down(web.url, "cant_stop", people)
            await people[0].page.wait_for_selector("#board .die")
            for number, person in enumerate(people):
                wrong[f"table {number}"] = await found(person)
            await people[0].goto(f"{web.url}/open?game=raffzahn")
            await people[0].page.click("button.main")
            await people[0].page.wait_for_selector("#invitation")
            wrong["open table"] = await found(people[0])
            for path in ("/", "/me", "/open", "/open?game=wuerfelzoo", "/judge", "/nowhere", f"/matches/{'a' * 24}"):
                await people[0].goto(web.url + path)
                wrong[path] = await found(people[0])
            await people[0].goto(f"{web.url}/replays")
            wrong["/replays"] = await found(people[0])
            replay = await people[0].upload(web.url, GOLDEN)
            wrong["beginning of a replay"] = await found(people[0])
            await people[0].goto(f"{replay}?at=90")
            wrong["replay"] = await found(people[0])
            await people[0].page.click("button[name=spoilers][value=on]")
            await people[0].page.wait_for_selector("button[name=spoilers][value=off]")
            wrong["replay with spoilers"] = await found(people[0])
            await people[0].goto(f"{web.url}/verify")
            await people[0].page.set_input_files("#file", GOLDEN)
            await people[0].page.click("#verify button")
            await people[0].page.wait_for_selector("#verdict[data-verdict]")
            wrong["/verify"] = await found(people[0])
            await people[1].goto(f"{address}/replay?at=2")
            wrong["replay of a running match"] = await found(people[1])
        assert {} == {page: said for page, said in wrong.items() if said}

    asyncio.run(scenario())
