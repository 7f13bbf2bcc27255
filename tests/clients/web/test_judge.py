"""The judge's page: verdicts, tournaments and dice of dropped files."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.clients.web.browsing import Person, chromium, needs_chromium, served_page
from tests.replays.conformance import FOLDER, LIST

pytestmark = [needs_chromium, pytest.mark.timeout(300)]


def test_files_and_bundles_get_the_verdicts_of_the_audit(tmp_path: Path) -> None:
    """With the keys dropped beside them: an exact file, a changed one, another type of file, and a tournament."""
    exact = FOLDER / "genuine" / "raffzahn-eventful.rollbook"
    cases = [json.loads(line) for line in (FOLDER / LIST).read_text(encoding="ascii").splitlines()]
    diverged = [case for case in cases if case.get("with_rules", {}).get("event") and case["kind"] == "replay"]
    changed = next(
        FOLDER / case["file"] for case in diverged if case["keys"] == "keys/judge.pub" and "made" not in case
    )
    bundle = next(iter(sorted((FOLDER / "bundles").glob("*.zip"))))
    none = tmp_path / "none.rollbook"
    none.write_bytes(b"<script>alert(1)</script>")

    async def scenario() -> None:
        async with served_page(tmp_path) as (_, web), chromium() as browser:
            judge = await Person.arrive(browser)
            await judge.goto(f"{web.url}/judge")
            await judge.page.set_input_files("input[name=files]", [exact, changed, none, bundle])
            await judge.page.set_input_files("input[name=keys]", FOLDER / "keys" / "judge.pub")
            await judge.page.click("button.main")
            await judge.page.wait_for_selector("table")
            rows = judge.page.locator("tbody").first.locator("tr")
            verdicts = [await rows.nth(number).get_attribute("class") for number in range(3)]
            assert ["exact", "diverged", "unreadable"] == verdicts
            assert await judge.page.locator("h2", has_text="Tournament").count() == 1
            assert await judge.page.locator("h2", has_text="Dice").count() == 1
            link = await rows.nth(1).locator("a").first.get_attribute("href")
            assert "at=" in str(link)
            assert [] == judge.errors

    asyncio.run(scenario())
