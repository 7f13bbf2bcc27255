"""Properties of the presentation of every game, and the fallback for a game without one."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import rollbook_clients.terminal
import rollbook_replays
from rollbook.match.fold import MatchFold
from rollbook.rules.catalogue import current
from rollbook.rules.game import Watcher
from rollbook_replays import narration
from rollbook_replays.games import GROUP, presentation
from rollbook_replays.games.blocks import Room
from rollbook_replays.games.plain import PLAIN
from rollbook_replays.games.presentation import MenuEntry, Moment, Picking, Presentation
from rollbook_replays.renderers import LOOKS, colour_lines, look_of
from rollbook_replays.text import SPOT, Text, plain
from tests.replays.games.stage import after_each_event, choosing, match_at, menu_of, seated, simulation

SHARED = [
    *Path(rollbook_replays.__path__[0]).rglob("*.py"),
    *Path(rollbook_clients.terminal.__path__[0]).rglob("*.py"),
]
EXAMPLES = {"manifest.py", "simulate.py"}
"""Modules whose docstrings name a game as an example."""


def drawn_at(match: MatchFold, seat: int) -> list[Text]:
    """Return all texts of a moment: the board, the menu, and the line of a legal choice."""
    shown, seating = presentation(match.game.name), seated(match, seat)
    view = match.game.view(match.state, seat)
    told = shown.story(match.game.caretaker(match.state), Moment(seat, view), seating)
    return [*shown.board(view, seating, Room(80, 14)), *(line.text for line in told)]


def test_every_game_has_a_presentation() -> None:
    """Entry points provide them, as for games of other packages; none is the fallback."""
    assert set(current()) == {point.name for point in entry_points(group=GROUP)}
    assert all(isinstance(presentation(game), Presentation) for game in current())
    assert not any(presentation(game) is PLAIN for game in current())


@pytest.mark.parametrize("game", current())
def test_a_presentation_loads_nothing_that_draws_or_sends(game: str) -> None:
    """A presentation makes text and imports no terminal, network, store or messages."""
    point = next(iter(entry_points(group=GROUP, name=game)))
    done = subprocess.run(
        [sys.executable, "-c", f"import sys, {point.module}\nprint(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert "rollbook_replays" in loaded
    assert set() == loaded & {"rich", "textual", "grpc", "redis", "google", "rollbook_clients"}


@pytest.mark.parametrize("game", current())
def test_a_presentation_is_pure(game: str) -> None:
    """The same view gives the same text each time, and the state does not change."""
    seat, match = next(choosing(game))
    before = match.game.copy(match.state)
    assert drawn_at(match, seat) == drawn_at(match, seat)
    assert before == match.state


@pytest.mark.parametrize("game", current())
def test_every_style_has_a_look(game: str) -> None:
    """An unknown style is a typing error and would be drawn as plain text."""
    known = set(LOOKS) | set(presentation(game).palette)
    used = set()
    for number, (seat, match) in enumerate(choosing(game, current()[game].seats[-1])):
        if number % 5 == 0:
            used |= {word for line in drawn_at(match, seat) for _, style in line.spans for word in style.split()}
    assert set() == {word for word in used - known if not word.startswith(SPOT)}
    assert all(look_of(style, presentation(game).palette) for style in known)


@pytest.mark.parametrize("game", current())
def test_colours_change_nothing_but_colours(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Text in a file and on a terminal has the same characters in the same columns."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    match = match_at(0.5, game, current()[game].seats[-1])
    lines = narration.draw_board(match, 0)
    in_colour = colour_lines(lines, presentation(game).palette)
    assert "\x1b[" in in_colour
    without = [line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", in_colour).splitlines()]
    assert plain(lines).splitlines() == without


def test_a_game_without_a_presentation_is_shown_plainly() -> None:
    """The fallback shows a game without a presentation."""
    assert PLAIN is presentation("a game that nobody has made")


@pytest.mark.parametrize("game", current())
def test_the_plain_presentation_shows_any_game(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It shows the fields of views, names of moves and all choices, at every moment without an exception."""
    monkeypatch.setattr(narration, "presentation", lambda _: PLAIN)
    played = simulation(game)
    told = plain(narration.tell(played.header, played.events()))
    assert "\n1. " in told
    assert all(name in told for name in ("Anna: ", "Tom: ", " starts\n"))
    for sequence, _, match in after_each_event(game):
        if sequence % 25 == 0:
            board = plain(narration.draw_board(match, Watcher.PUBLIC))
            assert "places (" in board
    seat, match = next(choosing(game))
    legal = match.game.legal(match.state)
    entries = PLAIN.menu(match.game.view(match.state, seat), legal, seated(match, seat))
    assert isinstance(entries, tuple)
    assert all(entry.label and entry.choice in legal for entry in entries)


@pytest.mark.parametrize("path", SHARED, ids=lambda path: path.name)
def test_no_shared_module_names_a_game(path: Path) -> None:
    """A new game is drawn and played without a change to these modules."""
    if path.parent.name in current() or path.name in EXAMPLES:
        return
    text = path.read_text(encoding="utf-8").lower()
    names = {*current(), *(game.title.lower() for game in current().values())}
    assert set() == {name for name in names if name in text}


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("game", current())
def test_no_choice_begins_with_a_number(game: str, language: str) -> None:
    """Menus number their entries, so an entry that begins with a number would be ambiguous."""

    def labels(entries: Iterable[MenuEntry]) -> Iterator[str]:
        for entry in entries:
            yield entry.label
            yield from labels(entry.entries)

    for seat, match in choosing(game, current()[game].seats[-1]):
        offered = menu_of(match, seat, language)
        entries = offered.entries(set()) if isinstance(offered, Picking) else offered
        assert [] == [label for label in labels(entries) if label[:1].isdecimal()]
