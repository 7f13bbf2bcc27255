"""Tables arrive as changes: small, and equal to what a browser would make of the whole table."""

from __future__ import annotations

import asyncio
import json
import os
from random import Random
from statistics import median
from typing import Any

import pytest

from rollbook.rules.catalogue import current
from rollbook_clients.web.app import create_app
from rollbook_clients.web.changes import ChangingPart
from rollbook_clients.web.visit import PageOptions
from tests.clients.sdk.tables import GAMES, address, pick, run, running, tables, turn
from tests.clients.web.browsing import Person, chromium, needs_chromium
from tests.clients.web.streaming import listening, stream_of
from tests.server.feeds.watching import Theatre

SEED = int(os.environ.get("ROLLBOOK_SEED", "7"))
MEDIAN_BYTES = {"public": 1_500, "seat": 1_800}
MOST_BYTES = {"public": 3_600, "seat": 4_800}
WHOLE_BYTES = 40_000
"""Goals: 1,200, 3,000 and 24,000 for all. Edges of dice and tiles are not symbols, and the log is in the table."""

SHOW = """async (whole) => {
  const static_ = document.querySelector("link[rel=stylesheet]").href.replace("page.css", "");
  const [{ apply }, { patch }] = await Promise.all([import(static_ + "stream.js"), import(static_ + "patch.js")]);
  const parse = (html) => new DOMParser().parseFromString(html, "text/html").body.firstElementChild;
  document.getElementById("main").innerHTML = whole;
  const shown = document.getElementById("main").firstElementChild;
  const copy = parse(whole);
  shown.querySelector("#log-title").focus();
  const lost = [];
  document.addEventListener("focusout", (event) => event.relatedTarget === null && lost.push(event.target.id));
  window.change = ([edit, fresh]) => {
    const kept = ["board", "players", "log"].map((id) => document.getElementById(id));
    apply(copy, edit);
    patch(shown, copy.cloneNode(true));
    // The attribute `open` and texts of clocks change only in browsers.
    const wanted = parse(fresh);
    return [copy.isEqualNode(wanted), shown.isEqualNode(wanted), document.activeElement !== document.body,
      lost.length === 0, kept.every((each) => each.isConnected)].every(Boolean) ||
      [copy.outerHTML, shown.outerHTML, wanted.outerHTML, document.activeElement.id, lost.join()];
  };
}"""
"""Script that prepares a page for changes of a table."""


async def played(theatre: Theatre, game: str, choices: int) -> list[list[tuple[str, dict[str, Any]]]]:
    """Every table and message of a match, for the public and for the first seat, whose view is streamed alone."""
    app = create_app(PageOptions(address(theatre), token=theatre.token("Page")))
    seen: dict[ChangingPart, list[tuple[str, dict[str, Any]]]] = {}
    write = ChangingPart._write

    def record(self: ChangingPart, facts: dict[str, Any]) -> bytes:
        message = write(self, facts)
        assert self._now is not None
        seen.setdefault(self, []).append((self._now.html, json.loads(message)))
        return message

    names = ("Anna", "Ben", "Cleo", "Dora")[: max(2, current()[game].seats[0])]
    random = Random(SEED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ChangingPart, "_write", record)
        # The page knows guests only.
        async with (
            tables(address(theatre), names[0]) as (guest,),
            tables(theatre, *names[1:]) as others,
            app.router.lifespan_context(app),
        ):
            matches = await running([guest, *others], game)
            async with listening(app, stream_of(matches[0].id)) as public:
                await public.next()
                async with listening(app, stream_of(matches[0].id), guest.token) as seat:
                    await seat.next()
                    for _ in range(choices):
                        if (await matches[0].state()).summary.HasField("places"):
                            break
                        match, moment = await turn(matches)
                        if moment.legal is None:
                            break
                        await match.choose(pick(moment.legal, random))
                        await public.next()
    return list(seen.values())


@needs_chromium
@pytest.mark.parametrize("game", GAMES)
def test_changed_tables_equal_fresh_ones(game: str, pages: str) -> None:
    """For the public and a seat: every event makes the same elements, keeps the focus, and is small."""
    print("seed", SEED)
    found: list[list[tuple[str, dict[str, Any]]]] = []

    async def scenario(theatre: Theatre) -> None:
        found.extend(await played(theatre, game, 60))

    run(scenario)
    assert len(found) == 2

    async def look() -> None:
        async with chromium() as browser:
            person = await Person.arrive(browser)
            for seen in found:
                await person.goto(f"{pages}/replays")
                (first, whole), *others = seen
                assert "whole" in whole
                await person.page.evaluate(SHOW, first)
                assert len(others) > 20
                for fresh, message in others:
                    if "edit" in message:
                        assert await person.page.evaluate("change", [message["edit"], fresh]) is True
            assert [] == person.errors

    asyncio.run(look())
    for who, seen in zip(("public", "seat"), found, strict=True):
        sizes = [_size(message) for _, message in seen if "edit" in message]
        wholes = [len(html.encode()) for html, _ in seen]
        print(game, len(sizes), "median", median(sizes), "most", max(sizes), "whole", max(wholes))
        assert median(sizes) <= MEDIAN_BYTES[who]
        assert max(sizes) <= MOST_BYTES[who]
        assert max(wholes) <= WHOLE_BYTES


def _size(message: dict[str, Any]) -> int:
    """The bytes of a message without the signed head, which is the same for all sizes of changes."""
    changed, steps = message["edit"]
    edit = [{name: value for name, value in (changed or {}).items() if name != "data-head"}, steps]
    return len(json.dumps({**message, "edit": edit}, ensure_ascii=False, separators=(",", ":")).encode())
