"""Names of clocks, and the display of running clocks."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from rollbook.server.feeds import feed
from rollbook.v1.table_pb2 import Clocks
from rollbook_clients.terminal.app import Terminal
from rollbook_clients.terminal.clocks import TickingClocks, clock_name, delay_name
from rollbook_clients.terminal.screens.new_match import TURN_SECONDS
from rollbook_clients.terminal.screens.table import TableScreen
from rollbook_clients.terminal.texts import words_in
from rollbook_clients.web.lobby_pages import CLOCKS, DELAYS
from rollbook_clients.web.words import words_in as page_words_in
from tests.clients.sdk.proxy import Pair, Proxy
from tests.clients.sdk.tables import run, running, table, tables, turn
from tests.clients.terminal.pictures import screen_lines
from tests.ports import free_port
from tests.server.feeds.watching import Theatre


@pytest.mark.parametrize(
    ("seconds", "english", "german"),
    [
        (0, "no clock", "keine Uhr"),
        (45, "45 s a turn", "45 s pro Zug"),
        (60, "1 min a turn", "1 min pro Zug"),
        (120, "2 min a turn", "2 min pro Zug"),
        (90, "90 s a turn", "90 s pro Zug"),
        (3_600, "1 hour a move", "1 Stunde pro Zug"),
        (86_400, "a day a move", "ein Tag pro Zug"),
        (259_200, "3 days a move", "3 Tage pro Zug"),
    ],
)
def test_a_clock_is_called_as_people_call_it(seconds: int, english: str, german: str) -> None:
    """Clocks are named in minutes, hours or days."""
    assert english == clock_name(seconds, words_in("en"))
    assert german == clock_name(seconds, words_in("de"))


@pytest.mark.parametrize(
    ("seconds", "english", "german"),
    [(0, "none", "keine"), (30, "30 s", "30 s"), (60, "1 min", "1 min"), (300, "5 min", "5 min")],
)
def test_a_delay_is_called_as_clocks_are(seconds: int, english: str, german: str) -> None:
    """Delays in whole minutes are named in minutes."""
    assert english == delay_name(seconds, words_in("en"))
    assert german == delay_name(seconds, words_in("de"))


def test_every_clock_and_delay_is_called_the_same_on_the_page() -> None:
    """The same match has the same names on the page and in the terminal."""
    for language in ("en", "de"):
        here, page = words_in(language), page_words_in(language)
        assert [clock_name(each, here) for each in CLOCKS] == [clock_name(each, page) for each in CLOCKS]
        assert [delay_name(each, here) for each in DELAYS] == [delay_name(each, page) for each in DELAYS]


def test_every_clock_that_is_offered_has_a_name_of_its_own() -> None:
    """No two clocks have the same name, so the user can tell them apart."""
    assert len(TURN_SECONDS) == len({clock_name(seconds, words_in("en")) for seconds in TURN_SECONDS})


# Running clocks


class Hands:
    """The client's clock, set by the test."""

    def __init__(self) -> None:
        self.seconds = 5.0

    def __call__(self) -> float:
        """Return the time in seconds."""
        return self.seconds


def clocks(at_ms: int, seat: int | None = 0, turn_ms: int = 30_000) -> Clocks:
    """Return the clocks as of a time of the store."""
    return Clocks(at_ms=at_ms, seat=seat, turn_left_ms=turn_ms, reserve_left_ms=[10_000, 20_000])


def test_events_that_are_read_late_do_not_set_a_clock_back() -> None:
    """Clocks of an event are as of its time; the client computes the delay from a frame with the current time."""
    hands = Hands()
    ticking = TickingClocks(hands)
    ticking.compare(clocks(1_000_000))
    assert ticking.time_left() is None
    hands.seconds += 2
    ticking.take(clocks(990_000, seat=1))
    assert (1, 18_000, 20_000) == ticking.time_left()
    hands.seconds += 20
    assert (1, 0, 18_000) == ticking.time_left()
    hands.seconds += 60
    assert (1, 0, 0) == ticking.time_left()


def test_a_later_event_corrects_a_comparison_that_was_late_itself() -> None:
    """An answer may be late, but no event arrives before it happened, so events correct the comparison."""
    hands = Hands()
    ticking = TickingClocks(hands)
    ticking.compare(clocks(1_000_000))
    ticking.take(clocks(1_003_000))
    assert (0, 30_000, 10_000) == ticking.time_left()
    hands.seconds += 1
    assert (0, 29_000, 10_000) == ticking.time_left()


@pytest.mark.parametrize("none", [None, clocks(1_000_000, seat=None)])
def test_no_clock_is_shown_where_none_runs(none: Clocks | None) -> None:
    """No clock is shown, and the offset of the store's clock is kept."""
    ticking = TickingClocks(Hands())
    ticking.take(clocks(1_000_000))
    ticking.take(none)
    assert ticking.time_left() is None
    assert ticking.clock_text() is None
    ticking.take(clocks(999_000))
    assert (0, "0:29 +0:10") == ticking.clock_text()


def test_a_table_shows_the_clocks_that_come_with_the_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table shows clocks also without heartbeats and without a reserve, and none while the service is away."""
    monkeypatch.setattr(feed, "BEAT_SECONDS", 600.0)

    async def scenario(theatre: Theatre) -> None:
        async with Proxy(theatre.port) as proxy, tables(theatre, "Anna", "Ben") as players:
            matches = await running(players, turn_seconds=600, reserve_seconds=900)
            async with table(theatre, "Cora", through=proxy.address) as cora:
                screen = TableScreen(cora.match(matches[0].id), words_in("en"), public_only=True)
                app = Terminal(screen, words_in("en"))
                app.preferences.pace = 0.0
                async with app.run_test(size=(100, 30)) as pilot:

                    async def shows(pattern: str) -> None:
                        while not re.search(pattern, screen_lines(app)):
                            await pilot.pause(0.02)

                    await shows(r"9:\d\d \+15:00 left")
                    # The first choice takes 700 seconds: 600 of the turn and 100 of the reserve.
                    theatre.clock.ms += 700_000
                    seats: list[int] = []
                    while sum(one != other for one, other in pairwise(seats)) < 2:
                        match, moment = await turn(matches)
                        assert moment.legal
                        seats.append(matches.index(match))
                        await match.choose([*moment.legal][-1])
                    await shows(r"(10:00|9:\d\d) \+13:20 left")
                    proxy.upstream = free_port()
                    proxy.each(Pair.cut)
                    await shows("Connection lost")
                    assert " left" not in screen_lines(app)

    run(scenario)
