"""The log beside a table, to which the page adds line by line during a match."""

from __future__ import annotations

import asyncio
import re
from random import Random

import pytest

from rollbook_clients.sdk import Event
from rollbook_clients.terminal.known_game import ShownEvent, Story, known_game
from rollbook_clients.web.log import SHOWN_EVENTS, ShownLog, mark_up
from rollbook_clients.web.words import words_in
from rollbook_replays.games.seats import Seating
from rollbook_replays.text import Text
from tests.clients.sdk.tables import events, play, run, running, tables
from tests.server.feeds.watching import Theatre

LINE = re.compile(
    r'<li id="line-(\d+)" data-event="\1"(?: data-alarm="\w+")?>'
    r'<a href="/matches/m/replay\?at=\1" class="number">\1</a>'
)


def a_match() -> tuple[list[Event], Seating]:
    """Return the public events of a match and its seating."""
    seen: list[Event] = []
    seating: list[Seating] = []

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna", "Ben") as players:
            matches = await running(players)
            await asyncio.gather(*(play(match, Random(1)) for match in matches))
            seen.extend(await events(matches[0]))
            summary = (await matches[0].state()).summary
        known = known_game(summary.game)
        assert known is not None
        seating.append(known.seating(summary, None, words_in("en")))

    run(scenario)
    return seen, seating[0]


def test_every_event_is_told_once_however_often_the_log_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rendered lines are reused: a long match costs no more to render than a short one."""
    seen, seating = a_match()
    whole = ShownLog("m").items(seen, seating)
    told: list[int] = []
    scene = Story.scene

    def counted(story: Story, event: Event, seating: Seating) -> ShownEvent:
        told.append(event.sequence)
        return scene(story, event, seating)

    monkeypatch.setattr(Story, "scene", counted)
    log = ShownLog("m")
    for number in range(len(seen) + 1):
        shown = log.items(seen[:number], seating)
    assert whole == shown == log.items(seen, seating)
    assert [event.sequence for event in seen] == told


def test_every_event_has_one_line_and_the_newest_is_at_the_top() -> None:
    """Each line has an id by which the page recognises it; the oldest lines are dropped."""
    seen, seating = a_match()
    log = ShownLog("m")
    items = log.items(seen, seating)
    assert re.search(r"Finished:</span> .*1\. .*2\. ", log.newest)
    shown = list(map(int, LINE.findall(items)))
    assert sorted(set(shown), reverse=True) == shown
    assert re.search(r"Finished:</span> .*1\. .*(Anna|Ben).*, .*2\. .*(Anna|Ben)", items.partition("\n")[0])
    assert (len(seen), SHOWN_EVENTS, items.count("<li")) == (shown[0], len(shown), len(shown))


def test_a_throw_that_ends_a_turn_says_what_it_costs() -> None:
    """In one line, with the dice, as far as a turn had won anything."""
    lines = set[str]()
    # The dice are the service's, so a match may have no such throw.
    while not lines:
        seen, seating = a_match()
        log = ShownLog("m")
        for number in range(len(seen) + 1):
            lines |= set(re.findall(r'<span class="strong">(Bust[^<]*)', log.items(seen[:number], seating)))
    pattern = r"Bust! (Anna|Ben) threw( \d){4} and lost (1 step|[2-9] steps|\d\d steps)"
    assert [] == [line for line in lines if not re.fullmatch(pattern, line)]


def test_a_line_is_text_whatever_is_in_it() -> None:
    """Strangers choose names, so they are escaped."""
    line = Text.of(("■", 'seat0 "'), " <b>Ben</b> & Anna")
    assert '<span class="seat0 &#34;">■</span> &lt;b&gt;Ben&lt;/b&gt; &amp; Anna' == mark_up(line)
