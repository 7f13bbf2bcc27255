"""A table shows every move, at any speed of its clock, and stays consistent while it catches up."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Iterator
from typing import Any

import pytest
from textual.screen import Screen

from rollbook.v1.match_pb2 import MATCH_STATE_RUNNING, MatchSummary
from rollbook_clients.sdk import connect
from rollbook_clients.terminal.app import Terminal
from rollbook_clients.terminal.backlog import Backlog
from rollbook_clients.terminal.known_game import ShownEvent
from rollbook_clients.terminal.preferences import Preferences
from rollbook_clients.terminal.screens.table import TableScreen
from rollbook_clients.terminal.texts import words_in
from rollbook_replays.games.presentation import NOTHING_MARKED, Sentence
from rollbook_replays.text import Text
from tests.clients.terminal.pictures import screen_lines
from tests.clients.terminal.test_layout import at_no_match
from tests.clients.terminal.test_pseudo_terminal import serve
from tests.server.serving import started

SEED = int(os.environ.get("ROLLBOOK_SEED", "12"))
BURSTS, EVENTS = 200, 12
SHORTEST, LONGEST = 0.002, 0.030
"""Shortest and longest seconds between two events of a burst."""
AT_ONCE = 10
"""The number of tables that catch up at the same time."""
PATIENCE_SECONDS = 30.0


class MovingClock:
    """A clock that advances on every call, as if drawing took that long."""

    def __init__(self, chance: random.Random) -> None:
        """Start at zero."""
        self._chance = chance
        self._now = 0.0

    def __call__(self) -> float:
        """Return a time that is later than at the last call."""
        self._now += self._chance.uniform(0, LONGEST)
        return self._now


def a_table() -> TableScreen:
    """Return the table of the first seat of a running match."""
    seats = [MatchSummary.Seat(name=name, taken=True) for name in ("Anna", "Tom")]
    return at_no_match(MatchSummary(state=MATCH_STATE_RUNNING, seats=seats))


async def catches_up(screen: TableScreen) -> None:
    """Wait until the table has no pending events."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while screen._backlog:  # noqa: ASYNC110 - the screen has no event for it
            await asyncio.sleep(0.001)


async def take_bursts(screen: TableScreen, bursts: int, chance: random.Random) -> None:
    """Send bursts of events, each until the table has shown all of them."""
    for _ in range(bursts):
        for number in range(EVENTS):
            told = [Sentence(Text.of(f"Move {number}"))]
            scene = ShownEvent(told, 1, None, NOTHING_MARKED, is_move=True)
            screen._backlog.add(scene, after=chance.uniform(SHORTEST, LONGEST))
        screen._advance()
        await catches_up(screen)


def test_a_move_that_falls_due_while_the_table_is_drawn_is_shown() -> None:
    """The clock advances between the check for due events and the computation of the wait (seed: ROLLBOOK_SEED)."""
    chance = random.Random(SEED)

    async def run() -> None:
        screen = a_table()
        screen._backlog = Backlog[ShownEvent](MovingClock(chance))
        async with Terminal(screen, words_in("en")).run_test() as pilot:
            await pilot.pause()
            await take_bursts(screen, 20, chance)

    asyncio.run(run())


def test_no_move_of_two_hundred_bursts_stays_pending() -> None:
    """Bursts of twelve moves, 2 to 30 ms apart by the real clock, are all shown (seed: ROLLBOOK_SEED)."""

    async def at_one_table(number: int) -> None:
        screen = a_table()
        async with Terminal(screen, words_in("en")).run_test() as pilot:
            await pilot.pause()
            await take_bursts(screen, BURSTS // AT_ONCE, random.Random(f"{SEED}/{number}"))

    async def run() -> None:
        await asyncio.gather(*(at_one_table(number) for number in range(AT_ONCE)))

    asyncio.run(run())


def test_leaving_the_table_stops_its_timers() -> None:
    """With and without pending moves the program ends without an error, and no timer calls the table later."""

    async def run() -> None:
        for after in (SHORTEST, 60.0):
            app = Terminal(Screen(), words_in("en"))
            async with app.run_test() as pilot:
                screen = a_table()
                screen._backlog = Backlog[ShownEvent](MovingClock(random.Random(SEED)))
                await app.push_screen(screen)
                for _ in range(20):
                    screen._backlog.add(ShownEvent([], 1, None, NOTHING_MARKED, is_move=True), after=after)
                screen._advance()
                screen.action_leave()
                await pilot.press("down", "enter")
                await pilot.pause()
                assert not screen.is_running
                assert screen._alarm._timer is None
                assert not [task for task in asyncio.all_tasks() if "set_timer" in task.get_name()]

    asyncio.run(run())


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running service."""
    with started(serve(tmp_path_factory.mktemp("service"), "127.0.0.1:0")) as one:
        yield one.address


class Observed(TableScreen):
    """A table that records its header and menu after every drawing."""

    def __init__(self, *given: Any) -> None:
        """Start with an empty record."""
        super().__init__(*given)
        self.contradictions: list[str] = []
        self.own_turns_behind = 0

    def _show(self) -> None:
        super()._show()
        header, menu = str(self.status_bar.content), str(self._control._waiting.content)
        is_offered = self._control._switcher.current != "waiting"
        is_own = "Your turn" in header
        self.own_turns_behind += is_own and bool(self._backlog)
        others = header.partition("'s turn")[0].split()[-1] if "'s turn" in header else ""
        if is_own != (is_offered or menu.startswith(("Your turn", "Sending"))) or (others and others not in menu):
            self.contradictions.append(f"{header} / {menu} / {is_offered}")


def test_while_catching_up_header_and_menu_agree_on_whose_turn_it_is(address: str) -> None:
    """The moves of a bot are shown one by one; after every drawing header and menu name the same player."""

    async def run() -> None:
        async with connect(address, name="Anna") as table:
            match = await table.open("cant_stop", 2)
            await match.join()
            await match.add_bot("random")
            screen = Observed(match, words_in("en"))
            preferences = Preferences()
            preferences.pace = 0.1
            async with Terminal(screen, words_in("en"), preferences).run_test() as pilot:
                async with asyncio.timeout(PATIENCE_SECONDS):
                    while screen.own_turns_behind < 2:
                        await pilot.press("1")
                        await asyncio.sleep(0.01)
                assert screen.contradictions == [], screen_lines(pilot.app)

    asyncio.run(run())
