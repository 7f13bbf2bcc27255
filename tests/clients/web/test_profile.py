"""The profile, in a browser without scripts: the visitor's name, matches and switches, and how to be forgotten."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from starlette.types import Message

from rollbook_clients.web import me_pages
from rollbook_clients.web.app import create_app
from rollbook_clients.web.visit import PageOptions
from tests.clients.sdk.tables import address, run, tables
from tests.clients.web.browsing import Reader, served_page
from tests.server.feeds.watching import Theatre

pytestmark = pytest.mark.timeout(300)


def opened(reader: Reader, game: str) -> str:
    """Open a private match; returns its id."""
    page = reader.post("/open", {"game": game, "name": "Anna", "private": "yes"}).text
    found = re.search(r'data-topic="(\w+)', page)
    assert found is not None
    return found[1]


def test_the_profile_lists_all_own_matches_and_forgets(tmp_path: Path) -> None:
    """Private ones too, and only to this visitor; after "Forget me" the browser is a new visitor."""

    def scenario(url: str) -> None:
        reader, stranger = Reader(url), Reader(url)
        assert "You have not played here yet." in reader.get("/me").text
        running, left = opened(reader, "cant_stop"), opened(reader, "raffzahn")
        reader.post(f"/matches/{left}/leave", {})
        text = reader.get("/me").text
        assert f'href="/matches/{running}"' in text
        assert 'href="/device"' in text
        assert running not in stranger.get("/me").text
        reader.post("/me", {"name": "Greta"})
        assert 'name="name" value="Greta"' in reader.get("/me").text
        assert 'value="Greta"' in reader.get("/").text
        assert "<b>No</b>" in reader.get("/me").text
        assert "<b>Yes</b>" in reader.post("/me/spoilers", {"spoilers": "on"}).text
        for path in ("/me", "/me/spoilers", "/me/forget"):
            assert 403 == reader._sent(path, b"form_token=wrong", {}).status
        before = reader.form_token()
        reader.post("/me/forget", {})
        assert 403 == reader.post("/me", {"name": "Greta"}, token=before).status
        text = reader.get("/me").text
        assert "Greta" not in text
        assert running not in text
        assert "<b>No</b>" in text

    async def serve() -> None:
        async with served_page(tmp_path) as (_, web):
            await asyncio.to_thread(scenario, web.url)

    asyncio.run(serve())


def test_the_profile_has_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page begins where the one before ended; senseless numbers show the first."""
    monkeypatch.setattr(me_pages, "EACH", 2)

    async def scenario(theatre: Theatre) -> None:
        app = create_app(PageOptions(address(theatre), token=theatre.token("Page")))
        async with tables(address(theatre), "Anna") as (anna,), app.router.lifespan_context(app):
            matches = [await anna.open("cant_stop") for _ in range(5)]
            for match in matches:
                await match.join()
            cookie = f"visit={'00' * 32}; guest={anna.token}"

            async def get(query: str) -> str:
                sent: list[bytes] = []

                async def send(message: Message) -> None:
                    sent.append(message.get("body", b""))

                async def receive() -> Message:
                    return {"type": "http.request", "body": b""}

                headers = [(b"cookie", cookie.encode())]
                scope = {"type": "http", "method": "GET", "path": "/me", "headers": headers, "client": None}
                await app({**scope, "query_string": query.encode()}, receive, send)
                return b"".join(sent).decode()

            shown = [re.findall(r"/matches/(\w+)", await get(f"page={page}")) for page in (1, 2, 3, 4)]
            assert [2, 2, 1, 0] == list(map(len, shown))
            assert {match.id for match in matches} == {each for page in shown for each in page}
            assert "page=2" in await get("")
            assert "page=4" not in await get("page=3")
            for query in ("page=0", "page=x", "page=-1", "page=99999999"):
                assert shown[0] == re.findall(r"/matches/(\w+)", await get(query))

    run(scenario)
