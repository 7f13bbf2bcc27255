"""The lobby: from a first visit to a table, the visitor's own matches, and the tables that can be watched."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path
from random import Random
from typing import Final

import pytest
from playwright.async_api import Browser, Page

from rollbook.v1.match_pb2 import MATCH_STATE_RUNNING, MatchSummary
from rollbook_clients.web.app import create_app
from rollbook_clients.web.live import MOST, mix
from rollbook_clients.web.visit import PageOptions
from rollbook_clients.web.visitors import Visitor
from tests.clients.sdk.tables import address, play, run, running, tables
from tests.clients.web.browsing import Reader, chromium, needs_chromium, served_page
from tests.clients.web.streaming import listening
from tests.clients.web.test_what_leaves import choices
from tests.server.feeds.watching import Theatre

SEED: Final = int(os.environ.get("ROLLBOOK_SEED", "5"))
MOST_BYTES: Final = 1_500
"""Largest patch of one row."""

pytestmark = [needs_chromium, pytest.mark.timeout(300)]


async def visitor(browser: Browser, url: str, *, scripts: bool = True) -> Page:
    """A new browser in the lobby."""
    context = await browser.new_context(locale="en", java_script_enabled=scripts)
    page = await context.new_page()
    await page.goto(url)
    return page


@pytest.mark.parametrize("scripts", [True, False])
def test_the_first_click_makes_the_guest_and_sits_down(scripts: bool, tmp_path: Path) -> None:
    """With the proposed name; afterwards the only brass button of the lobby leads back to the table."""

    async def scenario() -> None:
        async with served_page(tmp_path) as (_, web), chromium() as browser:
            page = await visitor(browser, web.url, scripts=scripts)
            proposed = await page.input_value("input[name=name]")
            assert proposed
            assert {"visit"} == {cookie.get("name") for cookie in await page.context.cookies()}
            await page.reload()
            assert proposed == await page.input_value("input[name=name]")
            assert 1 == await page.locator(".primary").count()
            await page.click("button[value=wuerfelzoo]")
            await page.wait_for_selector("#table")
            assert "guest" in {cookie.get("name") for cookie in await page.context.cookies()}
            assert proposed in await page.inner_text("#players")
            at = page.url
            await page.wait_for_selector('#table[data-state="3"]', timeout=60_000)
            await page.goto(web.url)
            while not await page.locator(".own.on-turn").count():
                await page.reload()
            assert await page.locator(".hero .primary").count() == 0
            assert "Back to the table" in await page.inner_text(".own .primary")
            await page.click(".own .primary")
            assert at == page.url

    asyncio.run(scenario())


def test_enter_in_the_name_field_plays_the_last_game(tmp_path: Path) -> None:
    """On the first visit the first game, later the one whose button was pressed last."""

    async def scenario() -> None:
        async with served_page(tmp_path) as (_, web), chromium() as browser:
            page = await visitor(browser, web.url)
            for game, press in (("cant_stop", ""), ("raffzahn", "button[value=raffzahn]"), ("raffzahn", "")):
                await page.goto(web.url)
                await page.fill("input[name=name]", "Anna")
                await (page.click(press) if press else page.press("input[name=name]", "Enter"))
                await page.wait_for_selector(f".game-{game}", state="attached")
                await page.click("button[form=leave-form]")
                await page.wait_for_selector(".hero")

    asyncio.run(scenario())


def test_proposed_names_are_stable_and_differ() -> None:
    """A visitor keeps the proposal, and another name wins."""
    names = {Visitor(bytes([number]) * 32).proposed_name for number in range(200)}
    assert len(names) > 100
    assert all(name.isalpha() and name.istitle() for name in names)
    assert Visitor(bytes(32)).proposed_name == Visitor(bytes(32)).proposed_name
    assert "Anna" == Visitor(bytes(32), name="Anna").proposed_name


def test_a_refusal_keeps_the_form(tmp_path: Path) -> None:
    """The reason stands in the lobby, and on the form of a new match, with all that was typed."""

    async def scenario() -> None:
        async with served_page(tmp_path) as (_, web):
            reader = Reader(web.url)
            for path, fields in (
                ("/play", {"people": "yes"}),
                ("/open", {"private": "yes", "seats": "4", "clock": "300", "bots": "yes"}),
            ):
                answer = await asyncio.to_thread(
                    reader.post, path, {"game": "cant_stop", "name": "Uno (bot)", **fields}
                )
                assert 409 == answer.status
                assert 'role="alert">Choose another name' in answer.text
                assert 'value="Uno (bot)"' in answer.text
                assert re.search(r'name="(people|private)" value="yes" checked', answer.text)
            assert '<option value="300" selected>' in answer.text
            assert '<option value="4" selected>4</option>' in answer.text

    asyncio.run(scenario())


def test_a_match_with_bots_opens_from_the_form(tmp_path: Path) -> None:
    """With the check box all other seats are taken by bots, and the match begins."""

    async def scenario() -> None:
        async with served_page(tmp_path) as (_, web), chromium() as browser:
            page = await visitor(browser, web.url)
            await page.click("text=More ways to play")
            await page.click(".chip >> text=Raffzahn")
            await page.check("input[name=bots]")
            await page.click("button.main")
            await page.wait_for_selector('.game-raffzahn, #table[data-state="3"]', state="attached")
            await page.wait_for_selector('#table[data-state="3"]', timeout=60_000)

    asyncio.run(scenario())


def test_tables_are_watched_live(tmp_path: Path) -> None:
    """Drawing, scores, the awaited name and the number of watchers follow the match without a reload."""

    async def scenario() -> None:
        async with served_page(tmp_path) as (service, web), tables(service.address, "Anna", "Ben") as players:
            matches = await running(players)
            row = f"#match-{matches[0].id}"
            async with chromium() as browser:
                page = await visitor(browser, web.url)
                lists: list[str] = []
                network = await page.context.new_cdp_session(page)
                network.on(
                    "Network.eventSourceMessageReceived",
                    lambda message: lists.extend(re.findall('^{"html": "<', message["data"])),
                )
                await network.send("Network.enable")
                await page.reload()
                drawing = "(row) => document.querySelector(`${row} .thumb`).innerHTML"
                await page.wait_for_selector(f"{row} .seat-line.on")
                first = await page.evaluate(drawing, row)
                await choices(matches, 8, Random(SEED))
                await page.wait_for_function(f"(first) => ({drawing})('{row}') !== first", arg=first)
                on = (await matches[0].state()).summary.awaited_seat
                await page.wait_for_selector(f"#seat-{matches[0].id}-{on}.on")
                assert "watching" not in await page.inner_text(row)
                watcher = await page.context.new_page()
                await watcher.goto(f"{web.url}/matches/{matches[0].id}")
                await page.wait_for_selector(f"{row} >> text=1 watching")
                assert not lists, "the page had the list already"
                await page.click(".chip >> text=Raffzahn")
                assert await page.locator("#matches .row").count() == 0
                await page.click(".chip >> text=Only people")
                assert "game=raffzahn&people=yes" in page.url
                await page.click(".chip >> text=Raffzahn")
                await page.click(".chip >> text=All 1")
                assert await page.locator("#matches .row").count() == 1

    asyncio.run(scenario())


def test_a_row_is_sent_in_few_bytes() -> None:
    """Every patch of a whole match of Würfelzoo with the most seats is small, and none comes twice."""
    print("seed", SEED)

    async def scenario(theatre: Theatre) -> None:
        app = create_app(PageOptions(address(theatre), token=theatre.token("Page")))
        names = ("Anna", "Ben", "Carla", "Dora", "Emil")
        async with tables(theatre, *names) as players, app.router.lifespan_context(app):
            matches = await running(players, "wuerfelzoo")
            async with listening(app, "/stream?topic=lobby~") as sent:
                patches: list[bytes] = []

                async def collect() -> None:
                    while True:
                        body = (await sent.chunk()).partition(b"data: ")[2]
                        # A new row is sent with its names, and changes the number of all.
                        if b'"edit"' in body and b"All " not in body:
                            patches.append(body)

                collecting = asyncio.create_task(collect())
                while len(patches) < 4:
                    await choices(matches, 3, Random(SEED))
                collecting.cancel()
            assert len(patches) == len(set(patches))
            assert max(map(len, patches)) <= MOST_BYTES
            assert not any(name.encode() in patch for name in names for patch in patches)

    run(scenario)


def test_a_delayed_or_private_match_leaks_nothing_into_the_lobby(tmp_path: Path) -> None:
    """The row of a delayed match keeps its bytes while its players choose; a private one is nowhere in the answers."""
    print("seed", SEED)

    async def scenario() -> None:
        async with served_page(tmp_path) as (service, web), tables(service.address, "Anna", "Ben") as players:
            delayed = await running(players, spectator_delay_seconds=300)
            private = await running(players, "wuerfelzoo", is_private=True)
            reader = Reader(web.url)

            def lobby() -> tuple[str, list[str]]:
                texts = [reader.get(path).text for path in ("/", "/?game=raffzahn", "/?game=wuerfelzoo", "/me")]
                row = re.search(rf'<li id="match-{delayed[0].id}".*?</li>', texts[0], re.DOTALL)
                assert row is not None
                return re.sub(r"\d+ min", "", row[0]), texts

            before, _ = await asyncio.to_thread(lobby)
            await choices(delayed, 12, Random(SEED))
            await choices(private, 4, Random(SEED))
            after, texts = await asyncio.to_thread(lobby)
            assert before == after
            assert re.search("shown .* late", after)
            assert not any(private[0].id in text for text in texts)

    asyncio.run(scenario())


def test_finished_matches_have_dates_and_no_result_unless_asked_for(tmp_path: Path) -> None:
    """The switch is remembered by the browser; without it no list says who won."""
    print("seed", SEED)

    async def scenario() -> None:
        async with served_page(tmp_path) as (service, web), tables(service.address, "Anna", "Ben") as players:
            matches = await running(players)
            await asyncio.gather(*(play(match, Random(SEED)) for match in matches))
            reader = Reader(web.url)

            def finished() -> str:
                found = re.search(r'<ol class="past-list">.*?</ol>', reader.get("/").text, re.DOTALL)
                return "" if found is None else found[0]

            shown = ""
            while not shown:
                shown = await asyncio.to_thread(finished)
            assert re.search(r'<time datetime="[^"]+" title="\d{4}-[^"]+">today \d\d:\d\d</time> · 0 min', shown)
            assert "wins" not in shown
            await asyncio.to_thread(reader.post, "/me/spoilers", {"spoilers": "on", "back": "/"})
            assert re.search("(Anna|Ben) wins", await asyncio.to_thread(finished))
            await asyncio.to_thread(reader.post, "/me/spoilers", {"spoilers": "off"})
            assert "wins" not in await asyncio.to_thread(finished)

    asyncio.run(scenario())


def test_each_game_has_its_share_of_the_followed_tables() -> None:
    """Whatever one game has, people come before bots, and new matches before old ones."""

    def match(number: int, game: str, *, is_house: bool = False) -> MatchSummary:
        seats = [MatchSummary.Seat(taken=True, is_house=is_house)]
        return MatchSummary(match_id=str(number), game=game, state=MATCH_STATE_RUNNING, opened_ms=number, seats=seats)

    many = [match(number, "cant_stop", is_house=number != 3) for number in range(100)]
    few = [match(number, "raffzahn") for number in range(1_000, 1_003)]
    chosen = mix([*many, *few])
    assert MOST == len(chosen)
    assert ["1002", "3", "1001", "99", "1000", "98", "97"] == [each.match_id for each in chosen[:7]]
