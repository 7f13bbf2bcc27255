"""Replays: forwards and backwards, from every perspective that the file allows."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import pytest

from rollbook.match.fold import MatchFold
from rollbook.rules.catalogue import current, find
from rollbook.rules.game import Watcher
from rollbook.v1.events_pb2 import Event
from rollbook_clients.terminal.film import Account, Film, NotShown, StillHidden
from rollbook_clients.terminal.texts import words_in
from rollbook_replays.games import presentation
from rollbook_replays.games.seats import Seating
from tests.clients.terminal.staging import simulated


def view_of(match: MatchFold) -> object:
    """A judge's view of a match that was folded from the beginning."""
    return match.game.view(match.state, Watcher.JUDGE)


@pytest.mark.parametrize("game", current())
def test_a_position_looks_the_same_however_one_came_to_it(game: str) -> None:
    """The film keeps some states and folds from them; every path to a position shows the same view."""
    film = Film(simulated(game))
    match = MatchFold(find(game), film.opened)
    forwards = [view_of(match)]
    for logged in film._logged[1:]:
        match.take(logged.event)
        forwards.append(view_of(match))
    shuffled = list(range(1, len(film) + 1))
    random.Random(3).shuffle(shuffled)
    for position in shuffled:
        assert forwards[position - 1] == film.view(position, Watcher.JUDGE)


def test_turns_begin_where_another_seat_is_awaited() -> None:
    """A jump to a turn goes to the next event after which another seat is awaited."""
    film = Film(simulated("raffzahn", 4))
    seats = []
    for turn in film.turns:
        view = film.view(turn, Watcher.PUBLIC)
        seats.append(view.seat)
        assert 0 < view.throws
    assert all(before != after for before, after in pairwise(seats))
    assert [0, 1, 1, 2] == [film.turn_at(film.turns[at] + by) for at, by in ((0, -1), (0, 0), (1, -1), (1, 0))]


def test_a_file_that_holds_everything_shows_every_perspective_and_a_seat_only_its_hand() -> None:
    """A seat's perspective shows only what that seat saw, although the file has more."""
    film = Film(simulated("allie_gator", 3))
    assert (Watcher.JUDGE, Watcher.PUBLIC, 0, 1, 2) == tuple(film.perspectives)
    position = film.turns[4]
    hands = {eyes: film.view(position, eyes).players for eyes in film.perspectives}
    assert [True, True, True] == [bool(player.hand) for player in hands[Watcher.JUDGE]]
    assert [False, False, False] == [bool(player.hand) for player in hands[Watcher.PUBLIC]]
    assert [False, True, False] == [bool(player.hand) for player in hands[1]]


def test_a_file_of_one_pair_of_eyes_offers_these_and_the_public() -> None:
    """The file of a running match has one perspective; only this one and the public one are offered."""
    whole = simulated("cant_stop", 3)
    part = replace(whole, events=whole.events[:40])
    assert (1, Watcher.PUBLIC) == tuple(Film(replace(part, perspective=1)).perspectives)
    assert (Watcher.PUBLIC,) == tuple(Film(replace(part, perspective=Watcher.PUBLIC)).perspectives)
    assert 40 == len(Film(part))


def test_a_file_that_does_not_follow_the_rules_is_not_shown() -> None:
    """A replay that breaks a rule is refused with the sentence of the rules, not with a crash."""
    whole = simulated("cant_stop", 3)
    with pytest.raises(NotShown):
        Film(replace(whole, events=whole.events[:20] + whole.events[25:]))
    with pytest.raises(NotShown):
        Film(replace(whole, events=(whole.events[3],)))


def test_a_file_that_speaks_of_other_seats_or_events_is_not_shown() -> None:
    """Wrong seats or event numbers are refused before a screen is drawn."""
    whole = simulated("cant_stop", 3)
    event = Event.FromString(whole.events[40])
    event.sequence = 64
    renumbered = (*whole.events[:40], event.SerializeToString(deterministic=True), *whole.events[41:])
    for wrong, why in (
        (replace(whole, perspective=9), "made for seat 9 of 3"),
        (replace(whole, perspective=-1), "made for seat -1 of 3"),
        (replace(whole, names=("Anna",)), "names 1 players"),
        (replace(whole, events=renumbered), "event 41 calls itself event 64"),
    ):
        with pytest.raises(NotShown, match=why):
            Film(wrong)


def test_a_file_with_cards_that_stay_hidden_is_refused_by_name() -> None:
    """Without its hidden cards a running match of Allie Gator cannot be folded."""
    whole = simulated("allie_gator", 2)
    public = replace(whole, events=whole.events[:60], private={}, perspective=Watcher.PUBLIC)
    with pytest.raises(StillHidden, match="hidden"):
        Film(public)


def test_dice_that_nobody_brought_entropy_to_are_known_as_fixed() -> None:
    """Screens have to show that no seat brought entropy."""
    assert Film(simulated("cant_stop")).dice_fixed


@pytest.mark.parametrize("game", current())
def test_an_account_is_the_same_however_one_came_to_it(game: str) -> None:
    """Going back removes lines, and going forward brings the same lines again."""
    film = Film(simulated(game))
    seating = Seating(film.replay.names, None, film.options, words_in("en").also(presentation(game).texts))
    account = Account(film, Watcher.PUBLIC)
    whole = account.until(len(film), seating)
    for position in (1, 30, 12, len(film)):
        fresh = Account(film, Watcher.PUBLIC).until(position, seating)
        assert account.until(position, seating) == fresh == whole[: len(fresh)]
