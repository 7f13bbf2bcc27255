"""The log beside a table, to which the page adds line by line during a match."""

from __future__ import annotations

import asyncio
import re
from random import Random

import pytest

from rollbook_clients.sdk import Event
from rollbook_clients.terminal.known_game import Story, known_game
from rollbook_clients.web.log import SHOWN_EVENTS, ShownLog, mark_up
from rollbook_clients.web.words import words_in
from rollbook_replays.games.presentation import Sentence
from rollbook_replays.games.seats import Seating
from rollbook_replays.text import Text
from tests.clients.sdk.tables import events, play, run, running, tables
from tests.server.feeds.watching import Theatre

LINE = re.compile(
    r'<li id="line-(\d+)-(\d+)" data-event="\1"(?: data-alarm="\w+")?>'
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
    tell = Story.tell

    def counted(story: Story, event: Event, seating: Seating) -> list[Sentence]:
        told.append(event.sequence)
        return tell(story, event, seating)

    monkeypatch.setattr(Story, "tell", counted)
    log = ShownLog("m")
    for number in range(len(seen) + 1):
        shown = log.items(seen[:number], seating)
    assert whole == shown == log.items(seen, seating)
    assert [event.sequence for event in seen] == told


def test_the_newest_event_is_at_the_top_and_its_lines_in_their_order() -> None:
    """Each line has an id by which the page recognises it; the oldest lines are dropped."""
    seen, seating = a_match()
    lines = [(int(event), int(place)) for event, place in LINE.findall(ShownLog("m").items(seen, seating))]
    newest, shown = len(seen), [event for event, _ in lines]
    assert newest - SHOWN_EVENTS < min(shown) < max(shown) == newest
    assert sorted(lines, key=lambda line: (-line[0], line[1])) == lines
    assert 1 < max(place for _, place in lines)


def test_a_line_is_text_whatever_is_in_it() -> None:
    """Strangers choose names, so they are escaped."""
    line = Text.of(("■", 'seat0 "'), " <b>Ben</b> & Anna")
    assert '<span class="seat0 &#34;">■</span> &lt;b&gt;Ben&lt;/b&gt; &amp; Anna' == mark_up(line)
