"""The log in words: whose move is whose, and what a pair of eyes may read."""

from __future__ import annotations

from typing import Any

import pytest

from rollbook.rules.catalogue import current
from rollbook.rules.game import Perspective, Watcher
from rollbook_clients.terminal.film import Film
from rollbook_clients.terminal.seating import SIGNS
from rollbook_clients.terminal.telling.narrator import Narrator
from tests.clients.terminal.pictures import seating_of
from tests.clients.terminal.staging import simulated


def told(film: Film, perspective: Perspective = Watcher.JUDGE, language: str = "en") -> list[list[str]]:
    """The lines of every event."""
    narrator, seating = Narrator(), seating_of(film, perspective, language)
    return [
        [
            line.plain
            for line in narrator.tell(film.frames[position].event, film.hidden_from(position + 1, perspective), seating)
        ]
        for position in range(len(film))
    ]


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("game", current())
def test_a_whole_match_is_told(game: str, language: str) -> None:
    """Every event of every game has words in both languages, and the places come last."""
    film = Film(simulated(game))
    lines = [line for lines in told(film, language=language) for line in lines]
    assert len(lines) > len(film) // 2
    first = list(film.frames[-1].event.sealed.places.places).index(1)
    assert f"1. {SIGNS[first]} {film.replay.names[first]}" in lines


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("game", "seats", "options"),
    [
        ("cant_stop", 2, {}),
        ("cant_stop", 4, {"hasty": True}),
        ("raffzahn", 3, {}),
        ("raffzahn", 4, {"announce": True}),
        ("raffzahn", 3, {"announce": True, "edition": "original"}),
    ],
    ids=str,
)
def test_a_throw_is_told_of_the_seat_that_the_rules_say_threw(
    game: str, seats: int, options: dict[str, Any], seed: int
) -> None:
    """Throws do not say whose they are; the narrator works it out, through busts, own hits and extra turns."""
    film = Film(simulated(game, seats, options, seed))
    lines = told(film)
    thrown = 0
    for position, frame in enumerate(film.frames, 1):
        if not frame.event.HasField("happened") or position < seats * 2 + 4:
            continue
        before = getattr(film.view(position - 1, Watcher.PUBLIC), game)
        assert lines[position - 1][-1].startswith(SIGNS[before.seat]), (position, lines[position - 1])
        thrown += 1
    assert thrown > 30


def test_own_hits_and_losses_of_raffzahn_are_told_apart() -> None:
    """What a throw does by itself is told as what it is: the tile turned up, the tile gone, or everything lost."""
    keys = {"turned face up": 0, "own hit, ": 0, "costs all tiles": 0}
    for seed in range(8):
        film = Film(simulated("raffzahn", 5, seed=seed))
        lines = told(film)
        for position in range(2, len(film)):
            before, after = (film.view(at, Watcher.PUBLIC).raffzahn for at in (position - 1, position))
            for line in lines[position]:
                for key in keys:
                    keys[key] += key in line
            for line in lines[position]:
                if "costs all tiles" in line:
                    row = after.rows[SIGNS.index(line[0])]
                    assert [] == [*row.open_tiles, *row.safe_tiles], (seed, position)
            gone = set(after.out) - set(before.out)
            if gone and film.frames[position - 1].event.HasField("happened"):
                said = " ".join(lines[position])
                assert ("leaves the game" in said) or ("costs all tiles" in said), (position, said)
    assert all(keys.values()), keys


def test_the_log_tells_hidden_cards_to_those_who_saw_them_alone() -> None:
    """The words are made from the same outcomes as the view, and must not say more."""
    film = Film(simulated("allie_gator", 3))
    everything = told(film)
    for perspective in (0, 1, 2, Watcher.PUBLIC):
        for position, lines in enumerate(told(film, perspective)):
            drawn = film.frames[position].event.happened.outcome.allie_gator.draw
            if film.frames[position].event.happened.outcome.allie_gator.HasField("draw"):
                assert (lines == everything[position]) == (perspective == drawn.seat), lines
    assert any("draws 5 cards" in line for lines in told(film, Watcher.PUBLIC) for line in lines)
