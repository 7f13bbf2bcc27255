"""The screens without a terminal: keys and clicks go in, and the test inspects the drawn screen."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from rollbook.rules.catalogue import current
from rollbook.rules.game import ToChoose, Watcher
from rollbook.v1.allie_gator_pb2 import AllieGatorOptions
from rollbook.v1.cant_stop_pb2 import CantStopOptions
from rollbook.v1.games_pb2 import Options
from rollbook.v1.match_pb2 import OpenMatchRequest
from rollbook.v1.raffzahn_pb2 import RAFFZAHN_EDITION_REVISED, RaffzahnOptions
from rollbook_clients.terminal.app import Terminal
from rollbook_clients.terminal.film import Film
from rollbook_clients.terminal.screens.new_match import NewMatch
from rollbook_clients.terminal.screens.replay import SPEEDS, ReplayScreen
from rollbook_clients.terminal.texts import words_in
from rollbook_clients.terminal.widgets.control import Control
from rollbook_clients.terminal.widgets.menu import Menu
from rollbook_clients.terminal.widgets.panes import BoardPane
from rollbook_replays.games import presentation
from tests.clients.terminal.pictures import screen_lines
from tests.clients.terminal.staging import simulated
from tests.replays.games.stage import menu_of

WORDS = words_in("en")
USUAL = OpenMatchRequest(
    seats=2, options=Options(cant_stop=CantStopOptions(columns_to_win=3, hasty=False, free_fields=False))
)


def on_screen(
    screen: Screen[None], does: Callable[[Pilot[Any]], Awaitable[None]], size: tuple[int, int] = (80, 24)
) -> None:
    """Show a screen and run a scenario on it."""

    async def run() -> None:
        app = Terminal(screen, WORDS)
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await does(pilot)

    asyncio.run(run())


class Playing(Screen[None]):
    """A control at a moment of a match; records the choices made with it."""

    def __init__(self, game: str, moment: Callable[[Any], bool], seats: int = 3) -> None:
        """Stop the match at the first moment that meets the condition."""
        super().__init__()
        film = Film(simulated(game, seats))
        for position in range(len(film) - 1):
            match = film._match(position + 1)
            if match.started and isinstance(match.awaited, ToChoose) and moment(match):
                break
        awaited = match.awaited
        assert isinstance(awaited, ToChoose)
        self.legal = list(match.game.legal(match.state)) if game != "wuerfelzoo" else []
        self.offered = menu_of(match, awaited.seat)
        self.shown = presentation(game)
        self.control = Control(WORDS)
        self.chosen: list[Any] = []

    def compose(self) -> list[Control]:
        """Compose the control alone."""
        return [self.control]

    def on_mount(self) -> None:
        """Offer the legal choices."""
        self.control.say("")
        self.control.offer(self.offered, self.shown)

    def on_menu_chosen(self, event: Menu.Chosen) -> None:
        """Record the choice."""
        self.chosen.append(event.choice)


# Replays


@pytest.mark.parametrize("columns", [80, 116, 127, 128])
@pytest.mark.parametrize("game", current())
def test_the_log_never_takes_room_from_the_board(game: str, columns: int) -> None:
    """If the log is beside the board, 80 columns remain: no die and no heading is cut off."""
    screen = ReplayScreen(Film(simulated(game, current()[game].seats[-1])), WORDS)

    async def does(pilot: Pilot[Any]) -> None:
        await pilot.press("g", "2", "0", "enter")
        await pilot.pause()
        board = pilot.app.screen.query_one(BoardPane)
        assert board.virtual_size.width <= board.size.width

    on_screen(screen, does, (columns, 30))


def test_a_replay_says_at_80_columns_whose_eyes_it_looks_through() -> None:
    """The time may be cut off at the side, the perspective may not."""

    async def does(pilot: Pilot[Any]) -> None:
        await pilot.press("g", "9", "9", "enter")
        await pilot.pause()
        assert "everything open · 1970" in screen_lines(pilot.app)

    on_screen(ReplayScreen(Film(simulated("cant_stop", 4)), WORDS), does)


def test_keys_go_through_a_replay_by_event_turn_and_number() -> None:
    """Keys step, jump to a turn and go to both ends; the position stays inside the match."""
    film = Film(simulated("cant_stop"))
    screen = ReplayScreen(film, WORDS)

    async def does(pilot: Pilot[Any]) -> None:
        seen = [screen.position]
        for keys in ("right", "left", "down", "up", "end", "right", "home", "left", "g 7 enter", "g 9 9 9 enter"):
            await pilot.press(*keys.split())
            await pilot.pause()
            seen.append(screen.position)
        turns, last = film.turns, len(film)
        expected = [turns[0], turns[0] + 1, turns[0], turns[1], turns[0], last, last, 1, 1, turns[6], turns[-1]]
        assert expected == seen

    on_screen(screen, does)


def test_a_replay_plays_by_itself_and_stops_at_the_end() -> None:
    """Space starts and stops; the screen shows a new speed; playing stops at the end."""
    film = Film(simulated("wuerfelzoo", 2))
    screen = ReplayScreen(film, WORDS)

    async def does(pilot: Pilot[Any]) -> None:
        # At half an event a second the end is minutes away, even on a busy machine.
        await pilot.press("home", *["minus"] * len(SPEEDS), "space")
        assert "Playing 0.5 events a second" in screen_lines(pilot.app)
        await pilot.press(*["plus"] * len(SPEEDS))
        while screen.position < len(film):
            await pilot.pause(0.01)
        await pilot.pause()
        assert "Paused" in screen_lines(pilot.app)

    on_screen(screen, does)


def test_a_replay_can_be_seen_through_every_pair_of_eyes() -> None:
    """`v` cycles through all perspectives; a hand is open only to seats that saw it."""
    film = Film(simulated("allie_gator", 2))
    screen = ReplayScreen(film, WORDS)

    async def does(pilot: Pilot[Any]) -> None:
        seen = []
        for _ in range(5):
            hidden = screen_lines(pilot.app).count("▒▒ ▒▒ ▒▒ ▒▒ ▒▒")
            seen.append((screen.perspective, hidden))
            await pilot.press("v")
            await pilot.pause()
        assert [(Watcher.JUDGE, 0), (Watcher.PUBLIC, 2), (0, 1), (1, 1), (Watcher.JUDGE, 0)] == seen

    on_screen(screen, does)


def test_a_match_with_fixed_dice_says_so() -> None:
    """No seat brought entropy, so players must not take the dice for fair."""

    async def does(pilot: Pilot[Any]) -> None:
        assert "fixed dice, not fair ones" in screen_lines(pilot.app).splitlines()[0]

    on_screen(ReplayScreen(Film(simulated("raffzahn")), WORDS), does)


def test_a_button_of_a_replay_can_be_clicked() -> None:
    """Every action of a key is available by mouse."""
    screen = ReplayScreen(Film(simulated("cant_stop")), WORDS)

    async def does(pilot: Pilot[Any]) -> None:
        before = screen.position
        lines = screen_lines(pilot.app).splitlines()
        row = next(number for number, line in enumerate(lines) if "step" in line)
        await pilot.click(offset=(lines[row].index("step") + 1, row))
        await pilot.pause()
        assert before + 1 == screen.position

    on_screen(screen, does)


# Choices


def test_a_number_chooses_from_a_menu() -> None:
    """A digit chooses one of the first nine entries."""
    screen = Playing("cant_stop", lambda match: len(match.game.legal(match.state)) > 2)

    async def does(pilot: Pilot[Any]) -> None:
        await pilot.press("2")
        await pilot.pause()
        assert [screen.legal[1]] == screen.chosen

    on_screen(screen, does)


def test_arrows_and_enter_choose_from_a_menu() -> None:
    """Down and Enter choose the second line."""
    screen = Playing("cant_stop", lambda match: len(match.game.legal(match.state)) > 2)

    async def does(pilot: Pilot[Any]) -> None:
        await pilot.press("down", "enter")
        await pilot.pause()
        assert [screen.legal[1]] == screen.chosen

    on_screen(screen, does)


def test_a_choice_of_two_steps_can_be_taken_back_half_way() -> None:
    """A snap asks for the new target next; Backspace or the last line takes the snap back."""
    screen = Playing("allie_gator", lambda match: len(match.game.legal(match.state)) > 5)

    async def does(pilot: Pilot[Any]) -> None:
        await pilot.press("end", "enter")
        await pilot.pause()
        assert "New target" in screen_lines(pilot.app)
        await pilot.press("end", "enter")
        await pilot.pause()
        assert "New target" not in screen_lines(pilot.app)
        await pilot.press("end", "enter", "backspace")
        await pilot.pause()
        assert "New target" not in screen_lines(pilot.app)
        assert [] == screen.chosen
        await pilot.press("end", "enter", "1")
        await pilot.pause()
        assert ["Snap"] == [type(choice).__name__ for choice in screen.chosen]

    on_screen(screen, does)


def test_dice_are_picked_by_letters_and_by_mouse() -> None:
    """A letter and a click pick the same die; the effect of the pick is shown, and Enter sends it."""
    screen = Playing("wuerfelzoo", lambda match: len(match.game.legal(match.state).plays) > 1)

    async def does(pilot: Pilot[Any]) -> None:
        await pilot.press("a")
        await pilot.pause()
        by_letter = screen_lines(pilot.app)
        assert "a[" in by_letter
        assert "Throw again: 1 die" in by_letter
        await pilot.press("a")
        await pilot.click(offset=(3, 0))
        await pilot.pause()
        assert by_letter == screen_lines(pilot.app)
        await pilot.press("2")
        await pilot.pause()
        (choice,) = screen.chosen
        assert 1 == len(choice.dice)

    on_screen(screen, does)


def test_dice_that_cannot_be_laid_are_not_sent() -> None:
    """Enter on an illegal pick sends nothing and shows the reason."""
    screen = Playing("wuerfelzoo", lambda match: bool(match.game.legal(match.state).plays))

    async def does(pilot: Pilot[Any]) -> None:
        await pilot.press("3", "enter")
        await pilot.pause()
        assert [] == screen.chosen
        assert "Only animals of one species" in screen_lines(pilot.app)

    on_screen(screen, does)


# NewMatch: the form for a match


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (
            "enter",
            USUAL,
        ),
        *((f"home {line} enter", USUAL) for line in ("", "down", "down down down")),
        (
            # The cursor was on Raffzahn, which needs three players; that does not change other lines.
            "home right left end enter",
            USUAL,
        ),
        (
            "home right end enter",
            OpenMatchRequest(
                seats=3, options=Options(raffzahn=RaffzahnOptions(edition=RAFFZAHN_EDITION_REVISED, announce=False))
            ),
        ),
        (
            "home down right up left down down down right end up right end enter",
            OpenMatchRequest(
                seats=3,
                turn_seconds=30,
                is_private=True,
                options=Options(allie_gator=AllieGatorOptions(teeth_to_end=3)),
            ),
        ),
    ],
)
def test_a_match_is_agreed_on_line_by_line(keys: str, expected: OpenMatchRequest) -> None:
    """Left and right change a value, Enter on any line opens the match with all values."""
    agreed: list[OpenMatchRequest | None] = []

    async def does(pilot: Pilot[Any]) -> None:
        pilot.app.push_screen(NewMatch(WORDS), agreed.append)
        await pilot.pause()
        await pilot.press(*keys.split())
        await pilot.pause()
        assert [expected] == agreed

    on_screen(Screen(), does)


def test_options_that_do_not_go_together_cannot_be_opened() -> None:
    """Four columns need three seats: with two the form shows the reason and stays open."""
    agreed: list[OpenMatchRequest | None] = []

    async def does(pilot: Pilot[Any]) -> None:
        pilot.app.push_screen(NewMatch(WORDS), agreed.append)
        await pilot.pause()
        await pilot.press("home", "down", "down", "right", "end", "enter")
        await pilot.pause()
        assert [] == agreed
        assert "columns_to_win 4 cannot be played by 2 seats" in screen_lines(pilot.app)
        await pilot.press("escape")
        await pilot.pause()
        assert [None] == agreed

    on_screen(Screen(), does)


def test_help_explains_a_new_match_and_its_game() -> None:
    """A user can read the rules of the chosen game, and returns to the same lines of the form."""

    async def does(pilot: Pilot[Any]) -> None:
        pilot.app.push_screen(NewMatch(WORDS))
        await pilot.press("question_mark")
        await pilot.pause()
        assert "Four dice make two pairs" in screen_lines(pilot.app)
        await pilot.press("escape")
        await pilot.pause()
        assert "Open the match and sit down" in screen_lines(pilot.app)

    on_screen(Screen(), does)


def test_the_log_is_laid_out_anew_when_the_terminal_grows() -> None:
    """A line wrapped on a small screen is one line on a large one, and no line is cut off on the way back."""
    screen = ReplayScreen(Film(simulated("wuerfelzoo", 4)), WORDS)

    async def does(pilot: Pilot[Any]) -> None:
        await pilot.press("g", "1", "enter")
        await pilot.pause()
        small = [line.text.rstrip() for line in screen.story.lines]
        await pilot.resize_terminal(140, 45)
        await pilot.pause()
        large = [line.text.rstrip() for line in screen.story.lines]
        assert len(large) < len(small)
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert small == [line.text.rstrip() for line in screen.story.lines]

    on_screen(screen, does)


def test_a_menu_fits_beside_its_notes_on_a_small_screen() -> None:
    """An entry takes one line, even with a long note; the note is shown whole below the menu."""
    screen = Playing("allie_gator", lambda match: len(match.game.legal(match.state)) > 5)

    async def does(pilot: Pilot[Any]) -> None:
        screen.control.styles.width = 34
        await pilot.pause()
        await pilot.press("down", "up")
        await pilot.pause()
        lines = [line for line in screen_lines(pilot.app).splitlines() if line.strip()]
        assert [str(number) for number in range(1, 5)] == [line.lstrip(" \u203a")[0] for line in lines[:4]]
        assert "\u203a1" in lines[0]

    on_screen(screen, does)
