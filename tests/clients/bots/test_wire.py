"""Views, legal choices and options over the wire: a bot cannot tell them from what the rules give."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from rollbook.rules.allie_gator import View
from rollbook.rules.catalogue import current, find
from rollbook.server.out.projection import legal_message, view_message
from rollbook.server.out.summary import write_options
from rollbook.v1 import match_pb2, table_pb2
from rollbook_clients.bots.wire import NotKnown, read_legal, read_options, read_view
from tests.match.test_decide import Played
from tests.rules.cases import CASES, Case


def as_known(view: Any) -> Any:
    """The view with empty hands open, which the wire cannot tell from hidden ones."""
    if not isinstance(view, View):
        return view
    players = (replace(player, hand=player.hand if player.hand_size else ()) for player in view.players)
    return replace(view, players=tuple(players))


@pytest.mark.parametrize("name", list(current()))
def test_views_and_legal_choices_read_back_as_the_rules_give_them(name: str) -> None:
    """From the start of a match to its end, through the bytes that travel."""
    rng = random.Random(3)
    game = find(name)
    played = Played(name, game.seats[0])
    played.start()
    choices = 0
    while (match := played.ledger.match).sealed is None and choices < 400:
        seat = played.ledger.awaited_seat
        assert seat is not None
        view = table_pb2.View.FromString(view_message(played.ledger, seat).SerializeToString())
        assert as_known(game.view(match.state, seat)) == read_view(game, view)
        message = legal_message(played.ledger, seat)
        assert message is not None
        legal = read_legal(game, table_pb2.LegalChoices.FromString(message.SerializeToString()))
        assert game.legal(match.state) == legal
        played.append(played.choose(legal.sample(rng.randrange)))
        choices += 1
    assert choices > 20


@pytest.mark.parametrize("case", CASES, ids=str)
def test_options_read_back_as_they_were_agreed(case: Case) -> None:
    """Also an edition, which is a word in the rules and a number in messages."""
    summary = match_pb2.MatchSummary()
    options = getattr(summary, case.game.name)
    write_options(options, case.options)
    assert case.options == read_options(case.game, options, case.seats)


def test_messages_of_another_game_are_refused() -> None:
    """A bot is never given what it cannot read."""
    game = find("cant_stop")
    with pytest.raises(NotKnown):
        read_view(game, table_pb2.View())
    with pytest.raises(NotKnown):
        read_legal(game, table_pb2.LegalChoices())
