"""Messages of the service are decoded into values of the rules: views, choices and events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from rollbook.match.codec.messages import read_choice
from rollbook.match.codec.views import write_legal, write_options, write_view
from rollbook.rules.catalogue import current
from rollbook.rules.game import Perspective, Watcher
from rollbook.v1.events_pb2 import Event as EventMessage
from rollbook.v1.events_pb2 import Private
from rollbook.v1.games_pb2 import LegalChoices, View
from rollbook.v1.match_pb2 import MatchSummary
from rollbook_clients.sdk import Event
from rollbook_clients.terminal.film import Account, Film
from rollbook_clients.terminal.known_game import KnownGame, Story, known_game
from rollbook_clients.terminal.texts import words_in
from rollbook_replays.games.presentation import MenuEntry
from rollbook_replays.games.seats import Seating
from tests.clients.terminal.staging import simulated
from tests.replays.games.stage import choosing, menu_of

WORDS = words_in("en")


def known(game: str) -> KnownGame:
    """Return a game that this program has."""
    found = known_game(game)
    assert found is not None
    return found


def sent(film: Film, perspective: Perspective) -> Iterator[Event]:
    """Yield the events of a film as a feed sends them to this perspective, with its hidden parts."""
    for position, logged in enumerate(film._logged, 1):
        hidden = None
        if logged.private and position > 1 and film.event_at(position, perspective) == logged.event:
            hidden = Private.FromString(logged.private).hidden
        yield Event(EventMessage.FromString(logged.data), logged.data, logged.link, hidden)


@pytest.mark.parametrize("eyes", [Watcher.PUBLIC, 1, Watcher.JUDGE], ids=str)
@pytest.mark.parametrize("game", current())
def test_a_match_reads_the_same_while_it_is_played_and_in_its_replay(game: str, eyes: Perspective) -> None:
    """The lines of a live event, made from its message, equal those of the replay, made from the fold."""
    film = Film(simulated(game))
    seating = Seating(film.replay.names, None, film.options, WORDS.also(known(game).shown.texts))
    story = Story()
    live = [told for event in sent(film, eyes) for told in story.tell(event, seating)]
    assert Account(film, eyes).until(len(film), seating) == live


def test_what_cannot_be_read_is_not_told_and_ends_nothing() -> None:
    """Events of a newer service are left out of the log, and the board still follows."""
    film = Film(simulated("cant_stop"))
    seating = Seating(film.replay.names, None, film.options, WORDS.also(known("cant_stop").shown.texts))
    events = list(sent(film, Watcher.PUBLIC))
    story = Story()
    assert [] == story.tell(replace(events[0], data=b"\xff"), seating)
    assert [] == story.tell(events[1], seating)
    again = Story()
    assert again.tell(events[0], seating)
    assert [] == again.tell(events[20], seating)
    assert [] == again.tell(events[1], seating)


def test_a_game_or_a_version_that_is_not_here_is_not_known() -> None:
    """The screen shows the game as unknown and does not use other rules."""
    assert known_game("chess") is None
    assert known_game("cant_stop", 999) is None


def test_a_view_or_choices_of_another_form_are_not_shown() -> None:
    """A message without the game's part gives neither a board nor a menu."""
    game = known("cant_stop")
    summary = MatchSummary(seats=[MatchSummary.Seat(name="Anna"), MatchSummary.Seat()])
    summary.options.CopyFrom(write_options(game.rules, game.rules.settle({}, 2)))
    seating = game.seating(summary, 0, WORDS)
    assert game.view(View()) is None
    assert () == game.menu(None, LegalChoices(), seating)
    assert ("Anna", "") == seating.names
    assert 3 == seating.options["columns_to_win"]


@pytest.mark.parametrize("game", [name for name in current() if name != "wuerfelzoo"])
def test_a_menu_from_messages_is_that_of_the_rules_and_its_choices_go_back(game: str) -> None:
    """The service's legal choices become a menu, and the chosen entry becomes the same choice."""
    shown = known(game)
    seat, match = next(choosing(game))
    rules = match.game
    view = write_view(rules, rules.view(match.state, seat))
    legal = write_legal(rules, rules.legal(match.state))
    summary = MatchSummary(seats=[MatchSummary.Seat(name=name) for name in match.opened.names])
    summary.options.CopyFrom(write_options(rules, match.opened.options))
    seating = shown.seating(summary, seat, WORDS)
    entries = shown.menu(shown.view(view), legal, seating)
    assert menu_of(match, seat) == entries
    assert isinstance(entries, tuple)
    for entry in entries:
        _goes_back(shown, entry)


def _goes_back(shown: KnownGame, entry: MenuEntry) -> None:
    if entry.choice is not None:
        message = shown.choice(entry.choice)
        assert entry.choice == read_choice(shown.rules, message)
    for behind in entry.entries:
        _goes_back(shown, behind)
