"""Boards mark the choice under the cursor, the last move, a bust, and places to click."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import pytest

from rollbook.match.events import Chosen, Happened
from rollbook.match.fold import MatchFold
from rollbook.rules.cant_stop.moves import Advance, Rolled
from rollbook.rules.catalogue import current
from rollbook_replays.games import presentation
from rollbook_replays.games.blocks import Block, Room
from rollbook_replays.games.presentation import MenuEntry, Picking, Spotlight
from rollbook_replays.text import SPOT, plain
from tests.replays.games.stage import after_each_event, choosing, menu_of, seated

SCREENS = (Room(80, 14), Room(96, 28))


def drawn(match: MatchFold, seat: int, spotlight: Spotlight, room: Room = SCREENS[0]) -> Block:
    """Return the board from the seat's perspective."""
    view = match.game.view(match.state, seat)
    return presentation(match.game.name).board(view, seated(match, seat), room, spotlight)


def choices(entries: Sequence[MenuEntry]) -> Iterator[MenuEntry]:
    """Yield all choices of a menu, including submenus."""
    for entry in entries:
        if entry.choice is not None:
            yield entry
        yield from choices(entry.entries)


def spots(board: Block) -> set[str]:
    """Return the places of a board that can be clicked."""
    styles = (word for line in board for _, style in line.spans for word in style.split())
    return {word.removeprefix(SPOT) for word in styles if word.startswith(SPOT)}


@pytest.mark.parametrize("room", SCREENS)
@pytest.mark.parametrize("game", current())
def test_what_a_choice_would_do_is_seen_on_the_board_without_colours(game: str, room: Room) -> None:
    """Signs on the table show the choice under the cursor; every choice with a place changes the board."""
    seen = 0
    for seat, match in islice(choosing(game), 5, 40):
        menu = menu_of(match, seat)
        entries = menu.entries([menu.pieces[0].name]) if isinstance(menu, Picking) else menu
        bare = plain(drawn(match, seat, Spotlight(), room))
        for entry in choices(entries):
            if entry.spots or isinstance(menu, Picking):
                shown = plain(drawn(match, seat, Spotlight(considered=entry.choice), room))
                assert bare != shown, entry
                seen += 1
    assert seen


@pytest.mark.parametrize("game", current())
def test_every_spot_of_an_entry_is_a_place_on_the_board(game: str) -> None:
    """A click leads to the entries with the place's name."""
    led = 0
    for seat, match in islice(choosing(game), 5, 40):
        menu = menu_of(match, seat)
        there = spots(drawn(match, seat, Spotlight()))
        if isinstance(menu, Picking):
            assert {str(piece.name) for piece in menu.pieces} <= there
            led += 1
            continue
        for entry in choices(menu):
            # A special card, or a number turned up by chance, is in no drawn hand.
            assert not entry.spots or set(entry.spots) & there, entry
            led += bool(entry.spots)
    assert led


def test_a_bust_is_seen_on_the_board() -> None:
    """Until the next throw the runners are crossed out in their places, beside the throw that was a bust."""
    before: Any = None
    for _, event, match in after_each_event("cant_stop"):
        view: Any = match.game.view(match.state, 0) if match.started and match.sealed is None else None
        outcome = event.outcome if isinstance(event, Happened) else None
        is_over = before is not None and view is not None and view.seat != before.seat
        if is_over and isinstance(outcome, Rolled):
            text = plain(drawn(match, 0, Spotlight(moves=(outcome,), before=before)))
            assert sum(column.runner > 0 for column in before.columns) == text.count("✗")
            assert "BUST" in text
            assert "BUST" not in plain(drawn(match, 0, Spotlight()))
            if "✗" in text:
                return
        before = view
    raise AssertionError("nobody was bust")


def test_the_runners_that_moved_last_look_different() -> None:
    """The marks stay while the next throw is shown, after an advance."""
    for _, event, match in after_each_event("cant_stop"):
        if isinstance(event, Chosen) and isinstance(event.choice, Advance):
            text = plain(drawn(match, 0, Spotlight(moves=(event.choice,))))
            assert len(set(event.choice.columns)) == text.count("◉")
            return


def test_dice_that_belong_together_have_their_sum_below_them() -> None:
    """For columns 5 and 9 the board shows which two dice make each."""
    for seat, match in choosing("cant_stop"):
        for choice in match.game.legal(match.state):
            if isinstance(choice, Advance) and len(choice.columns) == 2:
                text = plain(drawn(match, seat, Spotlight(considered=choice)))
                for column in choice.columns:
                    assert text.count(f"={column}") == 2 * choice.columns.count(column)
                return


@pytest.mark.parametrize("game", current())
def test_a_choice_says_what_it_means(game: str) -> None:
    """Nearly every entry has a sentence for new players, in both languages."""
    said = {"en": 0, "de": 0}
    for language in said:
        for seat, match in islice(choosing(game), 60):
            menu = menu_of(match, seat, language)
            if isinstance(menu, Picking):
                picked = [piece.name for piece in menu.pieces]
                said[language] += any(entry.about for entry in menu.entries(picked))
            else:
                said[language] += sum(bool(entry.about) for entry in choices(menu))
    assert said["en"] == said["de"] > 20
