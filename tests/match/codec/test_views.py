"""Views, legal choices and options survive encoding: bots see what the rules give."""

from __future__ import annotations

import random

import pytest

from rollbook.match.codec.moves import Unreadable
from rollbook.match.codec.views import read_legal, read_options, read_view, write_options
from rollbook.rules.catalogue import current, find
from rollbook.server.out.projection import legal_message, view_message
from rollbook.v1 import games_pb2
from tests.match.played import Played
from tests.rules.cases import CASES, Case


@pytest.mark.parametrize("name", list(current()))
def test_views_and_legal_choices_read_back_as_the_rules_give_them(name: str) -> None:
    """All states of a match are encoded and decoded."""
    rng = random.Random(3)
    game = find(name)
    played = Played(name, game.seats[0])
    played.start()
    choices = 0
    while (match := played.ledger.match).sealed is None and choices < 400:
        seat = played.ledger.awaited_seat
        assert seat is not None
        view = games_pb2.View.FromString(view_message(played.ledger, seat).SerializeToString())
        assert game.view(match.state, seat) == read_view(game, view)
        message = legal_message(played.ledger, seat)
        assert message is not None
        legal = read_legal(game, games_pb2.LegalChoices.FromString(message.SerializeToString()))
        assert game.legal(match.state) == legal
        played.append(played.choose(legal.sample(rng.randrange)))
        choices += 1
    assert choices > 20


@pytest.mark.parametrize("case", CASES, ids=str)
def test_options_read_back_as_they_were_agreed(case: Case) -> None:
    """An edition is a word in the rules and a number in messages."""
    written = write_options(case.game, case.options).SerializeToString()
    assert case.options == read_options(case.game, games_pb2.Options.FromString(written), case.seats)


def test_messages_of_another_game_are_refused() -> None:
    """A bot never receives a message that it cannot decode."""
    game = find("cant_stop")
    with pytest.raises(Unreadable):
        read_view(game, games_pb2.View())
    with pytest.raises(Unreadable):
        read_legal(game, games_pb2.LegalChoices())
