"""What browsers load: few and small files, kept for ever; and form tokens that no size of a response reveals."""

from __future__ import annotations

import asyncio
import gzip
import re
from pathlib import Path
from random import Random
from urllib.request import Request, urlopen

from rollbook_clients.web.app import read_static_files
from tests.clients.sdk.tables import running, tables
from tests.clients.web.browsing import Person, Reader, chromium, needs_chromium, served_page
from tests.clients.web.test_what_leaves import choices
from tests.clients.web.wire import Wire, wire_to
from tests.server.test_whole_service import run

FIRST_BYTES = 60_000
FIRST_REQUESTS = 12
NEXT_BYTES = 15_000
MOST_MODULES = 8
SEED = 5
TEMPLATES = Path(__file__).parents[3] / "clients" / "rollbook_clients" / "web" / "templates"


@needs_chromium
def test_a_first_visit_is_small_and_files_are_loaded_once(tmp_path: Path) -> None:
    """Measured on the wire, streams included: the lobby, a match and another match; each static file is loaded once."""

    async def scenario() -> None:
        async with (
            served_page(tmp_path) as (service, web),
            tables(service.address, "Anna", "Ben") as players,
            wire_to(web.port) as wire,
        ):
            matches = [await running(players), await running(players)]
            for seated in matches:
                await choices(seated, 20, Random(SEED))
            one, other = (f"/matches/{seated[0].id}" for seated in matches)
            async with chromium() as browser:
                for first, *others in (("/", one, other), (one, other, "/")):
                    person = await Person.arrive(browser)
                    size, asked = await _visit(person, wire, first)
                    print(first, size, asked)
                    assert size <= FIRST_BYTES, asked
                    assert len(asked) <= FIRST_REQUESTS, asked
                    seen = set(asked)
                    for path in others:
                        size, asked = await _visit(person, wire, path)
                        print(path, size, asked)
                        assert size <= NEXT_BYTES, asked
                        assert not [each for each in asked if each in seen and each.startswith("/s/")]
                        seen |= set(asked)
                    await person.page.context.close()

    run(scenario)


async def _visit(person: Person, wire: Wire, path: str) -> tuple[int, list[str]]:
    """Open a page, and wait until its stream has begun; returns the bytes and requests."""
    topic = path.rpartition("/")[2] or "lobby."
    await person.goto(wire.url + path)
    while not any(f"topic={topic}" in stream for stream in wire.streams):  # noqa: ASYNC110 - the browser sets no events
        await asyncio.sleep(0.05)
    await person.page.wait_for_load_state("load")
    return wire.take()


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
    # What only one script imports is part of it.
    assert not {"play.js", "queue.js"} & set(static.modules("match.js"))


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
