"""The boards and screens as they look, and that they stay inside the screen."""

from __future__ import annotations

import pytest

from rollbook.rules.catalogue import current
from rollbook_clients.terminal import boards
from rollbook_clients.terminal.blocks import Room, width
from rollbook_clients.terminal.film import Film
from tests.clients.terminal.pictures import PICTURES, SNAPSHOTS, seating_of
from tests.clients.terminal.staging import simulated


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_looks_as_it_did(name: str) -> None:
    """What a person sees changes only when somebody wants it to, and has looked at the change."""
    kept = (SNAPSHOTS / f"{name}.txt").read_text(encoding="utf-8")
    assert kept == f"{PICTURES[name]()}\n", "python -m tests.clients.terminal.pictures makes the snapshots anew"


def test_no_snapshot_is_of_nothing() -> None:
    """A snapshot that no test looks at is a promise that nobody keeps."""
    assert sorted(PICTURES) == sorted(path.stem for path in SNAPSHOTS.glob("*.txt"))


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("game", current())
def test_a_board_is_never_wider_than_its_room(game: str, language: str) -> None:
    """At 80 columns nothing is cut off at the side, at any moment, with the most seats and long words."""
    film = Film(simulated(game, current()[game].seats[-1]))
    seating = seating_of(film, 0, language)
    for position in range(1, len(film) + 1, 3):
        lines = boards.draw(film.view(position, 0), seating, Room(80, 14))
        assert width(lines) <= 80, position


def test_a_seat_with_most_of_the_tiles_has_them_in_several_lines() -> None:
    """Nothing says that tiles are shared out evenly; all of them stay to be seen."""
    film = Film(simulated("raffzahn", 3))
    view = film.view(film.turns[0], 0)
    view.raffzahn.rows[0].open_tiles.extend(range(1, 21))
    view.raffzahn.rows[0].safe_tiles.extend(range(21, 36))
    lines = boards.draw(view, seating_of(film, 0, "en"), Room(80, 14))
    assert width(lines) <= 80
    text = "\n".join(line.plain for line in lines)
    assert all(f"[{tile}]" in text for tile in range(21, 36))


@pytest.mark.parametrize("seats", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("game", current())
def test_a_board_mostly_fits_into_14_lines(game: str, seats: int) -> None:
    """On a screen of 80 by 24 a board is seen whole from its first event to its last in nearly all of its moments."""
    if seats not in current()[game].seats:
        return
    film = Film(simulated(game, seats))
    seating = seating_of(film, 0, "de")
    heights = [
        len(boards.draw(film.view(position, 0), seating, Room(80, 14))) for position in range(1, len(film) + 1, 5)
    ]
    assert sum(height > 14 for height in heights) <= len(heights) // 5, heights


@pytest.mark.parametrize("game", current())
def test_a_board_can_be_read_without_colours(game: str) -> None:
    """Every seat has a sign of its own on the board, so that colours only help."""
    film = Film(simulated(game))
    seating = seating_of(film, 0, "en")
    text = "\n".join(line.plain for line in boards.draw(film.view(len(film), 0), seating, Room(80, 14)))
    for seat in range(len(film.replay.names)):
        assert seating.mark(seat).plain in text
