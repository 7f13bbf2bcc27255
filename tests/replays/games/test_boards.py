"""Boards equal their snapshots and stay within the available space."""

from __future__ import annotations

import re
from dataclasses import replace
from string import ascii_lowercase
from typing import Any

import pytest

from rollbook.match.events import Sealed
from rollbook.rules.catalogue import current
from rollbook.rules.raffzahn.view import Row
from rollbook_replays.games import presentation
from rollbook_replays.games.blocks import Block, Room, breadth
from rollbook_replays.games.presentation import Picking, Spotlight
from rollbook_replays.games.seats import sign
from rollbook_replays.narration import draw_board
from rollbook_replays.text import WIDTH, plain
from tests.replays.games.snapshots import FOLDER, SNAPSHOTS
from tests.replays.games.stage import after_each_event, choosing, match_at, menu_of, seated

SMALL = Room(80, 14)
MIDDLE_ROWS, LARGE_ROWS = 4, 6


def boards(game: str, seats: int, language: str) -> list[Block]:
    """Return the boards of a whole match from the first seat's perspective."""
    return [
        presentation(game).board(match.game.view(match.state, 0), seated(match, 0, language), SMALL)
        for sequence, _, match in after_each_event(game, seats)
        if sequence % 3 == 0
    ]


@pytest.mark.parametrize("name", SNAPSHOTS)
def test_a_board_looks_as_it_did(name: str) -> None:
    """A change of a board changes a snapshot, which the author has to review."""
    kept = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    assert kept == SNAPSHOTS[name](), "python -m tests.replays.games.snapshots makes them anew"


def test_no_snapshot_is_of_nothing() -> None:
    """Every snapshot has a test that compares it."""
    assert sorted(SNAPSHOTS) == sorted(path.stem for path in FOLDER.glob("*.txt"))


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("game", current())
def test_a_board_is_never_wider_than_its_room(game: str, language: str) -> None:
    """At 80 columns no board is cut off at the side, at any moment, with the most seats and long words."""
    for lines in boards(game, current()[game].seats[-1], language):
        assert breadth(lines) <= SMALL.width, plain(lines)


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_wuerfelzoo_uses_a_large_window(seats: int, language: str) -> None:
    """A terminal of 200 by 60 leaves 146 by 42 for the board: dice grow, but stay within it."""
    large = Room(146, 42)
    for seat, match in choosing("wuerfelzoo", seats):
        view: Any = match.game.view(match.state, seat)
        lines = presentation("wuerfelzoo").board(view, seated(match, seat, language), large)
        assert breadth(lines) <= large.width
        rows = MIDDLE_ROWS + LARGE_ROWS * sum(map(bool, view.dice))
        assert rows <= len(lines) <= large.height, plain(lines)


@pytest.mark.parametrize("room", [SMALL, Room(96, 22), Room(146, 42)], ids=str)
@pytest.mark.parametrize("seats", [2, 5])
def test_dice_of_wuerfelzoo_carry_the_letters_of_the_menu(seats: int, room: Room) -> None:
    """Each die that can be picked has one letter, in the order of the menu; other dice have none."""
    found = 0
    for seat, match in choosing("wuerfelzoo", seats):
        menu = menu_of(match, seat)
        if not isinstance(menu, Picking):
            continue
        pieces = tuple(piece.name for piece in menu.pieces)
        view = match.game.view(match.state, seat)
        lines = presentation("wuerfelzoo").board(view, seated(match, seat), room, Spotlight(pieces=pieces))
        drawn = re.findall(r"(?<=[┌▐])[a-z](?=[─\d\u00d7✗])", plain(lines))
        assert "".join(drawn) == ascii_lowercase[: len(pieces)], plain(lines)
        found += 1
    assert found


@pytest.mark.parametrize("game", current())
def test_a_page_is_never_wider_than_80_columns(game: str) -> None:
    """With unlimited lines more is shown, and still no line is cut off at the side."""
    for sequence, _, match in after_each_event(game, current()[game].seats[-1]):
        if sequence % 5 == 0:
            lines = draw_board(match, 0)
            assert breadth(lines) <= WIDTH, plain(lines)


def test_a_seat_with_most_of_the_tiles_has_them_in_several_lines() -> None:
    """A seat can get most of the tiles; all of them are shown."""
    match = match_at(0.1, "raffzahn", 3)
    view: Any = match.game.view(match.state, 0)
    rich = Row(tuple(range(1, 21)), tuple(range(21, 36)), 99)
    lines = presentation("raffzahn").board(replace(view, rows=(rich, *view.rows[1:])), seated(match, 0), SMALL)
    assert breadth(lines) <= SMALL.width
    assert all(f"[{tile}]" in plain(lines) for tile in range(21, 36))


def test_an_announced_tile_is_marked_wherever_it_lies() -> None:
    """All players have to see the announced tile, also without colours."""
    match = match_at(0.3, "raffzahn", 4, {"announce": True})
    view: Any = match.game.view(match.state, 0)
    for tile in (view.middle[0], next(row.open_tiles[0] for row in view.rows if row.open_tiles)):
        lines = presentation("raffzahn").board(replace(view, announced=tile), seated(match, 0), SMALL)
        assert plain(lines).count(f"»{tile}«") == 1


@pytest.mark.parametrize("seats", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("game", current())
def test_a_board_mostly_fits_into_14_lines(game: str, seats: int) -> None:
    """At 80 by 24 a board is shown whole in nearly all of its moments."""
    if seats not in current()[game].seats:
        return
    heights = [len(lines) for lines in boards(game, seats, "de")]
    assert sum(height > SMALL.height for height in heights) <= len(heights) // 5, heights


@pytest.mark.parametrize("game", current())
def test_a_board_can_be_read_without_colours(game: str) -> None:
    """Every seat has its own sign on the board, so that colours are not needed."""
    seats = current()[game].seats[0]
    match = match_at(0.9, game, seats)
    text = plain(presentation(game).board(match.game.view(match.state, 0), seated(match, 0), SMALL))
    assert all(sign(seat) in text for seat in range(seats))


LONG = "Wilhelmine (bot, random)"


@pytest.mark.parametrize(("game", "columns"), [(game, 140) for game in current()] + [("raffzahn", 80)])
def test_a_name_is_whole_where_there_is_room(game: str, columns: int) -> None:
    """No name is cut beside empty space, and the board gets neither wider nor longer."""
    for part in (0.15, 0.3, 0.6):
        match = match_at(part, game, current()[game].seats[0])
        seating = seated(match, 0)
        called = replace(seating, names=(LONG, *seating.names[1:]))
        view, room = match.game.view(match.state, 0), Room(columns, 30)
        before, lines = (presentation(game).board(view, each, room) for each in (seating, called))
        assert len(before) == len(lines)
        assert breadth(lines) <= columns
        if columns > WIDTH or part < 0.2:
            assert LONG in plain(lines)


@pytest.mark.parametrize("game", current())
def test_nobody_is_on_turn_once_a_match_is_over(game: str) -> None:
    """A match can end in the middle of a turn, when all other seats have given up."""
    match = match_at(0.5, game, current()[game].seats[0])
    assert "\u25ba" in plain(draw_board(match, 0))
    match.take(Sealed(None, "log_lost", b""))
    assert "\u25ba" not in plain(draw_board(match, 0))
