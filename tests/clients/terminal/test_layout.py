"""Layout of screens at common sizes of terminals, and after a change of size."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from itertools import takewhile
from types import SimpleNamespace
from typing import Any, Final, cast

import pytest
from textual.pilot import Pilot
from textual.widget import Widget

from rollbook.rules.catalogue import find
from rollbook.rules.game import ToChoose
from rollbook.v1.games_pb2 import Options
from rollbook.v1.match_pb2 import (
    MATCH_STATE_FINISHED,
    MATCH_STATE_GETTING_READY,
    MATCH_STATE_OPEN,
    MATCH_STATE_RUNNING,
    MatchState,
    MatchSummary,
)
from rollbook.v1.raffzahn_pb2 import RAFFZAHN_EDITION_REVISED, RaffzahnOptions
from rollbook.v1.table_pb2 import Clocks
from rollbook_clients.sdk import RollbookError
from rollbook_clients.terminal.clocks import clock_name
from rollbook_clients.terminal.film import Film
from rollbook_clients.terminal.known_game import ShownEvent
from rollbook_clients.terminal.own_matches import OwnMatch
from rollbook_clients.terminal.screens.dialogues import AskWhether
from rollbook_clients.terminal.screens.lobby import LobbyScreen
from rollbook_clients.terminal.screens.match import MatchScreen
from rollbook_clients.terminal.screens.replay import ReplayScreen
from rollbook_clients.terminal.screens.table import TableScreen
from rollbook_clients.terminal.texts import words_in
from rollbook_clients.terminal.widgets.control import Control
from rollbook_clients.terminal.widgets.match_line import match_line, state_column
from rollbook_clients.terminal.widgets.menu import Menu
from rollbook_replays.games import presentation
from rollbook_replays.games.presentation import NOTHING_MARKED, MenuEntry, Picking, Spotlight
from rollbook_replays.games.seats import Seating
from tests.clients.terminal.pictures import screen_lines
from tests.clients.terminal.staging import simulated
from tests.clients.terminal.test_screens import on_screen
from tests.games.material import OWN_GAMES
from tests.replays.games.stage import menu_of

LOOKS: Final = 500
UP: Final = "\u2191"


class AtTable(MatchScreen):
    """A table at the first moment with this many choices, with board, menu and log."""

    def __init__(self, game: str, seats: int, choices: int, language: str = "en") -> None:
        words = words_in(language)
        super().__init__(words, "table")
        film = Film(simulated(game, seats))
        for position in range(1, len(film)):
            match = film._match(position)
            if match.started and isinstance(match.awaited, ToChoose):
                self.offered = menu_of(match, match.awaited.seat, language)
                if isinstance(self.offered, Picking) or len(self.offered) >= choices:
                    break
        assert isinstance(match.awaited, ToChoose)
        self.shown = presentation(game)
        self.view, _ = film.scene(position, match.awaited.seat)
        said = words.also(self.shown.texts)
        self.seating = Seating(film.replay.names, match.awaited.seat, film.options, said)
        self.below = Control(words)

    match_id = "a" * 24

    def control(self) -> Widget:
        """Return the menu."""
        return self.below

    def on_mount(self) -> None:
        """Show the board at a player's turn."""
        self.below.say("")
        self.board.show(self.shown, self.view, self.seating)
        self.below.offer(self.offered, self.shown)

    def on_menu_considered(self, event: Menu.Considered) -> None:
        """Show the effect of the entry under the cursor."""
        self.board.show(self.shown, self.view, self.seating, Spotlight(event.choice, event.picked))


async def until(pilot: Pilot[Any], is_so: Callable[[], bool]) -> None:
    """Poll until the condition holds; fails with the screen after LOOKS polls."""
    for _ in range(LOOKS):
        await pilot.pause()
        if is_so():
            return
        await pilot.pause(0.01)
    pytest.fail(screen_lines(pilot.app))


@pytest.mark.parametrize("seats", [3, 5])
def test_a_board_is_whole_after_every_change_of_size(seats: int) -> None:
    """At any size every row of tiles is one line, with dice and throws below."""
    screen = AtTable("raffzahn", seats, 8)

    def is_whole() -> bool:
        lines = screen_lines(screen.app).splitlines()
        tiles = any({"1", "9", "10"} <= set(line.split()) for line in lines[:6])
        return tiles and any("Throw 1 of 3" in line for line in lines)

    async def does(pilot: Pilot[Any]) -> None:
        for before, after in [((80, 24), (100, 30)), ((140, 45), (100, 30)), ((101, 30), (100, 30))] * 3:
            await pilot.resize_terminal(*before)
            await until(pilot, is_whole)
            await pilot.resize_terminal(*after)
            await until(pilot, is_whole)

    on_screen(screen, does)


def shown_choices(screen: AtTable) -> list[str]:
    """The numbers of the choices that the screen shows."""
    rows = (line[:48].lstrip(" \u203a") for line in screen_lines(screen.app).splitlines()[16:])
    entries = takewhile(lambda row: not row.startswith("\u2026"), rows)
    return [row[0] for row in entries if row[:1].isdecimal() and row[1:2] == " "]


OUT: Final = "You are out: your time ran out 3 turns in a row. A bot plays out your seat."


@pytest.mark.parametrize("said", [(), (OUT,), ("Saved.", OUT, "Anna wins. You come second.\n1. Anna  2. Eve  3. Tom")])
def test_words_give_way_to_the_choices(said: tuple[str, ...]) -> None:
    """At 80 by 24 all five choices at the end of a match are visible, and so is the newest line of the log."""
    screen = AtTable("raffzahn", 3, 1)

    async def does(pilot: Pilot[Any]) -> None:
        screen.below.say(*said)
        screen.below.offer(tuple(MenuEntry(f"Choice {number}", choice=number) for number in range(5)))
        await until(pilot, lambda: shown_choices(screen) == list("12345"))
        assert not said or said[-1][:20] in screen_lines(screen.app)
        assert "more" not in screen_lines(screen.app)
        await pilot.resize_terminal(100, 40)
        await until(pilot, lambda: all(part[:6] in screen_lines(screen.app) for part in said))

    on_screen(screen, does)


@pytest.mark.parametrize(("language", "more"), [("en", "{} more {}"), ("de", "noch {} {}")])
def test_choices_that_are_out_of_sight_are_counted(language: str, more: str) -> None:
    """With eight choices and a note in seven rows, a row counts the hidden choices below, or above at the end."""
    screen = AtTable("raffzahn", 3, 8, language)
    many = len(screen.offered)

    async def does(pilot: Pilot[Any]) -> None:
        await until(pilot, lambda: more.format(many - 5, "\u2193") in screen_lines(screen.app))
        assert shown_choices(screen) == list("12345")
        screen.below.say(OUT)
        await until(pilot, lambda: more.format(many - 4, "\u2193") in screen_lines(screen.app))
        assert shown_choices(screen) == list("1234")
        await pilot.press("end")
        above = f"{more.format(many - 4, UP)}|{more.format(many - 5, UP)}"
        await until(pilot, lambda: re.search(above, screen_lines(screen.app)) is not None)
        assert more.format(many - len(shown_choices(screen)), UP) in screen_lines(screen.app)
        assert shown_choices(screen)[-1] == str(many)
        await pilot.resize_terminal(100, 40)
        await until(pilot, lambda: shown_choices(screen) == [str(number + 1) for number in range(many)])

    on_screen(screen, does)


class NoMatch:
    """A match whose state the service refuses."""

    id = "m" * 24
    address = "127.0.0.1:50051"
    invitation_code = "c" * 24

    async def state(self) -> None:
        """Raise RollbookError."""
        raise RollbookError("nothing")


def at_no_match(summary: MatchSummary, match: Any = NoMatch, language: str = "en") -> TableScreen:
    """Return the table of the first seat of a match with this summary."""
    screen = TableScreen(match(), words_in(language))
    screen._summary, screen._own, screen.game = summary, 0, "unheard of"
    return screen


@pytest.mark.parametrize(
    ("state", "is_out", "asks"),
    [
        (MATCH_STATE_OPEN, False, "Leave this seat?"),
        (MATCH_STATE_GETTING_READY, False, ""),
        (MATCH_STATE_RUNNING, False, "Resign?"),
        (MATCH_STATE_RUNNING, True, ""),
        (MATCH_STATE_FINISHED, False, ""),
    ],
)
def test_resigning_is_offered_only_where_it_can_be_done(state: MatchState.ValueType, is_out: bool, asks: str) -> None:
    """The key is neither listed nor active while the others get ready, and after the seat is out."""
    seats = [MatchSummary.Seat(name=name, taken=True, forfeited=is_out) for name in ("Anna", "Tom")]
    screen = at_no_match(MatchSummary(state=state, seats=seats))

    async def does(pilot: Pilot[Any]) -> None:
        screen._show()
        await pilot.pause()
        assert bool(asks) == ("^x" in str(screen.hints.content))
        await pilot.press("ctrl+x")
        await pilot.pause()
        assert bool(asks) == isinstance(pilot.app.screen, AskWhether)
        assert asks in screen_lines(pilot.app)

    on_screen(screen, does, (140, 45))


@pytest.mark.parametrize("host", ["127.0.0.1", "a-longer-name.example"])
@pytest.mark.parametrize("size", [(80, 24), (100, 30), (128, 30), (140, 45)])
def test_an_invitation_is_never_broken_where_it_is_selected(host: str, size: tuple[int, int]) -> None:
    """Service, match and code share one line if the terminal is wide enough; after the start the line is gone."""
    match = NoMatch()
    match.address = f"{host}:50051"
    seats = [MatchSummary.Seat(taken=True)] * 2
    screen = at_no_match(MatchSummary(state=MATCH_STATE_OPEN, seats=seats), lambda: match)

    async def does(pilot: Pilot[Any]) -> None:
        screen._show()
        link = f"{host}:50051/{'m' * 24}/{'c' * 24}"
        line = f"rollbook play {link}"
        whole = line if len(line) <= screen.board.size.width else link

        def left() -> list[str]:
            """The texts to the left of the log."""
            return [row.partition("\u2502")[0].strip() for row in screen_lines(screen.app).splitlines()]

        await until(pilot, lambda: whole in left())
        screen._summary.state = MATCH_STATE_RUNNING
        screen._show()
        await until(pilot, lambda: "rollbook play" not in screen_lines(screen.app))

    on_screen(screen, does, size)


class NoLobby:
    """A service that refuses to list matches."""

    address = "127.0.0.1:50051"

    def lobby(self, *, mine: bool) -> AsyncIterator[None]:
        """Raise RollbookError."""
        raise RollbookError(f"nothing, {mine}")

    async def matches(self, *, mine: bool) -> AsyncIterator[MatchSummary]:
        """Yield no matches."""
        for summary in () if mine else (MatchSummary(),):
            yield summary


PLAYERS: Final = ("Eve", "Anna (bot, random)", "Willi (bot, heuristic)")


def raffzahn(state: MatchState.ValueType, match_id: str = "m", players: tuple[str, ...] = PLAYERS) -> MatchSummary:
    """A match with a clock: the first seat is out and third, the last one is to choose."""
    seats = [MatchSummary.Seat(name=name, taken=True, forfeited=name == "Eve") for name in players]
    summary = MatchSummary(
        match_id=match_id * 24,
        game="raffzahn",
        ruleset=1,
        state=state,
        seats=seats,
        turn_seconds=60,
        options=Options(raffzahn=RaffzahnOptions(edition=RAFFZAHN_EDITION_REVISED)),
        awaited_seat=2,
    )
    summary.places.places.extend([3, 1, 2])
    return summary


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_line_of_the_lobby_shares_the_width(language: str) -> None:
    """At 80 columns the clock is shown, at 100 the own place is whole, at 140 all; no name is cut off twice."""
    words = words_in(language)
    own = OwnMatch(raffzahn(MATCH_STATE_FINISHED), 0)
    others = OwnMatch(raffzahn(MATCH_STATE_RUNNING), 1)
    clock = clock_name(60, words)
    place = words("result.place", place=words("place.3"), most=3)
    for columns in (80, 100, 140):
        wide = columns - 3
        column = state_column([(own.summary, own), (others.summary, others)], words, wide)
        lines = [match_line(each.summary, each, words, wide, column).plain for each in (own, others)]
        lines.append(match_line(own.summary, None, words, wide, 8).plain)
        five = (*PLAYERS, "Maxi (bot, random)", "Tom (bot, random)")
        lines.append(match_line(raffzahn(MATCH_STATE_RUNNING, players=five), None, words, wide, 8).plain)
        assert all(len(line) <= wide for line in lines), lines
        assert all(line.endswith(clock) for line in lines), lines
        assert not any("\u2026\u2026" in line for line in lines), lines
        if columns >= 100:
            assert f"{place}, {words('result.gave_up')}" in lines[0]
            assert all(name in lines[2] for name in PLAYERS)
        if columns >= 140:
            assert words("turn.of", name=PLAYERS[2]) in lines[1]
            assert all(name in line for name in PLAYERS for line in lines[:3])


def test_a_line_of_the_lobby_shows_the_own_clock_alone() -> None:
    """The clock last received may be that of the player before."""
    own = OwnMatch(raffzahn(MATCH_STATE_RUNNING), 2)
    for seat, shown in ((1, False), (2, True)):
        own.clocks.take(Clocks(seat=seat, turn_left_ms=50_000, reserve_left_ms=[0, 0, 0]), is_now=True)
        line = match_line(own.summary, own, words_in("en"), 120, 40).plain
        assert "your turn" in line
        assert shown == ("your turn, 0:" in line)


def test_a_lobby_uses_the_width_that_it_gets() -> None:
    """Names grow and shrink with the terminal, and no text is cut off at its edge."""
    screen = LobbyScreen(cast("Any", NoLobby()), words_in("en"), cast("Any", None), watch_only=True)
    screen._public = (raffzahn(MATCH_STATE_RUNNING), raffzahn(MATCH_STATE_OPEN, "n"))

    async def does(pilot: Pilot[Any]) -> None:
        screen._fill()
        for size, name in (((80, 24), "Willi (bot, "), ((140, 45), PLAYERS[2]), ((80, 24), "Willi (bot, ")):
            await pilot.resize_terminal(*size)
            await until(pilot, lambda name=name: screen_lines(screen.app).count(name) == 2)  # type: ignore[misc]
            assert screen_lines(screen.app).count("1 min a turn") == 2

    on_screen(screen, does)


def keys_below(screen: MatchScreen | LobbyScreen) -> str:
    """The last line of the screen."""
    return screen_lines(screen.app).splitlines()[-1]


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("state", [MATCH_STATE_OPEN, MATCH_STATE_RUNNING])
def test_all_keys_of_a_table_are_named_at_80_columns(state: MatchState.ValueType, language: str) -> None:
    """No key is cut off at the end of the last line, also while moves of others are pending."""
    summary = MatchSummary(state=state, seats=[MatchSummary.Seat(name="Anna", taken=True)] * 2)
    screen = at_no_match(summary, language=language)
    words = words_in(language)
    last = words("hint.leave_seat" if state == MATCH_STATE_OPEN else "hint.give_up")

    async def does(pilot: Pilot[Any]) -> None:
        screen._show()
        await until(pilot, lambda: keys_below(screen).strip().endswith(f"^x {last}"))
        if state == MATCH_STATE_RUNNING:
            for _ in range(2):
                screen._backlog.add(ShownEvent([], 0, None, NOTHING_MARKED, is_move=True), after=9_999.0)
            screen._show()
            await until(pilot, lambda: words("hint.present") in keys_below(screen))
            assert keys_below(screen).strip().endswith(f"^x {words('hint.give_up')}")

    on_screen(screen, does)


@pytest.mark.parametrize("language", ["en", "de"])
def test_all_keys_of_lobby_and_replay_are_named_at_80_columns(language: str) -> None:
    """No key is cut off at the end of the last line, and keys are named as on a keyboard."""
    words = words_in(language)
    last = f"esc {words('hint.leave')}"
    replay = ReplayScreen(Film(simulated("raffzahn", 3)), words)
    lobby = LobbyScreen(cast("Any", NoLobby()), words, cast("Any", SimpleNamespace(name="Anna")))

    async def does(pilot: Pilot[Any]) -> None:
        await until(pilot, lambda: keys_below(replay).strip().endswith(last))
        keys = ("Leertaste", "Pos1", "Ende") if language == "de" else ("space", "home", "end")
        said = (words("hint.play"), words("hint.first"), words("hint.last"))
        assert all(f"{key}  {what}" in screen_lines(replay.app) for key, what in zip(keys, said, strict=True))
        await pilot.app.push_screen(lobby)
        await until(pilot, lambda: keys_below(lobby).strip().endswith(last))

    on_screen(replay, does)


def below(screen: MatchScreen) -> str:
    """The text below the board, without the log beside it, in one line."""
    region = screen.query_one("#control").region
    rows = screen_lines(screen.app).splitlines()[region.y : region.bottom]
    return " ".join(" ".join(row[: region.width] for row in rows).split())


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("size", [(80, 24), (100, 30)])
@pytest.mark.parametrize("game", sorted(OWN_GAMES))
def test_the_note_of_a_choice_is_never_cut(game: str, size: tuple[int, int], language: str) -> None:
    """The note under the cursor, or of the picked dice, is shown whole: in its line, or wrapped below the menu."""
    screen = AtTable(game, min(3, max(find(game).seats)), 3, language)

    async def does(pilot: Pilot[Any]) -> None:
        offered = screen.offered
        if isinstance(offered, Picking):
            for _ in range(3):
                note = screen.offered.entries(screen.below.picker._picked)[0].note
                await until(pilot, lambda note=note: " ".join(note.split()) in below(screen))  # type: ignore[misc]
                await pilot.press("a")
            return
        for entry in offered:
            await until(pilot, lambda entry=entry: entry.note in below(screen))  # type: ignore[misc]
            await pilot.press("down")

    on_screen(screen, does, size)
