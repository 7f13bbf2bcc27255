"""Clocks on the page: beside the awaited seat, right after each change of turn, and none while the service is away."""

from __future__ import annotations

import asyncio
import os
import re
from contextlib import aclosing, suppress
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from rollbook.match.clock import SECOND_MS
from rollbook.server.feeds import feed
from rollbook_clients.sdk import CaughtUp, Event, MovedOn
from rollbook_clients.web.app import create_app
from rollbook_clients.web.visit import PageOptions
from tests.clients.sdk.proxy import Pair, Proxy
from tests.clients.sdk.tables import address, run, running, table, tables, turn
from tests.clients.web.browsing import Person, chromium, needs_chromium, served_page
from tests.clients.web.streaming import listening, stream_of
from tests.ports import free_port
from tests.server.feeds.test_clocks_beside_events import clocks_after
from tests.server.feeds.watching import Theatre

SEED: Final = int(os.environ.get("ROLLBOOK_SEED", "20"))
TURN_MS, RESERVE_MS = 40_000, 20_000

SAMPLED: Final = """() => {
  window.samples = [];
  const table = document.getElementById("table");
  const seat = (inside) => (inside ? Number(inside.closest("li").id.replace("player-", "")) : null);
  const look = () => {
    const clocks = [...document.querySelectorAll("#players .left")];
    window.samples.push({
      position: Number(table.dataset.position),
      at: Date.now(),
      turn: seat(document.querySelector("#players .on-turn .name")),
      clocks: clocks.map((clock) => [seat(clock), clock.textContent]),
    });
  };
  new MutationObserver(look).observe(table, { childList: true, subtree: true, attributes: true, characterData: true });
  look();
}"""
"""Script that records the clocks after every change of the table."""

HEARD: Final = """() => {
  window.warnings = [];
  const alarm = document.getElementById("alarm");
  const note = () => {
    if (!/^\\d+:\\d\\d$/.test(alarm.textContent.trim())) return;
    const own = document.querySelector("#players .left")?.closest("li").querySelector(".name").textContent ?? "";
    window.warnings.push([alarm.textContent.trim(), own]);
  };
  new MutationObserver(note).observe(alarm, { childList: true, characterData: true, subtree: true });
}"""
"""Script that records every announced time, with the name beside which a clock runs."""


def milliseconds(text: str) -> int:
    """Convert the text of a clock to milliseconds, counting a started second as whole.

    >>> milliseconds("1:05")
    65000
    """
    minutes, seconds = text.split(":")
    return (60 * int(minutes) + int(seconds)) * SECOND_MS


def wrong_samples(samples: list[dict[str, Any]], events: list[Event]) -> list[str]:
    """Return the samples of the page that contradict the clocks computed from the events."""
    found, right = [], clocks_after([event.data for event in events], TURN_MS, RESERVE_MS)
    for sample in samples:
        if sample["position"] not in right:
            continue
        clocks = right[sample["position"]]
        seat, passed_ms = clocks.seat, sample["at"] - clocks.at_ms
        left_ms = clocks.turn_left_ms + clocks.reserve_left_ms[seat]
        if [seat] != [beside for beside, _ in sample["clocks"]] or seat != sample["turn"]:
            found.append(f"seat {seat} is awaited: {sample}")
            continue
        shown_ms = milliseconds(sample["clocks"][0][1])
        if not left_ms - passed_ms - SECOND_MS <= shown_ms < left_ms + SECOND_MS:
            found.append(f"{left_ms} ms were left {passed_ms} ms ago: {sample}")
    return found


@needs_chromium
@pytest.mark.timeout(600)
def test_after_each_change_of_turn_the_clock_runs_beside_whoever_is_awaited(tmp_path: Path) -> None:
    """Player and spectator see the right seat and the right time left after every change of the page."""
    print("seed", SEED)
    random = Random(SEED)

    async def scenario() -> None:
        async with served_page(tmp_path) as (service, web), chromium() as browser:
            async with tables(service.address, "Anna", "Ben") as players:
                matches = await running(
                    players, turn_seconds=TURN_MS // SECOND_MS, reserve_seconds=RESERVE_MS // SECOND_MS
                )
                spectator = await Person.arrive(browser)
                await spectator.goto(f"{web.url}/matches/{matches[0].id}")
                await spectator.page.evaluate(SAMPLED)
                seats: list[int] = []
                while len(seats) < 60 or seats.count(0) < 10 or seats.count(1) < 10:
                    match, moment = await turn(matches)
                    assert moment.legal
                    seats.append(matches.index(match))
                    # Make the last choice a stop where the rules allow it.
                    made = await match.choose(
                        [*moment.legal][-1] if random.random() < 0.7 else next(iter(moment.legal))
                    )
                    await spectator.page.wait_for_function(
                        "wanted => Number(document.getElementById('table').dataset.position) >= wanted",
                        arg=made.position.sequence,
                    )
                samples = await spectator.page.evaluate("window.samples")
                await matches[0].resign()
                events: list[Event] = []
                async with aclosing(matches[0].watch()) as frames:
                    async for frame in frames:
                        events += getattr(frame, "events", ())
                        if isinstance(frame, CaughtUp):
                            break
            assert sum(one != other for one, other in pairwise(seats)) > 10
            assert len({sample["position"] for sample in samples}) > 40
            assert [] == wrong_samples(samples, events)

    asyncio.run(scenario())


@needs_chromium
@pytest.mark.timeout(600)
def test_a_player_is_warned_of_the_own_clock_alone(tmp_path: Path) -> None:
    """The other player's clock runs low at a change of turn; no warning is announced for it."""

    async def scenario() -> None:
        async with served_page(tmp_path) as (service, web), chromium() as browser:
            async with table(service.address, "Ben") as player:
                ben = await player.open("cant_stop", 2, turn_seconds=12)
                await ben.join()
                anna = (await Person.arrive(browser)).page
                await anna.goto(f"{web.url}/matches/{ben.id}")
                await anna.fill("#join input[name=name]", "Anna")
                await anna.click("#join button")
                await ben.ready()
                await anna.wait_for_selector("#players .left")
                await anna.evaluate(HEARD)
                at_least = "wanted => Number(document.getElementById('table').dataset.position) >= wanted"
                bens = 0
                while bens < 3 or len(await anna.evaluate("window.warnings")) < 2:
                    moment = await ben.state()
                    await anna.wait_for_function(at_least, arg=moment.position.sequence)
                    if moment.summary.awaited_seat == 0:
                        # With so little left, a clock beside the wrong player would cause a warning.
                        await anna.wait_for_function(
                            "() => (document.querySelector('#player-0 .left')?.textContent ?? '') <= '0:10'"
                        )
                        with suppress(MovedOn):
                            if moment.legal:
                                bens += 1
                                await ben.choose([*moment.legal][-1], at=moment.position)
                    else:
                        await anna.wait_for_function(
                            "() => (document.querySelector('#player-1 .left')?.textContent ?? '') < '0:10'"
                        )
                        await anna.evaluate(
                            "[...document.querySelectorAll('#choose button[name=choice]')].at(-1)?.click()"
                        )
                    await anna.wait_for_function(at_least, arg=moment.position.sequence + 1)
                warnings = await anna.evaluate("window.warnings")
            assert all(re.fullmatch("Anna", name) for _, name in warnings), warnings

    asyncio.run(scenario())


def clock_of(table: bytes) -> int | None:
    """Return the time left on the clock of a table, or None without a clock."""
    found = re.search(rb'data-left="(\d+)"', table)
    return None if found is None else int(found[1])


def test_a_page_that_comes_late_shows_what_is_left_by_then() -> None:
    """The first events that the page receives happened long ago."""

    async def scenario(theatre: Theatre) -> None:
        app = create_app(PageOptions(address(theatre), token=theatre.token("Page")))
        async with tables(theatre, "Anna", "Ben") as players, app.router.lifespan_context(app):
            matches = await running(players, turn_seconds=600)
            theatre.clock.ms += 200 * SECOND_MS
            async with listening(app, stream_of(matches[0].id)) as stream:
                _, first = await stream.next()
                left = clock_of(first)
                assert left is not None
                assert left <= 400 * SECOND_MS

    run(scenario)


def test_while_the_service_is_away_the_page_shows_no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page does not know whose clock runs; it shows the clock again when the service is back."""
    monkeypatch.setattr(feed, "BEAT_SECONDS", 0.05)

    async def scenario(theatre: Theatre) -> None:
        async with Proxy(theatre.port) as proxy, tables(theatre, "Anna", "Ben") as players:
            app = create_app(PageOptions(proxy.address, token=theatre.token("Page")))
            matches = await running(players, turn_seconds=600)
            path = stream_of(matches[0].id)
            async with app.router.lifespan_context(app), listening(app, path) as stream:
                _, shown = await stream.next()
                assert clock_of(shown) is not None
                proxy.upstream = free_port()
                proxy.each(Pair.cut)
                while b'data-away="yes"' not in shown:
                    _, shown = await stream.next()
                assert clock_of(shown) is None
                proxy.upstream = theatre.port
                while clock_of(shown) is None:
                    _, shown = await stream.next()
                assert b'data-away="no"' in shown

    run(scenario)
