"""Long lists of choices are not part of streams: scripts request them, and pages without scripts contain them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random

from playwright.async_api import Response

from tests.clients.web.browsing import Person, chromium, needs_chromium, served_page
from tests.clients.web.test_page import sat_down

LISTED = "document.querySelectorAll('#choices-list[data-apart] button[name=choice]').length > 0"
SEED = 3


@needs_chromium
def test_scripts_request_long_lists(tmp_path: Path) -> None:
    """Both players of Allie Gator get theirs at the right position, which no cache keeps; the page itself has all."""

    async def scenario() -> None:
        async with served_page(tmp_path) as (_, web), chromium() as browser:
            people = [await Person.arrive(browser), await Person.arrive(browser)]
            answers: list[Response] = []

            def note(answer: Response) -> None:
                if "/choices?position=" in answer.url:
                    answers.append(answer)

            for person in people:
                person.page.on("response", note)
            address = await sat_down(web.url, "allie_gator", people)
            await people[0].page.wait_for_selector("#player-1")
            random = Random(SEED)
            while not any([await person.page.evaluate(LISTED) for person in people]) or not answers:
                if not any([await person.choose(random) for person in people]):
                    await asyncio.sleep(0.05)
            assert "private, no-store" == answers[-1].headers["cache-control"]
            assert {200, 409} >= {answer.status for answer in answers}
            for person in people:
                if await person.page.evaluate(LISTED):
                    shown = await person.page.locator("#choices-list").inner_html()
                    page = await (await person.page.request.get(address)).text()
                    assert page.count('name="choice"') == shown.count('name="choice"') > 0
                    other = await person.page.request.get(f"{address}/choices?position=1.00")
                    assert 409 == other.status
                    assert "" == await other.text()
            assert [] == [error for person in people for error in person.errors]

    asyncio.run(scenario())
