"""A second device: codes of the page work elsewhere and the other way round, and seats get ready on both devices."""

from __future__ import annotations

import asyncio
import re
from contextlib import aclosing
from pathlib import Path

from rollbook.v1.match_pb2 import MATCH_STATE_RUNNING
from rollbook_clients.sdk import connect
from tests.clients.sdk.tables import QUICK, tables
from tests.clients.terminal.pseudo import pseudo
from tests.clients.web.browsing import Reader, served_page
from tests.server.test_whole_service import run


def code_of(browser: Reader) -> str:
    """A code that this browser makes for another device."""
    found = re.search(r'<strong id="code">([A-Z2-7-]+)</strong>', browser.post("/device/code", {}).text)
    assert found
    return found[1]


def test_a_code_of_the_page_works_in_the_terminal_and_gets_ready_there(tmp_path: Path) -> None:
    """The browser takes the seat; the page is gone before the seats are closed, so the terminal sends Ready."""

    async def scenario() -> None:
        async with served_page(tmp_path) as (service, web), tables(service.address, "Ben") as (ben,):
            match = await ben.open("cant_stop")
            browser = Reader(web.url)
            sat = await asyncio.to_thread(browser.post, f"/matches/{match.id}/join", {"name": "Anna"})
            assert 200 == sat.status
            code = await asyncio.to_thread(code_of, browser)
            web.kill()
            await match.join()
            await match.ready()
            words = ["play", f"{service.address}/{match.id}", "--code", code]
            with pseudo(words, tmp_path / "home", size=(140, 45)) as terminal:
                await asyncio.to_thread(terminal.until, lambda text: "Your turn" in text or "Ben's turn" in text)
            state = await match.state()
            assert (MATCH_STATE_RUNNING, ["Anna", "Ben"]) == (
                state.summary.state,
                [seat.name for seat in state.summary.seats],
            )

    run(scenario)


def test_a_code_from_elsewhere_works_on_the_page_and_gets_ready_there(tmp_path: Path) -> None:
    """The browser becomes the same player with the same seat; a code is good for once, and its first part is enough."""

    async def scenario() -> None:
        async with served_page(tmp_path) as (service, web), tables(service.address, "Anna", "Ben") as (anna, ben):
            match = await ben.open("cant_stop", is_private=True)
            await anna.match(match.id, match.invitation_code).join()
            await match.join()
            code, browser = await anna.device_code(), Reader(web.url)
            assert 200 == (await asyncio.to_thread(browser.post, "/device", {"code": code})).status
            again = await asyncio.to_thread(Reader(web.url).post, "/device", {"code": code})
            assert 409 == again.status
            assert "This code is wrong, used or too old." in again.text
            assert match.id in (await asyncio.to_thread(browser.get, "/")).text
            await asyncio.to_thread(browser.get, f"/matches/{match.id}")
            await match.ready()
            async with aclosing(match.play()) as moments:
                await anext(moments)
            assert (await match.state()).summary.seats[0].ready
            third = (await asyncio.to_thread(code_of, browser))[:9].lower()
            async with connect(service.address, code=third, patience=QUICK) as device:
                assert ("Anna", 0) == (device.name, (await device.match(match.id).state()).perspective.seat)

    run(scenario)
