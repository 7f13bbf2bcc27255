"""What browsers load: few and small files, kept for ever; and form tokens that no size of a response reveals."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from playwright.async_api import Page

from rollbook_clients.web.app import read_static_files
from tests.clients.sdk.tables import running, tables
from tests.clients.web.browsing import Person, Reader, chromium, needs_chromium, served_page
from tests.clients.web.test_what_leaves import choices
from tests.server.test_whole_service import run

FIRST_BYTES = 60_000
FIRST_REQUESTS = 12
NEXT_BYTES = 15_000
MOST_MODULES = 8
SEED = 5
TEMPLATES = Path(__file__).parents[3] / "clients" / "rollbook_clients" / "web" / "templates"


@dataclass
class Wire:
    """The bytes that a browser receives for each address, heads included."""

    received: Counter[str] = field(default_factory=Counter)
    asked: dict[str, str] = field(default_factory=dict)
    kept: set[str] = field(default_factory=set)
    """Requests that the browser answers from its cache."""

    async def listen(self, page: Page) -> None:
        """Count from now on."""
        session = await page.context.new_cdp_session(page)
        session.on("Network.requestWillBeSent", self._ask)
        session.on("Network.requestServedFromCache", lambda event: self.kept.add(event["requestId"]))
        session.on("Network.responseReceived", self._answer)
        session.on("Network.loadingFinished", self._finish)
        await session.send("Network.enable")

    def _ask(self, event: dict[str, Any]) -> None:
        self.asked[event["requestId"]] = urlsplit(event["request"]["url"]).path

    def _answer(self, event: dict[str, Any]) -> None:
        if event["response"].get("fromDiskCache"):
            self.kept.add(event["requestId"])
        elif event["requestId"] not in self.kept:
            self.received[self.asked[event["requestId"]]] += event["response"]["encodedDataLength"]

    def _finish(self, event: dict[str, Any]) -> None:
        if event["requestId"] not in self.kept:
            self.received[self.asked[event["requestId"]]] = event["encodedDataLength"]

    def take(self) -> dict[str, int]:
        """The bytes by address since the last call, without addresses that the browser had kept."""
        taken = dict(+self.received)
        self.received.clear()
        return taken


@needs_chromium
def test_a_first_visit_is_small_and_files_are_loaded_once(tmp_path: Path) -> None:
    """Measured by the browser: the lobby first, then a match and another match; no static file is loaded twice."""

    async def scenario() -> None:
        async with served_page(tmp_path) as (service, web), tables(service.address, "Anna", "Ben") as players:
            matches = [await running(players), await running(players)]
            await choices(matches[0], 20, Random(SEED))
            await choices(matches[1], 20, Random(SEED))
            async with chromium() as browser:
                for first, *others in (
                    ("/", f"/matches/{matches[0][0].id}", f"/matches/{matches[1][0].id}"),
                    (f"/matches/{matches[0][0].id}", f"/matches/{matches[1][0].id}", "/"),
                ):
                    person = await Person.arrive(browser)
                    wire = Wire()
                    await wire.listen(person.page)
                    await _visit(person, web.url + first)
                    taken = wire.take()
                    print(first, sum(taken.values()), taken)
                    assert sum(taken.values()) <= FIRST_BYTES, taken
                    assert len(taken) <= FIRST_REQUESTS, taken
                    seen = set(taken)
                    for path in others:
                        await _visit(person, web.url + path)
                        taken = wire.take()
                        print(path, sum(taken.values()), taken)
                        assert sum(taken.values()) <= NEXT_BYTES, taken
                        assert not seen & {each for each in taken if each.startswith("/s/")}, taken
                        seen |= set(taken)

    run(scenario)


async def _visit(person: Person, address: str) -> None:
    """Open a page, and wait until its stream has begun."""
    async with person.page.expect_response(lambda response: "stream" in response.url):
        await person.goto(address)
    await person.page.wait_for_load_state("load")


def test_files_are_compressed_and_kept_for_ever(pages: str) -> None:
    """At the address with the hash; another hash gets the same file, not to be kept, so that releases can mix."""
    sheet = re.search(r'rel="stylesheet" href="(/s/[0-9a-f]{12}/page.css)"', Reader(pages).get("/replays").text)
    assert sheet is not None
    plain = Reader(pages).get(sheet[1])
    request = Request(pages + sheet[1], headers={"accept-encoding": "gzip"})  # noqa: S310 - http
    with urlopen(request, timeout=60) as answer:  # noqa: S310 - http
        assert "gzip" == answer.headers["content-encoding"]
        assert "public, max-age=31536000, immutable" == answer.headers["cache-control"]
        compressed = answer.read()
    assert plain.body == gzip.decompress(compressed)
    assert len(compressed) < len(plain.body) / 3
    other = Reader(pages).get("/s/ffffffffffff/page.css")
    assert (plain.body, "no-store") == (other.body, other.headers["cache-control"])
    assert plain.body == Reader(pages).get("/static/page.css").body
    for path in ("/s/ffffffffffff/none.css", "/static/none.css", "/static/../policy.py"):
        assert 404 == Reader(pages).get(path).status


def test_pages_have_few_modules_and_preload_them() -> None:
    """Every module that a page imports is named in its head, and no template has an address without the hash."""
    static = read_static_files()
    for template in TEMPLATES.glob("*.html"):
        text = template.read_text(encoding="utf-8")
        assert "/static/" not in text, template.name
        for name in re.findall(r'scripts\("([^"]+)"\)', text):
            assert len(static.modules(name)) <= MOST_MODULES, template.name
            elements = static.scripts(name)
            assert all(static.address(module) in elements for module in static.modules(name))
    assert {"match.js", "patch.js", "stream.js"} <= set(static.modules("match.js"))


def test_pages_are_compressed_and_their_form_tokens_differ(pages: str) -> None:
    """Each response writes the token of the same browser differently, and each of them is accepted."""
    reader = Reader(pages)
    tokens = {reader.form_token() for _ in range(3)}
    assert 3 == len(tokens)
    assert 1 == len({_unmask(token) for token in tokens})
    assert 200 == reader.post("/language", {"language": "de", "back": "/replays"}).status
    for forged in (_unmask(tokens.pop()), "0" * 128, "", "x" * 128):
        assert 403 == reader.post("/language", {"language": "en"}, token=forged).status
    request = Request(f"{pages}/replays", headers={"accept-encoding": "gzip"})  # noqa: S310 - http
    with urlopen(request, timeout=60) as answer:  # noqa: S310 - http
        assert "gzip" == answer.headers["content-encoding"]
        assert b"<h1>" in gzip.decompress(answer.read())


def _unmask(token: str) -> str:
    half = len(token) // 2
    noise, masked = bytes.fromhex(token[:half]), bytes.fromhex(token[half:])
    return bytes(one ^ other for one, other in zip(noise, masked, strict=True)).hex()
